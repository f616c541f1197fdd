"""SD109 dot-score-of-unequal-sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shapedoc.core.dim import Dim
from shapedoc.core.finding import Finding, Severity
from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Bool, Int, Layer
from shapedoc.rules.reading.blame import axis_of, clearest, layer_of, problems, twins
from shapedoc.rules.reading.flow import events_of, shape_at
from shapedoc.rules.reading.scores import is_dot_score, is_tainted, source_of
from shapedoc.rules.reading.sized import equal, made_before, only_if, quoted, shape_with
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_KIND = "mismatched-product"


def check(trace: Trace) -> Iterator[Finding]:
    for event, problem in problems(trace, _KIND):
        if not is_dot_score(trace, event, problem):
            continue
        severity = _severity(trace, event, problem)
        if severity is None:
            continue
        event, problem = clearest(trace, event, problem)
        operands = [event.operand(name) for name in problem.operands]
        axes = [axis_of(event, o, p) for o, p in zip(operands, problem.axes, strict=True)]
        if operands[0] is None or operands[1] is None or axes[0] is None or axes[1] is None:
            continue
        if not any(is_tainted(trace, o) for o in operands):
            yield _found(trace, event, problem, severity, (operands[0], operands[1]), (axes[0], axes[1]))


def _severity(trace: Trace, event: Event, problem: Problem) -> Severity | None:
    """A note where two constructor sizes meet; more where the constructor shows that they are two.

    A warning where one is twice another and no call shows them equal; an error where the class builds a map from one
    to the other and never applies it.
    """
    found = severity_of(problem.sameness)
    if found != "note":
        return found
    sizes = [axis_of(event, event.operand(n), p) for n, p in zip(problem.operands, problem.axes, strict=True)]
    doubled = any(axis is not None and any(c != 1 for _, c in axis.dim.terms) for axis in sizes)
    runs = any(not any(p.kind == _KIND and p.loud for p in e.problems) for e in twins(trace, event) if e.calls)
    if doubled and not runs:
        return "warning"
    fits = any(not any(p.kind == _KIND for p in e.problems) for e in twins(trace, event))
    return "error" if not fits and _idle_map(trace, event, sizes) is not None else "note"


def _idle_map(trace: Trace, event: Event, sizes: Sequence[Axis | None]) -> Layer | None:
    """The map between the two sizes of a product that its class builds and that nothing goes through."""
    builder = f"{event.function.rpartition('.')[0]}.__init__"
    used = {called.uid for e in events_of(trace, ("Linear.forward",)) if (called := layer_of(e)) is not None}
    for built in events_of(trace, ("Linear",)):
        layer = built.result
        if built.function != builder or not isinstance(layer, Layer) or layer.uid in used or layer.parameters:
            continue
        ends = [layer.config.get(name) for name in ("in_features", "out_features")]
        dims = [end.dim for end in ends if isinstance(end, Int)]
        if any(_joins(event, dims, order) for order in (sizes, sizes[::-1])):
            return layer
    return None


def _joins(event: Event, dims: Sequence[Dim], sizes: Sequence[Axis | None]) -> bool:
    pairs = zip(dims, sizes, strict=False)
    return len(dims) == 2 and all(size is not None and equal(event, dim, size) for dim, size in pairs)


def _found(
    trace: Trace,
    event: Event,
    problem: Problem,
    severity: Severity,
    operands: tuple[Operand, Operand],
    axes: tuple[Axis, Axis],
) -> Finding:
    state = _state(trace, event, operands)
    memory = 1 - state
    texts = [text_of(trace, o) for o in operands]
    shapes = [shape_text(event, o.shape) for o in operands]
    sizes = [quoted(event, a) for a in axes]
    shape = shape_at(event, operands[state])
    back = problem.axes[state] - len(shape.items) if shape is not None and problem.axes[state] >= 0 else -1
    plain = [s.split("`")[1] if "`" in s else s for s in sizes]
    source = source_of(trace, operands[memory])
    both = source is not None and _is_bidirectional(source)
    idle = _idle_map(trace, event, axes)
    directions = (
        label(source.span, "two directions beside each other: twice the hidden size") if both and source else ()
    )
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"a dot score needs one size of state and memory, got {sizes[state]} and {sizes[memory]}",
        tensor=texts[state],
        actual=shapes[state],
        expected=shape_with(event, shape, back, axes[memory]),
        labels=directions
        + (label(idle.span, "a map from one size to the other, never applied") if idle is not None else ())
        + label(operands[0].span, f"{texts[0]} is {shapes[0]}")
        + label(operands[1].span, f"{texts[1]} is {shapes[1]}")
        + made_before(trace, event, *operands)
        + call_labels(event),
        why="a dot product sums over the features of both: Luong's dot form needs d_s == d_h, his general form has a "
        "matrix between",
        notes=only_if(problem),
        help="the general form: map the state first, with "
        + (
            f"`self.{idle.name}`, which is built and never applied"
            if idle is not None
            else f"nn.Linear({plain[state]}, {plain[memory]}, bias=False)"
        ),
    )


def _state(trace: Trace, event: Event, operands: tuple[Operand, Operand]) -> int:
    """Which operand is the state: that of one step, where it can be said."""
    for side, operand in enumerate(operands):
        source = source_of(trace, operand)
        if source is not None and source.short.endswith("Cell.forward"):
            return side
    for side, operand in enumerate(operands):
        shape = shape_at(event, operand)
        if shape is not None and shape.axes and any(a.dim.const == 1 for a in shape.axes):
            return side
    source = source_of(trace, operands[0])
    return 1 if source is not None and _is_bidirectional(source) else 0


def _is_bidirectional(event: Event) -> bool:
    layer = layer_of(event)
    flag = layer.config.get("bidirectional") if layer is not None else None
    return isinstance(flag, Bool) and flag.value is True


RULE = Rule(
    code="SD109",
    name="dot-score-of-unequal-sizes",
    severity="error",
    summary="A dot score multiplies a state and a memory of different sizes.",
    what="Looks at products that lead to a softmax and sum over the features of a decoder's state and of the encoder's "
    "outputs as they are, with no learned map between. Where both sizes come from one constructor it is a note, unless "
    "a call gives unequal numbers, or the class builds a map from one size to the other and never applies it.",
    why="The dot form of a score has no parameters, so that state and memory must have one size. A bidirectional "
    "encoder has `2 * d_h` features, a decoder usually has not.",
    instead="Use the general form, `state @ W @ memory.T`, with W of shape (d_s, d_h), or give the decoder the size of "
    "the memory.",
    source="Luong et al. 2015, equation 8.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.encoder = nn.GRU(d_embed, d_hidden, batch_first=True, bidirectional=True)
        self.cell = nn.GRUCell(d_embed, d_hidden)

    def forward(self, source, token, state):
        memory, _ = self.encoder(source)
        state = self.cell(token, state)
        scores = torch.bmm(memory, state.unsqueeze(2)).squeeze(2)  # <- SD109
        weights = scores.softmax(dim=1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


result = Decoder(5, 7)(torch.randn(2, 3, 5), torch.randn(2, 5), torch.zeros(2, 7))
""",
            raises="RuntimeError",
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.encoder = nn.GRU(d_embed, d_hidden, batch_first=True, bidirectional=True)
        self.cell = nn.GRUCell(d_embed, d_hidden)
        self.W_a = nn.Linear(d_hidden, 2 * d_hidden, bias=False)

    def forward(self, source, token, state):
        memory, _ = self.encoder(source)
        state = self.cell(token, state)
        scores = torch.bmm(memory, self.W_a(state).unsqueeze(2)).squeeze(2)
        weights = scores.softmax(dim=1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


result = Decoder(5, 7)(torch.randn(2, 3, 5), torch.randn(2, 5), torch.zeros(2, 7))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: puts a map that is built and never used before the product: a "
        "matrix among the parameters, or a linear layer of the class. Where there is none, the general "
        "form has weights of its own to learn, and no fix is offered."
    ),
    kind="both",
)
