"""Elements gathered and scattered along an axis, chosen by a mask, or found."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Int, NoneValue, Seq, Tensor, Value
from shapedoc.ops.axes import position, replaced
from shapedoc.ops.broadcast import broadcast, broadcast_shapes
from shapedoc.ops.context import OpContext
from shapedoc.ops.extents import whole
from shapedoc.ops.pointwise import named
from shapedoc.ops.registry import op
from shapedoc.ops.regroup import product

__all__ = ["gather", "index_select", "topk"]


def _same_rank(at: OpContext, input: Tensor, index: Tensor) -> None:
    """Require as many axes of both; a number counts as one axis."""
    ours, theirs = at.shape(input).rank, at.shape(index).rank
    if ours is not None and theirs is None:
        at.need_rank(index, ours)
    elif theirs is not None and ours is None:
        at.need_rank(input, theirs)
    elif ours is not None and theirs is not None and max(ours, 1) != max(theirs, 1):
        at.fail("wrong-rank", [index], wanted=str(ours), got=str(theirs))


def _fits(at: OpContext, input: Tensor, index: Tensor, dim: int, *, along: bool = False) -> None:
    """Require the index to be no larger than the input off the axis (``along``: on it too)."""
    if at.shape(input).rank is None or at.shape(index).rank is None:
        return
    place = position(at, input, dim)
    ours, theirs = at.shape(input).axes, at.shape(index).axes
    if any(a.dim.const == 0 for a in theirs):
        return
    for i, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if i == place and not along:
            continue
        over = b.dim - a.dim
        if over.terms and all(c > 0 for _, c in over.terms):
            at.conflict("elementwise", [input, index], axes=(i, i), dims=(a.dim, b.dim), why="index")


@op("torch.gather", "torch.Tensor.gather")
def gather(at: OpContext, input: Tensor, dim: int, index: Tensor, *, sparse_grad: Value = NoneValue()) -> Value:
    """Take elements along an axis, at places that a tensor of the result's shape gives.

    input (*, n, *), index (*, k, *) -> the shape of index
    Conflict: ranks differ; the axis does not exist; index is larger than input off the axis ("elementwise").
    Source: PyTorch documentation, torch.gather.
    """
    _same_rank(at, input, index)
    place = position(at, input, dim)
    _fits(at, input, index, dim)
    shape = at.shape(index)
    if shape.rank is not None and at.shape(input).rank == shape.rank:
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
def take(at: OpContext, input: Tensor, index: Tensor) -> Value:
    """Take elements of the flattened tensor.

    input (*), index (*k) -> (*k)
    Source: PyTorch documentation, torch.take.
    """
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
def scatter(at: OpContext, input: Tensor, dim: int, index: Tensor, src: Tensor | None = None, *options: Value,
            **settings: Value) -> Value:  # fmt: skip
    """Put elements along an axis, at places that a tensor gives.

    input (*, n, *), index (*, k, *), src at least index -> input
    Conflict: ranks differ; the axis does not exist; index is larger than input off the axis, or than src.
    Source: PyTorch documentation, torch.Tensor.scatter_.
    """
    _same_rank(at, input, index)
    position(at, input, dim)
    if src is not None and at.shape(src).items:
        _same_rank(at, index, src)
        _fits(at, src, index, dim, along=True)
    _fits(at, input, index, dim)
    return at.tensor(at.shape(input), input)


@op(*named("index_add index_copy index_fill index_reduce", "torch", "torch.Tensor"))
def index_add(at: OpContext, input: Tensor, dim: int, index: Tensor, source: Value = NoneValue(), *options: Value,
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
    rank = at.shape(input).rank
    count = at.fresh()
    if as_tuple:
        if rank is None:
            return Seq((), rest=at.tensor((count,), input, kind="int"))
        return Seq(tuple(at.tensor((count,), input, kind="int") for _ in range(max(rank, 1))))
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


@op(*named("topk", "torch", "torch.Tensor"))
def topk(at: OpContext, input: Tensor, k: Dim, dim: int = -1, largest: Value = NoneValue(),
         sorted: Value = NoneValue()) -> Value:  # fmt: skip
    """The k largest elements along an axis, with their places.

    input (*, n, *) -> values and indices (*, k, *)
    Conflict: the axis does not exist; k is larger than it.
    Source: PyTorch documentation, torch.topk.
    """
    place = position(at, input, dim)
    if place is None:
        values = at.unknown(input, more=0)
        return Seq((values, at.tensor(values.shape, input, kind="int")), names=("values", "indices"))
    items = at.shape(input).items
    if place >= len(items):
        return _pair(at, input, Shape(()))
    axis = items[place]
    if isinstance(axis, Axis):
        over = k - axis.dim
        if over.terms and all(c > 0 for _, c in over.terms):
            at.conflict("index-out-of-range", [input], axes=(place,), dims=(k, axis.dim))
    kept = axis if isinstance(axis, Axis) and axis.dim == k else at.axis(k)
    return _pair(at, input, replaced(items, place, kept))


def _pair(at: OpContext, input: Tensor, shape: Shape) -> Seq:
    return Seq((at.tensor(shape, input), at.tensor(shape, input, kind="int")), names=("values", "indices"))


@op(*named("sort", "torch", "torch.Tensor"))
def sort(at: OpContext, input: Tensor, dim: int = -1, descending: Value = NoneValue(), *,
         stable: Value = NoneValue()) -> Value:  # fmt: skip
    """Sort along an axis, with the places the elements had.

    input (*) -> values and indices (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.sort.
    """
    position(at, input, dim)
    return _pair(at, input, at.shape(input))


@op("torch.msort", "torch.Tensor.msort")
def msort(at: OpContext, input: Tensor) -> Value:
    """Sort along the first axis.

    input (*) -> (*)
    Source: PyTorch documentation, torch.msort.
    """
    return at.tensor(at.shape(input), input)


@op(*named("argsort", "torch", "torch.Tensor", "numpy", "numpy.ndarray"))
def argsort(at: OpContext, input: Tensor, dim: int = -1, *options: Value, **settings: Value) -> Value:
    """The places of the elements in sorted order along an axis.

    input (*) -> (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.argsort.
    """
    position(at, input, dim)
    return at.tensor(at.shape(input), input, kind="int")


@op("numpy.sort")
def numpy_sort(at: OpContext, a: Tensor, dim: int | None = -1, *options: Value, **settings: Value) -> Value:
    """Sort along an axis; along none, the flattened array.

    a (*) -> (*)
    Conflict: the axis does not exist.
    Source: NumPy reference, numpy.sort.
    """
    if dim is None:
        return at.tensor((at.axis(product(at.axes(a))),), a)
    position(at, a, dim)
    return at.tensor(at.shape(a), a)


@op(*named("kthvalue", "torch", "torch.Tensor"))
def kthvalue(at: OpContext, input: Tensor, k: Value, dim: int = -1, keepdim: bool = False) -> Value:
    """The k-th smallest element along an axis, with its place.

    input (*, n, *) -> values and indices (*, *)
    Conflict: the axis does not exist; k is not within it.
    Source: PyTorch documentation, torch.kthvalue.
    """
    place = position(at, input, dim)
    if place is None:
        at.lost("rank unknown")
    items = at.shape(input).items
    if place >= len(items):
        return _pair(at, input, Shape(()))
    number, axis = whole(at, k), items[place]
    if isinstance(axis, Axis) and axis.dim.const is not None and number is not None and number.const is not None:
        if not 1 <= number.const <= axis.dim.const:
            at.conflict("index-out-of-range", [input], axes=(place,), dims=(number, axis.dim))
    return _pair(at, input, replaced(items, place, *([Axis.one()] if keepdim else [])))


@op("torch.unique", "torch.Tensor.unique")
def unique(at: OpContext, input: Tensor, sorted: Value = NoneValue(), return_inverse: bool = False,
           return_counts: bool = False, dim: int | None = None) -> Value:  # fmt: skip
    """The different elements, or slices along an axis.

    input (*) -> (k,), which data decide; the inverse (*), the counts (k,)
    Source: PyTorch documentation, torch.unique.
    """
    count = at.fresh()
    if dim is None:
        result = at.tensor((count,), input)
        inverse = at.tensor(at.shape(input), input, kind="int")
    else:
        place = position(at, input, dim)
        if place is None:
            at.lost("rank unknown")
        items = at.shape(input).items
        result = at.tensor(replaced(items, place, count), input)
        inverse = at.tensor(items[place : place + 1], input, kind="int")
    extra = [inverse] if return_inverse else []
    if return_counts:
        extra.append(at.tensor((count,), input, kind="int"))
    return Seq((result, *extra)) if extra else result


@op(*named("bincount", "torch", "torch.Tensor", "numpy"))
def bincount(at: OpContext, input: Tensor, weights: Value = NoneValue(), minlength: Value = NoneValue()) -> Value:
    """How often each number occurs.

    input (n,) -> (k,), which data decide
    Conflict: the rank is not 1.
    Source: PyTorch documentation, torch.bincount.
    """
    at.need_rank(input, 1)
    return at.tensor((at.fresh(),), input, kind="int" if isinstance(weights, NoneValue) else "float")


@op(*named("searchsorted", "torch", "numpy"))
def searchsorted(
    at: OpContext, sorted_sequence: Tensor, input: Tensor, *options: Value, **settings: Value
) -> Value:
    """Where values belong in a sorted sequence.

    sorted_sequence (n,) or (*, n), input (*) -> (*)
    Source: PyTorch documentation, torch.searchsorted.
    """
    return at.tensor(at.shape(input), input, kind="int")


@op("torch.bucketize", "numpy.digitize")
def bucketize(at: OpContext, input: Tensor, boundaries: Tensor, **settings: Value) -> Value:
    """Which of the intervals between boundaries each value lies in.

    input (*), boundaries (n,) -> (*)
    Conflict: the boundaries are no vector.
    Source: PyTorch documentation, torch.bucketize.
    """
    at.need_rank(boundaries, 1)
    return at.tensor(at.shape(input), input, kind="int")
