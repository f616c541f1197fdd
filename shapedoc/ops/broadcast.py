"""Broadcasting: how the axes of two operands line up, and what is wrong when named sizes meet by accident."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Tensor
from shapedoc.ops.context import OpContext

__all__ = ["broadcast", "broadcast_axes", "broadcast_shapes"]


def broadcast(at: OpContext, *tensors: Tensor) -> Shape:
    """The shape that elementwise arithmetic on these tensors gives.

    Reports "elementwise" where two sizes that are not 1 meet and differ, with how sure that is; anonymous sizes may
    be 1 and meet anything, named ones are in generic position.
    """
    shape = at.shape(tensors[0])
    first = tensors[0]
    for other in tensors[1:]:
        shape = broadcast_shapes(at, shape, at.shape(other), first, other)
        if len(at.shape(other).items) > len(at.shape(first).items):
            first = other
    return shape


def broadcast_shapes(at: OpContext, a: Shape, b: Shape, left: Tensor, right: Tensor) -> Shape:
    """The broadcast of two shapes, runs included."""
    if a.run is None and b.run is None:
        return Shape(tuple(broadcast_axes(at, a.axes, b.axes, left, right)))
    if a.run is None:
        a, b, left, right = b, a, right, left
    # a has a run; what stands before it is out of reach from the right.
    tail, other = a.suffix, b.suffix
    if b.run is None and len(tail) >= len(other):
        kept = len(a.items) - len(other)
        merged = broadcast_axes(at, tail[len(tail) - len(other) :], other, left, right)
        return Shape((*a.items[:kept], *merged))
    width = min(len(tail), len(other))
    merged = broadcast_axes(at, tail[len(tail) - width :], other[len(other) - width :], left, right)
    longer = tail if len(tail) > len(other) else other
    # An axis that meets the unknown part of the other operand keeps its size, unless it is 1.
    loose = tuple(at.fresh() if x.dim.const == 1 else x for x in longer[: len(longer) - width])
    return Shape((Run(), *loose, *merged))


def broadcast_axes(
    at: OpContext, a: Sequence[Axis], b: Sequence[Axis], left: Tensor, right: Tensor
) -> tuple[Axis, ...]:
    """The broadcast of two tuples of axes, aligned at the last."""
    rank = max(len(a), len(b))
    out: list[Axis] = []
    for i in range(-rank, 0):
        x = a[i] if -i <= len(a) else None
        y = b[i] if -i <= len(b) else None
        if x is None or y is None:
            axis = x or y
            assert axis is not None
            out.append(axis)
        else:
            out.append(_meet(at, x, y, (left, right), (len(a) + i, len(b) + i)))
    return tuple(out)


def _meet(at: OpContext, x: Axis, y: Axis, tensors: tuple[Tensor, Tensor], places: tuple[int, int]) -> Axis:
    if x.dim.const == 1 or y.dim.const == 1:
        if x.dim.const == y.dim.const:
            return x.merged(y)
        return y if x.dim.const == 1 else x
    if x.dim == y.dim:
        return x.merged(y)
    if _anonymous(x.dim) or _anonymous(y.dim):
        # It may be 1: the result has the other's size, and nothing is learnt.
        return y.merged(x) if _anonymous(x.dim) else x.merged(y)
    sameness = at.meet(x, y)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            "elementwise",
            tensors,
            axes=places,
            dims=(x.dim, y.dim),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
        )
    return x.merged(y)


def _anonymous(dim: Dim) -> bool:
    return any(not s.name and s.value is None for s in dim.syms)
