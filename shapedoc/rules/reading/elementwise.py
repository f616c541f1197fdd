"""Two tensors meet element by element and an axis of one lies beside an axis of the other that it does not belong to.

Each such meeting belongs to one rule: a reduction that lost its axis (SD204), a mask (SD205), positions (SD207),
angles of a rotation (SD801), an operand of lower rank that runs all the same (SD201), and everything else (SD102).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind, Sameness, Strength
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Bool, Tensor
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, graph, shape_at
from shapedoc.rules.reading.positions import is_positions
from shapedoc.rules.reading.rotary import rotation_of
from shapedoc.rules.reading.walks import twins

__all__ = [
    "ARITHMETIC",
    "ELEMENTWISE",
    "REDUCTIONS",
    "Meeting",
    "is_layered",
    "is_mask",
    "keeps_axis",
    "meetings",
    "owner",
    "reduction_of",
    "rule_of",
    "shallowest",
]

ARITHMETIC = names("add sub mul div pow maximum minimum floordiv mod rsub addcmul addcdiv lerp atan2 hypot")
_TRUTH = names("and_ or_ xor logical_and logical_or logical_xor eq ne lt le gt ge less greater less_equal equal")
ELEMENTWISE = ARITHMETIC | _TRUTH | names("greater_equal not_equal where masked_fill bitwise_and bitwise_or expand_as")
REDUCTIONS = names("sum mean max min amax amin norm std var logsumexp prod nansum nanmean median any all vector_norm")
_SELECTS = names("getitem setitem")
_AFTER = SHAPING | names(
    "sqrt add clamp clamp_min clip maximum abs exp log rsqrt reciprocal square pow neg mul div sub"
)


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """Two axes that meet and are not the same.

    low, high: the operands, the one of lower rank (or the second) first. back: where they meet, from the right.
    axis, other: the axis of `low` and the one of `high`. home: where the axis of `low` belongs in `high`, from the
    right, where one can say. sameness: how sure it is that the sizes differ; None where identity says it.
    """

    event: Event
    low: Operand
    high: Operand
    low_shape: Shape
    high_shape: Shape
    back: int
    axis: Axis
    other: Axis
    home: int | None
    sameness: Sameness | None

    @property
    def code(self) -> str:
        """The rule that this meeting belongs to, reductions and positions left out."""
        return "SD201" if self.ranks_differ and not self.raises else "SD102"

    @property
    def named(self) -> bool:
        """Whether both sizes have names."""
        return self.axis.dim.named and self.other.dim.named

    @property
    def ranks_differ(self) -> bool:
        return len(self.low_shape.items) != len(self.high_shape.items)

    @property
    def raises(self) -> bool:
        """Whether the operation fails for every size."""
        return self.sameness is not None and self.sameness.kind is Kind.NEVER


def rule_of(trace: Trace, event: Event, problem: Problem) -> str:
    """The one rule that an "elementwise" problem belongs to."""
    for meeting in meetings(trace, event):
        position = dict(zip(problem.operands, problem.axes, strict=False)).get(meeting.low.name)
        if position is not None and position - len(meeting.low_shape.items) == meeting.back:
            return owner(trace, meeting)
    if event.short == "getitem":
        return "SD102"  # indices line up among themselves, whatever their ranks
    operands = [event.operand(name) for name in problem.operands]
    if any(o is not None and is_mask(o) for o in operands) and _is_masked(event):
        return "SD102"
    ranks = [len(o.shape.items) if o is not None and o.shape is not None else 0 for o in operands]
    return "SD201" if len(set(ranks)) > 1 and not problem.loud else "SD102"


def owner(trace: Trace, meeting: Meeting) -> str:
    """The one rule that a meeting belongs to."""
    if rotation_of(trace, meeting.event) is not None:
        return "SD801"
    if meeting.ranks_differ and reduction_of(trace, meeting) is not None:
        return "SD204"
    if is_mask(meeting.low) or is_mask(meeting.high):
        if meeting.home is not None and _is_masked(meeting.event):
            return "SD205"
        return "SD102" if meeting.raises or not meeting.ranks_differ else "SD205"
    if meeting.home is not None and not meeting.raises and is_positions(trace, meeting.low):
        return "SD207"
    if is_layered(meeting.event, meeting.axis, meeting.other):
        return "SD102" if _raises_somewhere(trace, meeting.event) else "SD201"
    return meeting.code


def _raises_somewhere(trace: Trace, event: Event) -> bool:
    """Whether a walk with numbers has an operation raise."""
    problems = (p for e in (event, *twins(trace, event)) for p in e.problems)
    return any(p.sameness is not None and p.sameness.kind is Kind.NEVER for p in problems)


def shallowest(trace: Trace, code: str) -> Iterator[Meeting]:
    """The meetings that belong to a rule, one for each operation: of its walks, the one nearest to its own function."""
    yield from _shallowest(trace).get(code, {}).values()


@lru_cache(maxsize=2)
def _shallowest(trace: Trace) -> dict[str, dict[tuple[str, Span], Meeting]]:
    """For each rule, the meetings that belong to it."""
    best: dict[str, dict[tuple[str, Span], Meeting]] = {}
    for event in trace.events:
        if not event.problems and event.short not in ELEMENTWISE:
            continue
        for meeting in meetings(trace, event):
            own = best.setdefault(owner(trace, meeting), {})
            key = (event.op, event.span)
            if key not in own or _depth(meeting) < _depth(own[key]):
                own[key] = meeting
    return best


def _depth(meeting: Meeting) -> tuple[int, bool]:
    return len(meeting.event.calls), not meeting.named


def is_mask(operand: Operand) -> bool:
    """Whether an operand holds truth values."""
    return operand.name in ("mask", "condition") or (isinstance(operand.value, Tensor) and operand.value.kind == "bool")


def _is_masked(event: Event) -> bool:
    return event.short in ("masked_fill", "where", "mul", "add", "and_", "or_", "logical_and", "logical_or")


@lru_cache(maxsize=4096)
def meetings(trace: Trace, event: Event) -> tuple[Meeting, ...]:
    """Every pair of axes that do not belong together in an elementwise operation, the surest first."""
    if event.doubtful or (event.withheld and not event.problems):
        return ()  # what meets has its axes of what is stated alone
    if event.short not in ELEMENTWISE and not any(p.kind == "elementwise" for p in event.problems):
        return ()
    if event.short in _SELECTS:
        return ()  # an index meets other indices, or an axis, and not what it is an index of
    operands = [o for o in tensor_operands(event) if o.name not in ("value", "out")]
    found: list[Meeting] = []
    for i, one in enumerate(operands):
        for two in operands[i + 1 :]:
            found.extend(_between(trace, event, one, two))
    return tuple(found)


def _between(trace: Trace, event: Event, one: Operand, two: Operand) -> Iterator[Meeting]:
    a, b = shape_at(event, one), shape_at(event, two)
    if a is None or b is None or event.sizes is None or (a.rank is None and b.rank is None):
        return
    if a.rank is None or b.rank is None:
        # Of the operand of unknown rank, what stands at its end.
        if a.rank is None:
            one, two, a, b = two, one, b, a
        if len(b.suffix) < len(a.axes):
            yield from _of_batch(event, two, one, Shape(b.suffix), a)
            return
        b = Shape((Run(), *b.suffix))
    elif a.rank > b.rank:
        one, two, a, b = two, one, b, a
    elif a.rank == b.rank:
        if all(_is_one(x) or _is_one(y) or x.same(y) for x, y in zip(a.axes, b.axes, strict=True)):
            return
        if two.name == "mask" or is_positions(trace, two):
            one, two, a, b = two, one, b, a
    for back in range(-len(a.axes), 0):
        x, y = a.axes[back], b.axes[back]
        if _is_one(x) or _is_one(y) or x.same(y) or _is_said(event, x) or _is_said(event, y):
            continue
        sameness = event.sizes.compare(x.dim, y.dim)
        if is_layered(event, x, y) and sameness.kind is not Kind.ALWAYS and not sameness.wrong:
            sameness = Sameness(Kind.ONLY_IF, Strength.STRONG, sameness.when)
        home = _home(event, a, b, back)
        if sameness.kind is Kind.ALWAYS:
            if home is None or len(a.axes) >= len(b.axes) or not _is_batch_beside(event, x, y, b.axes[home]):
                continue
            if not _is_learnt_here(event, x.dim):
                continue
            sameness = Sameness(Kind.ONLY_IF, Strength.STRONG)
        if sameness.wrong:
            if home is None:
                home = _namesake(event, a, b, back)
            yield Meeting(event, one, two, a, b, back, x, y, home, sameness)
        elif home is not None and len(a.axes) < len(b.axes) and event.sizes.role(y, "loose") is None:
            yield Meeting(event, one, two, a, b, back, x, y, home, None)


def _of_batch(event: Event, one: Operand, two: Operand, low: Shape, high: Shape) -> Iterator[Meeting]:
    """The batch of a tensor of which only the last axes are known, where it lies beside the steps of another.

    The other has its batch in front: whatever stands before the known axes, these two do not belong together.
    """
    sizes = event.sizes
    for back in range(-len(low.axes), 0):
        x, y = low.axes[back], high.axes[back]
        if sizes is None or _is_one(x) or _is_one(y) or x.same(y):
            continue
        home = _home(event, low, high, back)
        if home is None or not _is_batch_beside(event, x, y, high.axes[home]):
            continue
        sameness = sizes.compare(x.dim, y.dim)
        if sameness.wrong or (sameness.kind is Kind.ALWAYS and _is_learnt_here(event, x.dim)):
            yield Meeting(event, one, two, low, high, back, x, y, home, Sameness(Kind.ONLY_IF, Strength.STRONG))
        elif sameness.kind is not Kind.ALWAYS and sizes.role(y, "loose") is None:
            yield Meeting(event, one, two, low, high, back, x, y, home, None)


def _is_batch_beside(event: Event, axis: Axis, other: Axis, home: Axis) -> bool:
    """Whether `axis` is a batch, `home` is one too, and `other` is none."""
    sizes = event.sizes
    if sizes is None or sizes.role(other, "batch") is not None:
        return False
    return all(sizes.role(a, "batch") is not None and sizes.role(a, "feature") is None for a in (axis, home))


def _is_learnt_here(event: Event, dim: Dim) -> bool:
    """Whether nothing but the operation itself says that an unknown size is this one."""
    sizes = event.sizes
    return sizes is not None and any(sizes.resolve(Dim.of(sym)) == dim for sym in event.learnt)


def _is_one(axis: Axis) -> bool:
    """Whether the size of an axis is 1, be it by what numbers come to."""
    return axis.dim.value == 1


def _is_said(event: Event, axis: Axis) -> bool:
    """Whether nothing but a comment says what the size of an axis is."""
    return event.sizes is not None and event.sizes.role(axis, "stated") is not None


def is_layered(event: Event, one: Axis, other: Axis) -> bool:
    """Whether the layers of a state lie beside the steps of a sequence: two quantities, whatever they are called."""
    sizes = event.sizes
    if sizes is None:
        return False
    pairs = ((one, other), (other, one))
    return any(sizes.role(a, "layers") is not None and sizes.role(b, "time") is not None for a, b in pairs)


def _home(event: Event, low: Shape, high: Shape, back: int) -> int | None:
    """Where the axis of `low` at `back` belongs in `high`, by identity, by role or by its symbol."""
    axis, sizes = low.axes[back], event.sizes
    places = [i - len(high.axes) for i in range(len(high.axes))]
    free = [p for p in places if p != back and not _is_met(low, high, p)]
    for place in free:
        if high.axes[place].same(axis):
            return place
    for place in free:
        other = high.axes[place]
        if other.dim == axis.dim and axis.dim.const is None and other.dim != ONE:
            return place
    if sizes is None or sizes.role(axis, "batch") is None or sizes.role(axis, "time") is not None:
        return None
    if sizes.role(high.axes[back], "batch") is not None:
        return None
    for place in free:
        if sizes.role(high.axes[place], "batch") is not None and sizes.role(high.axes[place], "time") is None:
            return place
    return None


def _namesake(event: Event, low: Shape, high: Shape, back: int) -> int | None:
    """Where in `high` the author gives the name of the axis of `low` at `back`."""
    sizes = event.sizes
    sym = sizes.resolve(low.axes[back].dim).sym if sizes is not None else None
    beside = sizes.resolve(high.axes[back].dim).sym if sizes is not None else None
    if sizes is None or sym is None or not sym.name or (beside is not None and beside.name == sym.name):
        return None
    for place in range(-len(high.axes), 0):
        other = sizes.resolve(high.axes[place].dim).sym
        if place != back and other is not None and other.name == sym.name and not _is_met(low, high, place):
            return place
    return None


def _is_met(low: Shape, high: Shape, place: int) -> bool:
    """Whether an axis of `high` already meets its own in `low`."""
    if -place > len(low.axes):
        return False
    mine, theirs = low.axes[place], high.axes[place]
    return mine.dim != ONE and (mine.same(theirs) or mine.dim == theirs.dim)


def reduction_of(trace: Trace, meeting: Meeting) -> Event | None:
    """The reduction without `keepdim` that made the operand of lower rank of what it is combined with again."""
    g = graph(trace)
    made = g.producer(meeting.low.value)
    if made is None:
        return None
    for event in g.back(made, lambda e: e.short in _AFTER):
        if event.short in REDUCTIONS and not keeps_axis(event) and _is_part(g, event, meeting):
            return event
    return None


def keeps_axis(event: Event) -> bool:
    """Whether a reduction keeps its axis, or may."""
    keepdim = event.value("keepdim") or event.value("keepdims")
    return keepdim is not None and not (isinstance(keepdim, Bool) and keepdim.value is False)


def _is_part(g: Graph, event: Event, meeting: Meeting) -> bool:
    """Whether a reduction reduced what has the axes of `high`."""
    operands = tensor_operands(event)
    shape = shape_at(event, operands[0]) if operands else None
    if shape is None or shape.rank != len(meeting.high_shape.axes):
        return False
    return all(_alike(a, b) for a, b in zip(shape.axes, meeting.high_shape.axes, strict=True))


def _alike(a: Axis, b: Axis) -> bool:
    return a.same(b) or (a.dim == b.dim and a.dim != ONE)
