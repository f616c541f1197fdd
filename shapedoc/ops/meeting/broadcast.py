"""Broadcasting: how the axes of operands line up, and what is wrong when named sizes meet by accident."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.sameness import UNKNOWN
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind, Sameness, Strength
from shapedoc.core.value import Tensor
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.beside import features_beside
from shapedoc.ops.meeting.squares import learn_square

__all__ = ["broadcast", "broadcast_axes", "broadcast_into", "broadcast_shapes"]


def broadcast(at: OpContext, *tensors: Tensor, problem: str = "elementwise") -> Shape:
    """The shape that elementwise arithmetic on these tensors gives.

    Reports "elementwise" where two sizes that are not 1 meet and differ, with how sure that is; anonymous sizes may
    be 1 and meet anything, named ones are in generic position.
    """
    if not tensors:
        at.lost("no tensors")
    shape = at.shape(tensors[0])
    first = tensors[0]
    for other in tensors[1:]:
        shape = broadcast_shapes(at, shape, at.shape(other), first, other, problem=problem)
        if len(at.shape(other).items) > len(at.shape(first).items):
            first = other
    return shape


def broadcast_shapes(
    at: OpContext, a: Shape, b: Shape, left: Tensor, right: Tensor, *, problem: str = "elementwise"
) -> Shape:
    """The broadcast of two shapes, runs included."""
    if a.run is None and b.run is None:
        return Shape(tuple(broadcast_axes(at, a.axes, b.axes, left, right, problem=problem)))
    if a.items == b.items:
        return a
    if _same_run(a, b):
        # The run stands for the same axes in both.
        head = broadcast_axes(at, a.prefix, b.prefix, left, right, problem=problem)
        tail = broadcast_axes(at, a.suffix, b.suffix, left, right, problem=problem)
        return Shape((*head, a.items[len(head)], *tail))
    if a.run is None:
        a, b, left, right = b, a, right, left
    if _asks_for_more(a, b):
        # A leading 1 that was asked for is there to be stretched: the other operand has an axis at its place.
        run = a.items[a.run or 0]
        assert isinstance(run, Run)
        missing = tuple(at.fresh() for _ in range(len(b.items) - len(a.axes)))
        at.sizes.bind_run(run, (Run(run.name), *missing) if not a.prefix else (*missing, Run(run.name)))
        a = at.sizes.shape(a)
    if _starts_alike(a, b):
        # An axis that is the first of both lines up with itself only where both have as many axes.
        run = a.items[a.run or 0]
        assert isinstance(run, Run)
        at.sizes.bind_run(run, tuple(at.fresh() for _ in range(len(b.items) - len(a.axes))))
        return broadcast_shapes(at, at.sizes.shape(a), b, left, right, problem=problem)
    # a has a run; what stands before it is out of reach from the right.
    tail, other = a.suffix, b.suffix
    if b.run is None and len(tail) >= len(other):
        kept = len(a.items) - len(other)
        merged = broadcast_axes(at, tail[len(tail) - len(other) :], other, left, right, problem=problem)
        return Shape((*a.items[:kept], *merged))
    width = min(len(tail), len(other))
    merged = broadcast_axes(at, tail[len(tail) - width :], other[len(other) - width :], left, right, problem=problem)
    longer = tail if len(tail) > len(other) else other
    # An axis that meets the unknown part of the other operand keeps its size, unless it is 1.
    loose = tuple(
        _stretched(at) if x.dim.const == 1 or _may_be_one(x.dim) else x for x in longer[: len(longer) - width]
    )
    rest = Run()
    own = a.items[a.run] if a.run is not None else None
    if b.run is None and len(b.axes) <= len(a.axes) and isinstance(own, Run):
        # The result has as many axes as `a`, whichever of them its own run stands for.
        at.sizes.relate_ranks(rest, own, len(a.axes) - len(longer))
    return Shape((rest, *loose, *merged))


def _stretched(at: OpContext) -> Axis:
    """What a 1 becomes beside a tensor that may have no axis there: it may have stayed a 1."""
    axis = at.fresh()
    at.sizes.mark(axis, "loose", at.line)
    return axis


def _asks_for_more(a: Shape, b: Shape) -> bool:
    """Whether `b`, of known rank, begins with a 1 that was asked for, and `a` is not known to have as many axes."""
    return (
        b.run is None and bool(b.axes) and b.axes[0].visible and b.axes[0].dim.const == 1 and len(a.axes) < len(b.axes)
    )


def _starts_alike(a: Shape, b: Shape) -> bool:
    """Whether `a`, of unknown rank, begins with the axis that `b`, of known rank, begins with; it must have a name."""
    if b.run is not None or not a.prefix or not b.axes or len(b.axes) < len(a.axes):
        return False
    first = a.prefix[0].dim
    return (first.named and a.prefix[0].same(b.axes[0])) or (bool(first.syms) and first == b.axes[0].dim)


def _same_run(a: Shape, b: Shape) -> bool:
    """Whether both have as many axes around one run."""
    if a.run is None or b.run is None or a.items[a.run] is not b.items[b.run]:
        return False
    return a.run == b.run and len(a.items) == len(b.items)


def broadcast_axes(
    at: OpContext,
    a: Sequence[Axis],
    b: Sequence[Axis],
    left: Tensor,
    right: Tensor,
    *,
    problem: str = "elementwise",
) -> tuple[Axis, ...]:
    """The broadcast of two tuples of axes, aligned at the last."""
    rank = max(len(a), len(b))
    out: list[Axis] = []
    if _left_over(a, b) or _left_over(b, a):
        # (T, B, 1) with (T, B): every axis meets its neighbour, which says nothing of their sizes.
        return (*(at.fresh() for _ in range(rank - 1)), min(a, b, key=len)[-1])
    a, b = _paired(at, a, b), _paired(at, b, a)
    if left.learned != right.learned and rank > 2:
        learn_square(at, *((a, b) if left.learned else (b, a)))
    for i in range(-rank, 0):
        x = a[i] if -i <= len(a) else None
        y = b[i] if -i <= len(b) else None
        if x is None or y is None:
            axis = x or y
            assert axis is not None
            out.append(axis)
        else:
            if len(a) != len(b):
                _tell_apart(at, (x, b, y) if len(a) < len(b) else (y, a, x))
            out.append(_meet(at, x, y, (left, right), (len(a) + i, len(b) + i), problem))
    return tuple(out)


def _tell_apart(at: OpContext, pair: tuple[Axis, Sequence[Axis], Axis]) -> None:
    """An axis that the tensor of higher rank has, at another place than where it meets it, is not the one it meets."""
    low, high, met = pair
    if low.dim == met.dim or met.dim.sym is None or not low.dim.named or low.same(met):
        return
    if any(axis is not met and axis.same(low) for axis in high):
        at.sizes.apart(low.dim, met.dim)
    elif _is_batch(at, low) and at.sizes.role(met, "batch") is None and any(_is_batch(at, x) for x in high):
        # The batch of the one lies beside the steps of the other, which has its batch at another place.
        at.sizes.apart(low.dim, met.dim)


def _is_batch(at: OpContext, axis: Axis) -> bool:
    return at.sizes.role(axis, "batch") is not None and at.sizes.role(axis, "time") is None


def _paired(at: OpContext, column: Sequence[Axis], row: Sequence[Axis]) -> Sequence[Axis]:
    """The axes of `column`, its last one learnt to be 1 where `row` is laid out of the same elements.

    ``x - x.view(B, 1, -1)`` compares every element with every other: with (B, n, d) beside (B, 1, n*d) it runs only
    if the unknown d is 1.
    """
    if len(column) < 2 or len(row) < 2 or row[-2].dim.const != 1:
        return column
    count, last = column[-2].dim, column[-1].dim
    sym = last.sym
    if sym is None or count.value == 1 or not at.sizes.is_open(sym) or row[-1].dim != count * last:
        return column
    at.sizes.bind(sym, ONE)
    return (*column[:-1], column[-1].sized(ONE))


def _left_over(high: Sequence[Axis], low: Sequence[Axis]) -> bool:
    """Whether `high` has the axes of `low`, by identity, and a 1 behind them that was to be dropped."""
    if len(high) != len(low) + 1 or len(low) < 2 or high[-1].dim.const != 1:
        return False
    alike = [x.same(y) and not x.same(z) for x, y, z in zip(low, high, high[1:], strict=False)]
    return all(alike) and not low[0].same(low[-1])


def _meet(
    at: OpContext, x: Axis, y: Axis, tensors: tuple[Tensor, Tensor], places: tuple[int, int], problem: str
) -> Axis:
    if x.dim.value == 1 or y.dim.value == 1:
        if x.dim.value == y.dim.value:
            return x.merged(y)
        return y if x.dim.value == 1 else x
    if x.dim == y.dim:
        return x.merged(y)
    if _may_be_one(x.dim) and _may_be_one(y.dim):
        # Which of the two is stretched is not known.
        return Axis(at.fresh().dim, x.ids | y.ids)
    if _may_be_one(x.dim) or _may_be_one(y.dim):
        # The result has the other's size, and nothing is learnt.
        sameness = at.sizes.compare(x.dim, y.dim) if problem == "mismatched-batch" else UNKNOWN
        if sameness.kind is Kind.ONLY_IF and sameness.wrong:
            at.conflict(problem, tensors, axes=places, dims=(x.dim, y.dim), sameness=sameness, loud=False)
        return y.merged(x) if _may_be_one(x.dim) else x.merged(y)
    sameness = _beside(at, tensors[0], x, y) or _beside(at, tensors[1], y, x) or at.meet(x, y)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            problem, tensors, axes=places, dims=(x.dim, y.dim), sameness=sameness, loud=sameness.kind is Kind.NEVER
        )
    return x.merged(y)


def _beside(at: OpContext, tensor: Tensor, mine: Axis, other: Axis) -> Sameness | None:
    """That `mine`, an axis of the tensor, meets features that the tensor has at another place."""
    return features_beside(at, at.shape(tensor).items, mine, other.dim)


def broadcast_into(
    at: OpContext, place: Shape, value: Shape, target: Tensor, source: Tensor, *, problem: str = "elementwise"
) -> None:
    """Require `value` to broadcast to `place` without widening it, as the target of an assignment must."""
    ours, theirs = place.suffix, value.suffix
    if place.run is None and value.run is None and len(theirs) > len(ours):
        extra = theirs[: len(theirs) - len(ours)]
        if any(a.dim.value not in (None, 1) for a in extra):
            at.conflict(problem, [target, source], why="rank", wanted=str(len(ours)), got=str(len(theirs)))
            return
        named = next((a for a in extra if a.dim.named and a.dim.value is None), None)
        if named is not None:
            sameness = Sameness(Kind.ONLY_IF, Strength.STRONG, f"{at.sizes.show(named.dim)} == 1")
            wanted, got = str(len(ours)), str(len(theirs))
            at.conflict(problem, [target, source], why="rank", sameness=sameness, loud=False, wanted=wanted, got=got)
            return
    if place.run is None and _is_column(value, len(ours)):
        rank = str(len(value.axes))
        sameness = Sameness(Kind.ONLY_IF, Strength.STRONG, "its first axis is 1")
        at.conflict(
            problem, [target, source], why="rank", sameness=sameness, loud=False, wanted=str(len(ours)), got=rank
        )
        return
    width = min(len(ours), len(theirs))
    for i in range(-width, 0):
        x, y = ours[i], theirs[i]
        if y.dim.const == 1 or x.dim == y.dim or _may_be_one(y.dim):
            continue
        sameness = at.meet(x, y)
        if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
            places = (len(place.items) + i, len(value.items) + i)
            loud = sameness.kind is Kind.NEVER
            at.conflict(problem, [target, source], axes=places, dims=(x.dim, y.dim), sameness=sameness, loud=loud)


def _is_column(value: Shape, rank: int) -> bool:
    """Whether a value has a visible 1 behind its rows, (n, 1), and so an axis more than a place of this rank."""
    axes = value.axes
    if rank < 1 or len(axes) != rank + 1 or len(value.prefix) < 2:
        return False
    first, second = value.prefix[:2]
    return second.dim.const == 1 and second.visible and first.dim.const is None


def _may_be_one(dim: Dim) -> bool:
    """Whether a size is one that nobody named: such a size may be 1."""
    return any(not s.name and s.value is None for s in dim.syms)
