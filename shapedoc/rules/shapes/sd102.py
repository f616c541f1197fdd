"""SD102 mismatched-elementwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.shape import Axis
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Int
from shapedoc.rules.reading.blame import clearest, faulty_call, layer_of, problems, setting_span, twins
from shapedoc.rules.reading.elementwise import Meeting, is_mask, meetings, owner, rule_of, shallowest
from shapedoc.rules.reading.flow import SHAPING, graph, result_shape
from shapedoc.rules.reading.scores import is_tainted, maker, source_of, weight_made
from shapedoc.rules.reading.sized import (
    equal,
    exchanged,
    made_before,
    only_if,
    quoted,
    same_size,
    shape_with,
    with_axis,
)
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.shapes.matrices import features_from, wanted_after
from shapedoc.rules.shapes.ranges import column
from shapedoc.rules.shapes.residuals import residuals
from shapedoc.rules.shapes.uncut import uncut

__all__ = ["RULE"]

_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pow": "**",
    "floordiv": "//",
    "and_": "&",
    "or_": "|",
    "eq": "==",
}
_GRAVITY: dict[Severity | None, int] = {None: -1, "note": 0, "warning": 1, "error": 2}
_STEPS = SHAPING | {
    "tanh",
    "relu",
    "gelu",
    "sigmoid",
    "Tanh.forward",
    "ReLU.forward",
    "dropout",
    "Dropout.forward",
    "add",
}
_STATES = frozenset(("GRU.forward", "LSTM.forward", "RNN.forward"))


@dataclass(frozen=True, slots=True)
class _Cure:
    """Where the finding stands, which operand is wrong, and what to write."""

    span: Span | None
    operand: Operand
    help: str
    expected: str = ""
    labels: tuple[Label, ...] = ()


def check(trace: Trace) -> Iterator[Finding]:
    told: set[tuple[str, str]] = set()
    for meeting in shallowest(trace, "SD102"):
        event = meeting.event
        severity = _severity(trace, meeting)
        if severity is None or _belongs_elsewhere(trace, event) or event.short in ("setitem", "getitem"):
            continue
        given = _given_mask(trace, meeting)
        if given.isidentifier() and (event.function, given) in told:
            continue  # a mask that fits nothing is said once
        told.add((event.function, given))
        if not is_tainted(trace, meeting.low) and not is_tainted(trace, meeting.high):
            yield _met(trace, meeting, severity)
    for event, problem in problems(trace, "elementwise"):
        ranges = bool(column(trace, event))
        severity = "error" if ranges else severity_of(problem.sameness)
        if severity is None or meetings(trace, event) or (rule_of(trace, event, problem) != "SD102" and not ranges):
            continue
        operand = event.operand(problem.operands[0]) if problem.operands else None
        if operand is not None and not is_tainted(trace, operand):
            yield from _other(trace, *clearest(trace, event, problem), severity)
    yield from residuals(trace, RULE.code, RULE.name)


def _given_mask(trace: Trace, meeting: Meeting) -> str:
    """The variable that a mask is which does not fit, where it is one."""
    masks = [o for o in (meeting.low, meeting.high) if is_mask(o)]
    return text_of(trace, masks[0]).partition(".")[0] if len(masks) == 1 else ""


def _severity(trace: Trace, meeting: Meeting) -> Severity | None:
    """The gravest that any walk over the operation says."""
    found = [severity_of(meeting.sameness)] if meeting.sameness is not None else []
    for other in twins(trace, meeting.event):
        found += [severity_of(m.sameness) for m in meetings(trace, other) if m.sameness is not None]
    return max(found, key=_GRAVITY.__getitem__, default=None)


def _belongs_elsewhere(trace: Trace, event: Event) -> bool:
    """Whether another walk shows what a more telling rule reports."""
    return any(owner(trace, m) != "SD102" for e in (event, *twins(trace, event)) for m in meetings(trace, e))


def _met(trace: Trace, m: Meeting, severity: Severity) -> Finding:
    event = m.event
    cure = _whole(trace, m) or _vector(trace, m) or _state(trace, m) or _layout(trace, m) or _map(trace, m)
    cure = cure or _matrix(trace, m) or _default(trace, m)
    texts = [text_of(trace, o) for o in (m.low, m.high)]
    shapes = [shape_text(event, o.shape) for o in (m.low, m.high)]
    sign = _SIGNS.get(event.short, event.short) if event.op.startswith("operator") else event.short
    when = m.sameness.when if m.sameness is not None else ""
    sizes = f"{quoted(event, m.axis)} meets {quoted(event, m.other)}"
    return finding(
        trace,
        event,
        cure.span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"`{sign}` cannot combine {shapes[0]} and {shapes[1]}: {sizes}",
        tensor=text_of(trace, cure.operand),
        actual=shape_text(event, cure.operand.shape),
        expected=cure.expected,
        labels=cure.labels
        + label(m.low.span, f"{texts[0]} is {shapes[0]}")
        + label(m.high.span, f"{texts[1]} is {shapes[1]}")
        + made_before(trace, event, m.low, m.high)
        + call_labels(event),
        why="axes meet from the right; two that meet are equal, or one of them is a 1 that was asked for",
        notes=(f"runs only if {when}",) if when else (),
        help=cure.help,
    )


def _sides(m: Meeting) -> tuple[tuple[Operand, Axis, Axis, Operand], ...]:
    return ((m.low, m.axis, m.other, m.high), (m.high, m.other, m.axis, m.low))


def _whole(trace: Trace, m: Meeting) -> _Cure | None:
    """A mask or a table made for the longest sequence, used uncut."""
    whole = uncut(trace, m)
    if whole is None:
        return None
    operand, cut = whole
    return _Cure(None, operand, f"cut {text_of(trace, operand)} to the length of the sequence: `{cut}`")


def _vector(trace: Trace, m: Meeting) -> _Cure | None:
    """A learned vector (a bias, a gain) that was made with another size."""
    for operand, axis, wanted, _ in _sides(m):
        made = weight_made(trace, operand)
        shape = m.low_shape if operand is m.low else m.high_shape
        if made is None or shape.rank is None or equal(m.event, axis, wanted):
            continue
        expected = shape_with(m.event, shape, m.back, wanted)
        return _Cure(made.span, operand, f"make it {expected}", expected)
    return None


def _state(trace: Trace, m: Meeting) -> _Cure | None:
    """The state of all layers beside the outputs of all steps."""
    for operand, _, _, other in _sides(m):
        made = source_of(trace, operand)
        shape = m.low_shape if operand is m.low else m.high_shape
        if made is None or made.short not in _STATES or shape.rank != 3 or m.back == -1:
            continue
        items = getattr(made.result, "items", ())
        if not items or operand.value is items[0]:
            continue
        beside = source_of(trace, other)
        if beside is not None and beside.short in _STATES and beside is made and m.back == -1:
            continue
        text = text_of(trace, operand)
        flag = getattr(getattr(layer_of(made), "config", {}).get("batch_first"), "value", None)
        step = f"{text}[-1]" + (".unsqueeze(1)" if flag else "")
        return _Cure(operand.span, operand, step, labels=label(made.span, "a state is (layers, batch, hidden)"))
    return None


def _layout(trace: Trace, m: Meeting) -> _Cure | None:
    """Two axes stand the other way round in one of the two."""
    if m.ranks_differ:
        return None
    low = same_size(m.event, m.low_shape, m.other, but=m.back)
    high = same_size(m.event, m.high_shape, m.axis, but=m.back)
    if low is None or high is None or low != high:
        return None
    text = exchanged(trace, m.event, m.low, min(low, m.back), max(low, m.back))
    return _Cure(m.low.span, m.low, text)


def _map(trace: Trace, m: Meeting) -> _Cure | None:
    """A learned map whose output size is not that of what it is combined with; what takes the sum says which."""
    if m.back != -1 or faulty_call(trace, m.event, ("elementwise",)) is not None:
        return None
    makers = {id(o): maker(trace, o) for o in (m.low, m.high)}
    wanted = _consumer(trace, m.event)
    for operand, axis, other, beside in _sides(m):
        made = makers[id(operand)]
        layer = layer_of(made) if made is not None else None
        if layer is None:
            continue
        decided = wanted is not None and equal(m.event, other, wanted) and not equal(m.event, axis, wanted)
        alone = makers[id(beside)] is None and wanted is None
        if decided or alone:
            right = quoted(m.event, other)
            return _Cure(
                setting_span(trace, layer, "out_features"),
                operand,
                f"build the map with {right} as its last size",
                shape_with(m.event, m.low_shape if operand is m.low else m.high_shape, -1, other),
                label(layer.span, f"{text_of(trace, operand)} comes out of this map"),
            )
    return None


def _matrix(trace: Trace, m: Meeting) -> _Cure | None:
    """As `_map`, for a matrix of numbers that the program made for the size that its product has."""
    wanted = wanted_after(trace, m.event) if m.back == -1 else None
    for operand, axis, other, _ in _sides(m):
        made = features_from(trace, operand, axis)
        if made is None or wanted is None or not equal(m.event, other, wanted) or equal(m.event, axis, wanted):
            continue
        shape = result_shape(made)
        place = next((i for i, own in enumerate(shape.axes) if own.same(axis)), None) if shape is not None else None
        if shape is None or place is None:
            continue
        expected = shape_with(m.event, shape, place - len(shape.axes), other)
        text = made.target
        return _Cure(
            made.span,
            operand,
            f"make {text} {expected}",
            shape_with(m.event, m.low_shape if operand is m.low else m.high_shape, -1, other),
            label(operand.span, f"{text_of(trace, operand)} has its last size from {text}"),
        )
    return None


def _consumer(trace: Trace, event: Event) -> Axis | None:
    """The size that the next learned map wants of what this makes."""
    for user in graph(trace).forward(event, lambda e: e.short in _STEPS):
        layer = layer_of(user)
        config = layer.config.get("in_features") if layer is not None else None
        if isinstance(config, Int) and event.sizes is not None:
            return Axis(event.sizes.resolve(config.dim))
    return None


def _default(trace: Trace, m: Meeting) -> _Cure:
    call = faulty_call(trace, m.event, ("elementwise",))
    text = text_of(trace, m.low)
    place = _lacking(m)
    if place is not None:
        return _Cure(call.span if call else m.low.span, m.low, with_axis(trace, m.low, place))
    if m.home is not None and m.ranks_differ:
        where = f"put {text}'s {quoted(m.event, m.axis)} where it belongs"
        return _Cure(call.span if call else m.low.span, m.low, where)
    right = f"give {text} {quoted(m.event, m.other)} where it has {quoted(m.event, m.axis)}"
    right = column(trace, m.event) or right
    return _Cure(call.span if call else None, m.low, right)


def _lacking(m: Meeting) -> int | None:
    """Where one more axis of size 1 makes the operand of lower rank fit."""
    low, high = m.low_shape.axes, m.high_shape.axes
    if len(high) != len(low) + 1:
        return None
    for place in range(len(low), 0, -1):
        rest = high[:place] + high[place + 1 :]
        if all(equal(m.event, a, b) or a.dim.const == 1 for a, b in zip(low, rest, strict=True)):
            return place
    return None


def _other(trace: Trace, event: Event, problem: Problem, severity: Severity) -> Iterator[Finding]:
    """An assignment, an expansion or a gather whose sizes do not fit."""
    pair = [event.operand(name) for name in problem.operands]
    source = pair[-1]
    if source is None:
        return
    text, actual = text_of(trace, source), shape_text(event, source.shape)
    sizes = [f"`{s}`" for s in problem.sizes]
    meets = f": {sizes[1]} meets {sizes[0]}" if len(sizes) == 2 and len(pair) == 2 else ""
    if len(pair) == 1 and len(sizes) == 2:
        meets = f": {sizes[0]} cannot become {sizes[1]}"
    name = {"setitem": f"into {trace.source(event.span) or 'a part'}", "getitem": "an index"}.get(
        event.short, f"`{event.short}`"
    )
    yield finding(
        trace,
        event,
        event.span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"{text} {actual} does not fit {name}{meets}",
        tensor=text,
        actual=actual,
        labels=label(source.span, f"{text} is {actual}") + made_before(trace, event, *pair) + call_labels(event),
        why="sizes that meet are equal, or one of them is a 1",
        notes=only_if(problem),
        help=column(trace, event)
        or f"give {text} the size that is needed"
        + (f", {sizes[0] if len(pair) == 2 else sizes[1]}" if len(sizes) == 2 else ""),
    )


RULE = Rule(
    code="SD102",
    name="mismatched-elementwise",
    severity="error",
    summary="Two named sizes meet in elementwise arithmetic, and neither is 1.",
    what="Looks at `+ - * /`, comparisons, `where`, `masked_fill` and assignments to slices. It stands on the operand, "
    "or on the learned map, vector or call that made it with the wrong size.",
    why="The projections of query and key of additive attention are summed: both must have d_attn features. A state "
    "of all layers is (layers, batch, hidden) and meets the time of (batch, time, hidden).",
    instead="Build both maps with one output size, take the state of one layer (`h[-1]`), or insert the axis along "
    "which it is to be repeated (`unsqueeze(1)`).",
    source="PyTorch documentation, Broadcasting semantics; Bahdanau et al. 2015, appendix A.1.2.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Additive(nn.Module):
    def __init__(self, d_s, d_h, d_attn):
        super().__init__()
        self.query = nn.Linear(d_s, d_attn)
        self.key = nn.Linear(d_h, d_h)  # <- SD102
        self.score = nn.Linear(d_attn, 1)

    def forward(self, state, memory):
        energy = torch.tanh(self.query(state).unsqueeze(1) + self.key(memory))
        return self.score(energy).squeeze(-1).softmax(dim=1)


result = Additive(5, 7, 4)(torch.randn(2, 5), torch.randn(2, 3, 7))
""",
            raises="RuntimeError",
        ),
        Example(
            """\
import torch


def gated(gate, memory):
    batch_size, T, d = memory.shape
    T, batch_size, d = gate.shape
    return memory * gate  # <- SD102


result = gated(torch.randn(3, 2, 5), torch.randn(2, 3, 5))
""",
            raises="RuntimeError",
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Additive(nn.Module):
    def __init__(self, d_s, d_h, d_attn):
        super().__init__()
        self.query = nn.Linear(d_s, d_attn)
        self.key = nn.Linear(d_h, d_attn)
        self.score = nn.Linear(d_attn, 1)

    def forward(self, state, memory):
        energy = torch.tanh(self.query(state).unsqueeze(1) + self.key(memory))
        return self.score(energy).squeeze(-1).softmax(dim=1)


result = Additive(5, 7, 4)(torch.randn(2, 5), torch.randn(2, 3, 7))
"""
        ),
        Example(
            """\
import torch


def gated(gate, memory):
    batch_size, T, d = memory.shape
    T, batch_size, d = gate.shape
    return memory * gate.transpose(0, 1)


result = gated(torch.randn(3, 2, 5), torch.randn(2, 3, 5))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: cuts a mask or table to the length of the sequence, puts in an "
        "axis of size 1, names a tensor that is never used, or turns the two sizes round where a matrix "
        "is built."
    ),
    kind="both",
)
