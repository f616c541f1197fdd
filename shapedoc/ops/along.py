"""What normalises or accumulates along an axis: it keeps the shape."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis
from shapedoc.core.value import NoneValue, Seq, Tensor, Value
from shapedoc.ops.activations import implicit_axis
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.measuring.axes import along, position, positions, replaced, weigh
from shapedoc.ops.reduce import summed_kind
from shapedoc.ops.registry import named, op

__all__ = ["functional_softmax", "softmax"]


@op(*named("cummax cummin", "torch", "torch.Tensor"))
def cummax(at: OpContext, input: Tensor, dim: Value) -> Value:
    """The extreme up to each element along an axis, with its place.

    input (*) -> values and indices (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.cummax.
    """
    along(at, input, dim)
    shape = at.shape(input)
    return Seq((at.tensor(shape, input), at.tensor(shape, input, kind="int")), names=("values", "indices"))


@op(*named("softmax log_softmax", "torch", "torch.Tensor"), *named("softmax log_softmax", "torch.special"))
def softmax(at: OpContext, input: Tensor, dim: Value, dtype: Value | None = None) -> Value:
    """Normalise along one axis.

    input (*) -> (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.softmax.
    """
    weigh(at, input, along(at, input, dim))
    return at.tensor(at.shape(input), input, kind="float")


@op(*named("softmax softmin log_softmax", "torch.nn.functional"))
def functional_softmax(
    at: OpContext, input: Tensor, dim: Value | None = None, _stacklevel: Value | None = None, dtype: Value | None = None
) -> Value:
    """Normalise along one axis; without `dim`, along one that the rank decides, which is reported.

    input (*) -> (*)
    Conflict: the axis does not exist; no axis is given ("implicit-softmax-axis", which raises nothing: axis 0 of a
    tensor with 0, 1 or 3 axes, axis 1 of others).
    Source: PyTorch documentation, torch.nn.functional.softmax.
    """
    if dim is None:
        implicit_axis(at, input)
    else:
        weigh(at, input, along(at, input, dim))
    return at.tensor(at.shape(input), input, kind="float")


@op("torch.nn.functional.gumbel_softmax")
def gumbel_softmax(
    at: OpContext, logits: Tensor, tau: Value | None = None, hard: Value | None = None, eps: Value | None = None,
    dim: int = -1
) -> Value:  # fmt: skip
    """Sample from a relaxed choice along one axis.

    logits (*) -> (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.nn.functional.gumbel_softmax.
    """
    position(at, logits, dim)
    return at.tensor(at.shape(logits), logits, kind="float")


@op("torch.diff", "torch.Tensor.diff")
def diff(at: OpContext, input: Tensor, n: int = 1, dim: int = -1) -> Value:
    """The differences of neighbours along an axis, n times.

    input (*, m, *) -> (*, m - n, *)
    Conflict: the axis does not exist; there is none.
    Source: PyTorch documentation, torch.diff.
    """
    at.suffix(input, 1)
    place = position(at, input, dim)
    items = at.shape(input).items
    axis = items[place] if place is not None else None
    if place is None or not isinstance(axis, Axis):
        return at.unknown(input, more=0)
    left = axis.dim - n
    size = Dim.of(max(left.const, 0)) if left.const is not None else left
    return at.tensor(replaced(items, place, Axis(size, axis.ids)), input)


@op(*named("cumsum cumprod", "torch", "torch.Tensor"))
def cumsum(at: OpContext, input: Tensor, dim: Value, *, dtype: Value | None = None) -> Value:
    """Accumulate along one axis.

    input (*) -> (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.cumsum.
    """
    along(at, input, dim)
    return at.tensor(at.shape(input), input, kind=summed_kind(input, dtype))


@op("torch.logcumsumexp", "torch.Tensor.logcumsumexp")
def logcumsumexp(at: OpContext, input: Tensor, dim: Value) -> Value:
    """Accumulate the logarithm of a sum of exponentials along one axis.

    input (*) -> (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.logcumsumexp.
    """
    along(at, input, dim)
    return at.tensor(at.shape(input), input, kind="float")


@op(*named("cumsum cumprod", "numpy", "numpy.ndarray"))
def numpy_cumsum(at: OpContext, a: Tensor, dim: Value | None = None, dtype: Value | None = None) -> Value:
    """Accumulate along one axis; without one, over the flattened array.

    a (*) -> (*), or (n,)
    Conflict: the axis does not exist.
    Source: NumPy reference, numpy.cumsum.
    """
    kind = summed_kind(a, dtype)
    if dim is None or isinstance(dim, NoneValue):
        total = at.axis(1)
        for axis in at.axes(a):
            total = at.axis(total.dim * axis.dim)
        return at.tensor((total,), a, kind=kind)
    positions(at, a, dim)
    return at.tensor(at.shape(a), a, kind=kind)
