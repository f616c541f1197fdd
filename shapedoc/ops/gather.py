"""Elements gathered and scattered along an axis, chosen by a mask, or found."""

from __future__ import annotations

from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Int, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.measuring.axes import along, position, replaced
from shapedoc.ops.measuring.extents import surpasses
from shapedoc.ops.measuring.regroup import product
from shapedoc.ops.meeting.broadcast import broadcast, broadcast_shapes
from shapedoc.ops.pointwise import places
from shapedoc.ops.registry import named, op

__all__ = ["gather", "index_select"]


def _same_rank(at: OpContext, input: Tensor, index: Tensor) -> None:
    """Require as many axes of both; a number counts as one axis."""
    ours, theirs = at.shape(input).rank, at.shape(index).rank
    if ours is not None and theirs is None:
        at.need_rank(index, ours)
    elif theirs is not None and ours is None:
        at.need_rank(input, theirs)
    elif ours is not None and theirs is not None and max(ours, 1) != max(theirs, 1):
        at.fail("wrong-rank", [index], wanted=str(ours), got=str(theirs))


def _fits(at: OpContext, input: Tensor, index: Tensor, place: int | None) -> None:
    """Require the index to be no larger than the input off the axis at `place` (None: anywhere)."""
    if at.shape(input).rank is None or at.shape(index).rank is None:
        return
    ours, theirs = at.shape(input).axes, at.shape(index).axes
    if any(a.dim.const == 0 for a in theirs):
        return
    for i, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if i == place:
            continue
        if surpasses(b.dim, a.dim):
            at.conflict("elementwise", [input, index], axes=(i, i), dims=(a.dim, b.dim), why="index")


@op("torch.gather", "torch.Tensor.gather")
def gather(at: OpContext, input: Tensor, dim: Value, index: Tensor, *, sparse_grad: Value = NONE) -> Value:
    """Take elements along an axis, at places that a tensor of the result's shape gives.

    input (*, n, *), index (*, k, *) -> the shape of index
    Conflict: ranks differ; the axis does not exist; index is larger than input off the axis ("elementwise").
    Source: PyTorch documentation, torch.gather.
    """
    _same_rank(at, input, index)
    place = along(at, input, dim)
    if place is not None:
        _fits(at, input, index, place)
    shape = at.shape(index)
    if place is not None and shape.rank is not None and at.shape(input).rank == shape.rank:
        items = [
            b.merged(a) if i != place and a.dim == b.dim else b
            for i, (a, b) in enumerate(zip(at.shape(input).axes, shape.axes, strict=True))
        ]
        return at.tensor(items, input)
    return at.tensor(shape, input)


@op(*named("take_along_dim", "torch", "torch.Tensor"))
def take_along_dim(at: OpContext, input: Tensor, indices: Tensor, dim: int | None = None) -> Value:
    """Take elements along an axis; sizes off it are broadcast. Without an axis, of the flattened tensor.

    input (*, n, *), indices (*, k, *) -> (*, k, *)
    Conflict: ranks differ; the axis does not exist; sizes off the axis do not broadcast.
    Source: PyTorch documentation, torch.take_along_dim.
    """
    if dim is None:
        return at.tensor((at.axis(product(at.axes(indices))),), input)
    ours, theirs = at.axes(input), at.axes(indices)
    if len(ours) != len(theirs):
        at.fail("wrong-rank", [indices], wanted=str(len(ours)), got=str(len(theirs)))
    place = position(at, input, dim) or 0
    if not ours:
        return at.tensor((), input)
    along = theirs[place]
    left = Shape(tuple(replaced(ours, place, Axis.one()).items))
    right = Shape(tuple(replaced(theirs, place, Axis.one()).items))
    shape = broadcast_shapes(at, left, right, input, indices)
    return at.tensor(replaced(shape.items, place, along), input)


@op("numpy.take_along_axis")
def take_along_axis(at: OpContext, arr: Tensor, indices: Tensor, dim: int | None = -1) -> Value:
    """Take elements along an axis; sizes off it are broadcast.

    arr (*, n, *), indices (*, k, *) -> (*, k, *)
    Conflict: ranks differ; the axis does not exist; sizes off the axis do not broadcast.
    Source: NumPy reference, numpy.take_along_axis.
    """
    if dim is None:
        at.need_rank(indices, 1)
    return take_along_dim(at, arr, indices, dim)


@op("torch.index_select", "torch.Tensor.index_select")
def index_select(at: OpContext, input: Tensor, dim: int, index: Tensor) -> Value:
    """Take slices along an axis, at the places in a vector.

    input (*, n, *), index (k,) -> (*, k, *)
    Conflict: the axis does not exist; index has more than one axis.
    Source: PyTorch documentation, torch.index_select.
    """
    place = position(at, input, dim)
    rank = at.shape(index).rank
    if rank == 0:
        count = at.axis(1)
    else:
        (count,) = at.need_rank(index, 1)
    if place is None:
        return at.unknown(input, more=0)
    if at.shape(input).rank == 0:
        return at.tensor((), input)
    return at.tensor(replaced(at.shape(input).items, place, count), input)


@op("torch.take", "torch.Tensor.take")
def take(at: OpContext, input: Tensor, index: Value) -> Value:
    """Take elements of the flattened tensor.

    input (*), index (*k) -> (*k)
    Unknown: the index is a number, as in the `take` of a data set.
    Source: PyTorch documentation, torch.take.
    """
    if not isinstance(index, Tensor):
        at.lost("an index that is no tensor")
    return at.tensor(at.shape(index), input)


@op("numpy.take", "numpy.ndarray.take")
def numpy_take(at: OpContext, a: Tensor, indices: Value, dim: int | None = None, **settings: Value) -> Value:
    """Take slices along an axis; without one, elements of the flattened array.

    a (*, n, *), indices (*k) -> (*, *k, *)
    Conflict: the axis does not exist.
    Source: NumPy reference, numpy.take.
    """
    match indices:
        case Tensor():
            made = at.shape(indices).items
        case Int() if dim is None and at.shape(a).rank is None:
            at.lost("one element, or so many of a data set")
        case Int():
            made = ()
        case Seq(items=items, rest=None) if all(isinstance(v, Int) for v in items):
            made = (at.axis(len(items)),)
        case _:
            at.lost("the places are not known")
    if dim is None:
        return at.tensor(made, a)
    place = position(at, a, dim)
    if place is None:
        at.lost("rank unknown")
    if at.shape(a).run is not None and any(isinstance(i, Run) for i in made):
        at.lost("rank unknown")
    return at.tensor(replaced(at.shape(a).items, place, *made), a)


@op(*named("scatter scatter_add scatter_reduce", "torch", "torch.Tensor"))
def scatter(at: OpContext, input: Tensor, dim: Value, index: Tensor, src: Tensor | None = None, *options: Value,
            **settings: Value) -> Value:  # fmt: skip
    """Put elements along an axis, at places that a tensor gives.

    input (*, n, *), index (*, k, *), src at least index -> input
    Conflict: ranks differ; the axis does not exist; index is larger than input off the axis, or than src.
    Source: PyTorch documentation, torch.Tensor.scatter_.
    """
    _same_rank(at, input, index)
    place = along(at, input, dim)
    if src is not None and at.shape(src).items:
        _same_rank(at, index, src)
        _fits(at, src, index, None)
    if place is not None:
        _fits(at, input, index, place)
    return at.tensor(at.shape(input), input)


@op(*named("index_add index_copy index_fill index_reduce", "torch", "torch.Tensor"))
def index_add(at: OpContext, input: Tensor, dim: int, index: Tensor, source: Value = NONE, *options: Value,
              **settings: Value) -> Value:  # fmt: skip
    """Put slices along an axis, at the places in a vector.

    input (*, n, *), index (k,), source (*, k, *) -> input
    Conflict: the axis does not exist; index has more than one axis.
    Source: PyTorch documentation, torch.Tensor.index_add_.
    """
    position(at, input, dim)
    if at.shape(index).rank != 0:
        (count,) = at.need_rank(index, 1)
        _check_slices(at, input, dim, index, count, source)
    return at.tensor(at.shape(input), input)


def _check_slices(at: OpContext, input: Tensor, dim: int, index: Tensor, count: Axis, source: Value) -> None:
    if not isinstance(source, Tensor) or at.shape(source).rank in (None, 0) or at.shape(input).rank is None:
        return
    if at.shape(source).rank != at.shape(input).rank:
        at.fail("wrong-rank", [source], wanted=str(at.shape(input).rank), got=str(at.shape(source).rank))
    place = position(at, input, dim)
    for i, (a, b) in enumerate(zip(at.shape(input).axes, at.shape(source).axes, strict=True)):
        ours = count if i == place else a
        sameness = at.meet(ours, b)
        if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
            loud = sameness.kind is Kind.NEVER
            against = index if i == place else input
            dims = (ours.dim, b.dim)
            at.conflict("elementwise", [against, source], axes=(0 if i == place else i, i), dims=dims,
                        sameness=sameness, loud=loud)  # fmt: skip


@op("torch.masked_select", "torch.Tensor.masked_select", "torch.Tensor.masked_scatter", "torch.masked_scatter")
def masked_select(at: OpContext, input: Tensor, mask: Tensor, source: Tensor | None = None) -> Value:
    """The elements where a mask is true, in one axis; with a source, input with those replaced.

    input (*), mask (*) -> (k,), which data decide; with source -> the broadcast of input and mask
    Conflict: the mask does not broadcast.
    Source: PyTorch documentation, torch.masked_select, torch.Tensor.masked_scatter_.
    """
    shape = broadcast(at, input, mask)
    return at.tensor(shape if source is not None else Shape((at.fresh(),)), input)


@op("torch.nonzero", "torch.Tensor.nonzero")
def nonzero(at: OpContext, input: Tensor, *, as_tuple: bool = False) -> Value:
    """Where elements are not zero: one row for each, or one vector for each axis.

    input of rank r -> (k, r), or r times (k,); data decide k
    Source: PyTorch documentation, torch.nonzero.
    """
    if as_tuple:
        return places(at, input)
    rank, count = at.shape(input).rank, at.fresh()
    return at.tensor((count, at.fresh() if rank is None else at.axis(rank)), input, kind="int")


@op("numpy.nonzero", "numpy.ndarray.nonzero")
def numpy_nonzero(at: OpContext, a: Tensor) -> Value:
    """Where elements are not zero: one vector for each axis.

    a of rank r -> r times (k,); data decide k
    Source: NumPy reference, numpy.nonzero.
    """
    return nonzero(at, a, as_tuple=True)


@op("torch.argwhere", "torch.Tensor.argwhere", "numpy.argwhere")
def argwhere(at: OpContext, input: Tensor) -> Value:
    """Where elements are not zero: one row for each.

    input of rank r -> (k, r); data decide k
    Source: NumPy reference, numpy.argwhere.
    """
    return nonzero(at, input)
