"""SD104 mismatched-join."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Int
from shapedoc.rules.reading.blame import axis_of, clearest, faulty_call, operand_of, problems
from shapedoc.rules.reading.flow import graph, shape_at
from shapedoc.rules.reading.scores import is_tainted
from shapedoc.rules.reading.sized import (
    atom,
    equal,
    exchanged,
    is_named,
    made_before,
    only_if,
    quoted,
    same_size,
    with_axis,
)
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.shapes.joins.appended import appended_queries
from shapedoc.rules.shapes.joins.joined import Join, doubled, join_of, misjoined
from shapedoc.rules.shapes.joins.misjoins import Misjoin, misjoins

__all__ = ["RULE"]

_KIND = "mismatched-join"


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two tensors of a join that do not fit; the first is the one that is held to be wrong."""

    trace: Trace
    event: Event
    problem: Problem
    operand: Operand
    other: Operand
    shape: Shape
    theirs: Shape

    def text(self, operand: Operand) -> str:
        return atom(text_of(self.trace, operand))

    def swapped(self) -> _Pair:
        return _Pair(self.trace, self.event, self.problem, self.other, self.operand, self.theirs, self.shape)


@dataclass(frozen=True, slots=True)
class _Cure:
    """Which pair, the wrong one first; where the finding stands; what to write."""

    pair: _Pair
    span: Span | None
    help: str
    expected: str = ""
    labels: tuple[Label, ...] = ()


def check(trace: Trace) -> Iterator[Finding]:
    for event, problem in problems(trace, _KIND, "mismatched-module-input", "mismatched-product"):
        severity = severity_of(problem.sameness)
        if severity is None:
            continue
        event, problem = clearest(trace, event, problem)
        if problem.kind != _KIND:
            product = problem.kind == "mismatched-product"
            wrong = (doubled if product else misjoined)(trace, event, problem)
            if wrong is not None:
                yield _along(trace, event, problem, *wrong)
            continue
        pair = _pair(trace, event, problem)
        if pair is not None and not is_tainted(trace, pair.operand) and not is_tainted(trace, pair.other):
            yield _found(pair, "warning" if severity == "note" and _fits_elsewhere(pair) else severity)
    for spoken in misjoins(trace):
        yield _against(trace, spoken)
    for event, query, memory in appended_queries(trace):
        yield _appended(trace, event, query, memory)


def _against(trace: Trace, found: Misjoin) -> Finding:
    """A join that fits, and that other code speaks against."""
    event = found.event
    return finding(
        trace,
        event,
        found.span,
        code=RULE.code,
        name=RULE.name,
        severity=found.severity,
        message=found.message,
        tensor=event.target or text_of(trace, event.operand("tensors")),
        actual=shape_text(event, event.shape),
        labels=label(event.span, f"joined along axis {found.axis}") + found.labels + call_labels(event),
        why=found.why,
        help=found.help,
    )


def _appended(trace: Trace, event: Event, query: Operand, memory: Operand) -> Finding:
    asked, text = text_of(trace, query), text_of(trace, memory)
    actual = shape_text(event, query.shape)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{asked} {actual} is joined to {text} as one more time step: nothing asks the others",
        tensor=asked,
        actual=actual,
        labels=label(memory.span, f"{text} is {shape_text(event, memory.shape)}") + call_labels(event),
        why="a score is worked out from a query and a key side by side; behind the last key the query is scored alone",
        help=f"stretch {asked} along the time steps, and join the last axes",
    )


def _pair(trace: Trace, event: Event, problem: Problem) -> _Pair | None:
    operands = [operand_of(trace, event, name) for name in problem.operands]
    if len(operands) != 2 or operands[0] is None or operands[1] is None:
        return None
    shapes = [shape_at(event, operand) for operand in operands]
    if shapes[0] is None or shapes[1] is None:
        return None
    if problem.detail.get("why") == "size":
        operands, shapes = operands[::-1], shapes[::-1]
    one, other = operands
    if one is None or other is None or shapes[0] is None or shapes[1] is None:
        return None
    return _Pair(trace, event, problem, one, other, shapes[0], shapes[1])


def _found(pair: _Pair, severity: Severity) -> Finding:
    cure = (
        _rank(pair)
        if pair.problem.detail.get("why") == "rank"
        else _layout(pair) or _one(pair) or _axis(pair) or _size(pair)
    )
    call = faulty_call(pair.trace, pair.event, (_KIND,)) if cure.span is None else None
    p = cure.pair
    span = call.span if call is not None else cure.span or p.operand.span
    texts = [text_of(p.trace, o) for o in (p.operand, p.other)]
    shapes = [shape_text(p.event, o.shape) for o in (p.operand, p.other)]
    return finding(
        p.trace,
        p.event,
        span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=_title(pair),
        tensor=texts[0],
        actual=shapes[0],
        expected=cure.expected,
        labels=cure.labels
        + label(p.operand.span, f"{texts[0]} is {shapes[0]}")
        + (label(p.other.span, f"{texts[1]} is {shapes[1]}") if p.other.span != p.operand.span else ())
        + made_before(p.trace, p.event, p.operand, p.other)
        + call_labels(p.event),
        why="tensors that are joined have the same axes, and the same sizes but for the joined one"
        if p.event.short != "stack"
        else "tensors that are stacked have the same shape",
        notes=only_if(p.problem),
        help=cure.help,
    )


def _fits_elsewhere(pair: _Pair) -> bool:
    """Whether all other axes are certainly equal, the joined one too: the tensors fit along the one that differs."""
    join = join_of(pair.event)
    if join is None or pair.problem.detail.get("why") != "size" or len(join.shapes) != 2:
        return False
    joined = [shape.axes[join.back] for shape in join.shapes]
    back = pair.problem.axes[0] - len(join.shapes[0].items)
    if not all(is_named(pair.event, a) for a in joined) or back == join.back or join.along(back) is None:
        return False
    return all(_is_plain(pair.event, shape.axes[back]) for shape in join.shapes)


def _is_plain(event: Event, axis: Axis) -> bool:
    """Whether a size is one that the author named, not worked out of others."""
    sym = event.sizes.resolve(axis.dim).sym if event.sizes is not None else None
    return sym is not None and "//" not in sym.name


def _title(pair: _Pair) -> str:
    name = pair.event.short
    if pair.problem.detail.get("why") == "rank":
        counts = f"{pair.problem.detail.get('got', '?')} and {pair.problem.detail.get('wanted', '?')}"
        return f"`{name}` needs equal numbers of axes, got {counts}"
    a, b = _axes(pair)
    sizes = f"{quoted(pair.event, b)} and {quoted(pair.event, a)}"
    return f"`{name}` needs equal sizes at axis {pair.problem.axes[0]}, got {sizes}"


def _axes(pair: _Pair) -> tuple[Axis | None, Axis | None]:
    place = pair.problem.axes[0]
    return axis_of(pair.event, pair.operand, place), axis_of(pair.event, pair.other, place)


# -- ranks


def _rank(pair: _Pair) -> _Cure:
    """One lacks an axis, or the other kept one of size 1: what takes the result says which."""
    low = pair if len(pair.shape.items) < len(pair.theirs.items) else pair.swapped()
    high = low.swapped()
    ones = [i for i, axis in enumerate(high.shape.prefix) if axis.dim.const == 1]
    users = {e.short for e in graph(pair.trace).users[pair.event.index]}
    if len(ones) == 1 and any(short.endswith("Cell.forward") for short in users):
        return _Cure(high, None, f"{high.text(high.operand)}.squeeze({ones[0]})")
    place = _missing_place(low)
    if place is None:
        return _Cure(low, None, f"add the missing axis to {low.text(low.operand)}")
    text = with_axis(low.trace, low.operand, place)
    if high.shape.axes[place].dim.const == 1 or text.startswith("np."):
        return _Cure(low, None, text)
    sizes = ["-1"] * len(high.shape.axes)
    sizes[place] = f"{high.text(high.operand)}.size({place})"
    return _Cure(low, None, f"{text}.expand({', '.join(sizes)})")


def _missing_place(low: _Pair) -> int | None:
    """Where one new axis, which is not the joined one, makes the others agree."""
    ours, theirs = low.shape.axes, low.theirs.axes
    if low.shape.run is not None or low.theirs.run is not None:
        return None
    if len(theirs) != len(ours) + 1:
        return None
    dim = low.event.value("dim")
    number = dim.value if isinstance(dim, Int) else None
    joined = number % len(theirs) if number is not None and low.event.short != "stack" else None
    best: tuple[int, int] = (0, 1 if len(theirs) == 3 and joined != 1 else -1)
    for place in range(len(theirs) - 1, -1, -1):
        if place == joined:
            continue
        rest = [axis for k, axis in enumerate(theirs) if k != place]
        kept = [k for k in range(len(theirs)) if k != place]
        pairs = [(a, b) for a, b, k in zip(ours, rest, kept, strict=True) if k != joined]
        best = max(best, (sum(equal(low.event, a, b) for a, b in pairs), place), key=lambda found: found[0])
    return best[1] if best[1] >= 0 else None


# -- sizes


def _axis(pair: _Pair) -> _Cure | None:
    """Joined along one axis where along another all would fit."""
    join = join_of(pair.event)
    if join is None:
        return None
    differ = pair.problem.axes[0]
    back = differ - len(join.shapes[0].items) if differ >= 0 else differ
    if join.along(back) is None:
        return None
    return _Cure(pair, join.span, f"join along the axis that differs: dim={back}", labels=_dim_label(join))


def _dim_label(join: Join) -> tuple[Label, ...]:
    rank = len(join.shapes[0].items)
    return (Label(join.event.span, f"joined along axis {join.back + rank}"),) if join.span != join.event.span else ()


def _one(pair: _Pair) -> _Cure | None:
    """One stands for all: its axis of size 1 was not expanded."""
    ours, theirs = _axes(pair)
    place = pair.problem.axes[0]
    for p, axis, wanted in ((pair, ours, theirs), (pair.swapped(), theirs, ours)):
        if axis is not None and wanted is not None and axis.dim.const == 1:
            sizes = ["-1"] * len(p.shape.items)
            sizes[place] = f"{p.text(p.other)}.size({place})"
            return _Cure(p, None, f"{p.text(p.operand)}.expand({', '.join(sizes)})")
    return None


def _size(pair: _Pair) -> _Cure:
    place = pair.problem.axes[0]
    wanted = quoted(pair.event, _axes(pair)[1])
    return _Cure(pair, None, f"bring {text_of(pair.trace, pair.operand)} to {wanted} at axis {place}")


def _layout(pair: _Pair) -> _Cure | None:
    """Two axes stand the other way round in one of the two: the one that was made last is held to be wrong."""
    ours, theirs = _axes(pair)
    place, rank = pair.problem.axes[0], pair.shape.rank
    if ours is None or theirs is None or rank is None:
        return None
    one = same_size(pair.event, pair.shape, theirs, but=place - rank)
    other = same_size(pair.event, pair.theirs, ours, but=place - rank)
    if one is None or one != other:
        return None
    made = [graph(pair.trace).producer(o.value) for o in (pair.operand, pair.other)]
    late = made[1] is not None and (made[0] is None or made[1].index > made[0].index)
    wrong = pair.swapped() if late else pair
    first, second = sorted((one + rank, place))
    return _Cure(wrong, None, exchanged(pair.trace, pair.event, wrong.operand, first, second))


# -- the axis


def _along(trace: Trace, event: Event, problem: Problem, join: Join, back: int) -> Finding:
    """A join along the time or the batch where the features were meant: the next module says so."""
    operand = event.operand(problem.operands[0])
    text = join.event.target or text_of(trace, operand)
    rank = len(join.shapes[0].items)
    shape = shape_text(join.event, join.event.shape)
    return finding(
        trace,
        join.event,
        join.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"`{join.event.short}` joins along axis {join.back + rank} where axis {back + rank} is needed",
        tensor=text,
        actual=shape,
        labels=label(operand.span if operand is not None else None, f"{text} is {shape} here")
        + label(join.event.span, f"{text} is {shape}")
        + call_labels(join.event),
        why="a query and a memory are joined feature by feature; behind each other they give twice as many scores"
        if problem.kind == "mismatched-product"
        else f"joined along axis {back + rank}, it has the size that the next module was built with",
        help=f"dim={back}",
    )


RULE = Rule(
    code="SD104",
    name="mismatched-join",
    severity="error",
    summary="Tensors that are joined have other ranks, or other sizes off the joined axis.",
    what="Looks at `cat`, `stack` and their NumPy kin: ranks that differ, sizes that differ off the joined axis, and a "
    "join along one axis where the next module needs another, along which a part was repeated to the other's length, "
    "or along which the steps of a recurrence do not follow each other; keys and values that grow along different "
    "axes. It stands on the tensor that lacks an axis, on the axis where another would fit, or on the call of a "
    "function that is sound by itself.",
    why="A context of one step is (batch, d), the tokens are (batch, T, d): to stand beside each other both need "
    "the same axes. Joined along the time, two states become a longer sequence where a wider one was meant.",
    instead="Add the axis and expand it (`context.unsqueeze(1).expand(-1, T, -1)`), or join along the features "
    "(`dim=-1`).",
    source="PyTorch documentation, torch.cat, torch.stack.",
    bad=(
        Example(
            """\
import torch


def join(context, embedded):
    batch_size, d_h = context.shape
    batch_size, T, d_embed = embedded.shape
    return torch.cat((embedded, context), dim=2)  # <- SD104


result = join(torch.randn(2, 7), torch.randn(2, 5, 11))
""",
            raises="RuntimeError",
        ),
        Example(
            """\
import torch


def join(context, embedded):
    batch_size, T, d_h = context.shape
    batch_size, T, d_embed = embedded.shape
    return torch.cat((embedded, context), dim=1)  # <- SD104


result = join(torch.randn(2, 5, 7), torch.randn(2, 5, 11))
""",
            raises="RuntimeError",
        ),
    ),
    good=(
        Example(
            """\
import torch


def join(context, embedded):
    batch_size, d_h = context.shape
    batch_size, T, d_embed = embedded.shape
    return torch.cat((embedded, context.unsqueeze(1).expand(-1, T, -1)), dim=2)


result = join(torch.randn(2, 7), torch.randn(2, 5, 11))
"""
        ),
        Example(
            """\
import torch


def join(context, embedded):
    batch_size, T, d_h = context.shape
    batch_size, T, d_embed = embedded.shape
    return torch.cat((embedded, context), dim=2)


result = join(torch.randn(2, 5, 7), torch.randn(2, 5, 11))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: joins along another axis, or gives a part the axis that it lacks.",
    kind="both",
)
