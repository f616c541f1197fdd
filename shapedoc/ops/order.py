"""Elements in order: the largest, sorted, counted, and where others belong."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.value import Kind, NoneValue, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import LAST, NONE
from shapedoc.ops.measuring.axes import along, position, replaced
from shapedoc.ops.measuring.extents import surpasses, whole
from shapedoc.ops.measuring.regroup import product
from shapedoc.ops.registry import named, op

__all__ = ["sort", "topk"]


@op(*named("topk", "torch", "torch.Tensor"))
def topk(at: OpContext, input: Tensor, k: Value, dim: Value = LAST, largest: Value = NONE,
         sorted: Value = NONE) -> Value:  # fmt: skip
    """The k largest elements along an axis, with their places.

    input (*, n, *) -> values and indices (*, k, *)
    Conflict: the axis does not exist; k is larger than it.
    Source: PyTorch documentation, torch.topk.
    """
    place, count = along(at, input, dim), whole(at, k)
    if place is None:
        values = at.unknown(input, more=0)
        return Seq((values, at.tensor(values.shape, input, kind="int")), names=("values", "indices"))
    items = at.shape(input).items
    if place >= len(items):
        return _pair(at, input, Shape(()))
    axis = items[place]
    if count is None or not isinstance(axis, Axis):
        return _pair(at, input, replaced(items, place, at.fresh()))
    if surpasses(count, axis.dim):
        at.conflict("index-out-of-range", [input], axes=(place,), dims=(count, axis.dim))
    return _pair(at, input, replaced(items, place, axis if axis.dim == count else at.axis(count)))


def _pair(at: OpContext, input: Tensor, shape: Shape) -> Seq:
    return Seq((at.tensor(shape, input), at.tensor(shape, input, kind="int")), names=("values", "indices"))


def _must_have(at: OpContext, input: Tensor, dim: Value) -> None:
    """The axis has to exist; the last one of a tensor that begins with a known axis may be that very axis."""
    shape, number = at.shape(input), whole(at, dim)
    if shape.run is not None and shape.prefix and number is not None and (number.value or 0) < 0:
        return
    along(at, input, dim)


@op(*named("sort", "torch", "torch.Tensor"))
def sort(at: OpContext, input: Tensor, dim: Value = LAST, descending: Value = NONE, *,
         stable: Value = NONE) -> Value:  # fmt: skip
    """Sort along an axis, with the places the elements had.

    input (*) -> values and indices (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.sort.
    """
    _must_have(at, input, dim)
    return _pair(at, input, at.shape(input))


@op("torch.msort", "torch.Tensor.msort")
def msort(at: OpContext, input: Tensor) -> Value:
    """Sort along the first axis.

    input (*) -> (*)
    Source: PyTorch documentation, torch.msort.
    """
    return at.tensor(at.shape(input), input)


@op("numpy.partition")
def partition(at: OpContext, a: Tensor, kth: Value, axis: Value = LAST, *options: Value, **settings: Value) -> Value:
    """What is below an element in front of it, and the rest behind.

    a (*, n, *) -> the same
    Conflict: the axis does not exist.
    Source: NumPy reference, numpy.partition.
    """
    return _parted(at, a, axis, a.kind)


@op("numpy.argpartition", "numpy.ndarray.argpartition")
def argpartition(at: OpContext, a: Tensor, kth: Value, axis: Value = LAST, *options: Value, **settings: Value) -> Value:
    """Where the elements stand of which some are below another one, and the rest.

    a (*, n, *) -> the same, of whole numbers
    Conflict: the axis does not exist.
    Source: NumPy reference, numpy.argpartition.
    """
    return _parted(at, a, axis, "int")


def _parted(at: OpContext, a: Tensor, axis: Value, kind: Kind) -> Tensor:
    if isinstance(axis, NoneValue):
        at.lost("all elements in one row")
    at.suffix(a, 1)
    along(at, a, axis)
    return at.tensor(at.shape(a), a, kind=kind)


@op(*named("argsort", "torch", "torch.Tensor", "numpy", "numpy.ndarray"))
def argsort(at: OpContext, input: Tensor, dim: Value = LAST, *options: Value, **settings: Value) -> Value:
    """The places of the elements in sorted order along an axis.

    input (*) -> (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.argsort.
    """
    _must_have(at, input, dim)
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
    size = axis.dim.value if isinstance(axis, Axis) else None
    if size is not None and number is not None and number.value is not None and not 1 <= number.value <= size:
        at.conflict("index-out-of-range", [input], axes=(place,), dims=(number, Dim.of(size)))
    return _pair(at, input, replaced(items, place, *([Axis.one()] if keepdim else [])))


@op("torch.unique", "torch.Tensor.unique")
def unique(at: OpContext, input: Tensor, sorted: Value = NONE, return_inverse: bool = False,
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


@op("torch.isin", "numpy.isin")
def isin(at: OpContext, elements: Tensor, test_elements: Tensor, *options: Value, **settings: Value) -> Value:
    """Which elements are among others.

    elements (*), test_elements (*k) -> (*), of truth values
    Source: PyTorch documentation, torch.isin.
    """
    return at.tensor(at.shape(elements), elements, kind="bool")


@op(*named("bincount", "torch", "torch.Tensor", "numpy"))
def bincount(at: OpContext, input: Tensor, weights: Value = NONE, minlength: Value = NONE) -> Value:
    """How often each number occurs.

    input (n,) -> (k,), which data decide
    Conflict: the rank is not 1.
    Source: PyTorch documentation, torch.bincount.
    """
    at.need_rank(input, 1)
    return at.tensor((at.fresh(),), input, kind="int" if isinstance(weights, NoneValue) else "float")


@op(*named("searchsorted", "torch", "numpy"))
def searchsorted(at: OpContext, sorted_sequence: Tensor, input: Tensor, *options: Value, **settings: Value) -> Value:
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
