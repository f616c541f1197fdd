"""Reductions: sums, means, norms and extremes over axes, and what normalises or accumulates along one."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.value import Bool, Int, Kind, NoneValue, Seq, Tensor, Value
from shapedoc.ops.activations import implicit_axis
from shapedoc.ops.axes import position, positions, reduced
from shapedoc.ops.broadcast import broadcast
from shapedoc.ops.context import OpContext
from shapedoc.ops.pointwise import kind_of_dtype, named, promote
from shapedoc.ops.registry import op

__all__ = ["extreme", "softmax", "sum_"]


def _reduce(at: OpContext, input: Tensor, dim: Value | None, keepdim: bool | None, kind: Kind) -> Tensor:
    return at.tensor(reduced(at, input, dim, keepdim), input, kind=kind)


def _summed_kind(input: Tensor, dtype: Value | None) -> Kind:
    given = kind_of_dtype(dtype) if dtype is not None else None
    return given or ("int" if input.kind == "bool" else input.kind)


@op(*named("sum nansum", "torch", "torch.Tensor"))
def sum_(
    at: OpContext, input: Tensor, dim: Value | None = None, keepdim: bool = False, *, dtype: Value | None = None
) -> Value:
    """Sum over axes, over all of them by default.

    input (*, n, *) -> (*, *), with keepdim (*, 1, *)
    Conflict: an axis does not exist or is named twice.
    Source: PyTorch documentation, torch.sum.
    """
    return _reduce(at, input, dim, keepdim, _summed_kind(input, dtype))


@op(*named("sum nansum prod nanprod", "numpy"), *named("sum prod", "numpy.ndarray"))
def numpy_sum(
    at: OpContext, a: Tensor, dim: Value | None = None, dtype: Value | None = None, out: Value | None = None,
    keepdim: bool = False, **settings: Value
) -> Value:  # fmt: skip
    """Sum or multiply over axes, over all of them by default.

    a (*, n, *) -> (*, *), with keepdims (*, 1, *)
    Conflict: an axis does not exist or is named twice.
    Source: NumPy reference, numpy.sum.
    """
    return at.tensor(reduced(at, a, dim, keepdim, empty_is_all=False), a, kind=_summed_kind(a, dtype))


@op(*named("mean nanmean", "torch", "torch.Tensor"))
def mean(
    at: OpContext, input: Tensor, dim: Value | None = None, keepdim: bool = False, *, dtype: Value | None = None
) -> Value:
    """The mean over axes, over all of them by default.

    input (*, n, *) -> (*, *), with keepdim (*, 1, *)
    Conflict: an axis does not exist or is named twice.
    Source: PyTorch documentation, torch.mean.
    """
    return _reduce(at, input, dim, keepdim, "float")


@op(*named("mean nanmean std var nanstd nanvar", "numpy"), *named("mean std var", "numpy.ndarray"))
def numpy_mean(
    at: OpContext, a: Tensor, dim: Value | None = None, dtype: Value | None = None, out: Value | None = None,
    **settings: Value
) -> Value:  # fmt: skip
    """Mean, deviation or variance over axes, over all of them by default.

    a (*, n, *) -> (*, *), with keepdims (*, 1, *)
    Conflict: an axis does not exist or is named twice.
    Source: NumPy reference, numpy.mean.
    """
    keepdim = _flag(settings.get("keepdims", settings.get("keepdim")))
    return at.tensor(reduced(at, a, dim, keepdim, empty_is_all=False), a, kind="float")


def _flag(value: Value | None) -> bool | None:
    match value:
        case None | NoneValue():
            return False
        case Bool(value=flag):
            return flag
        case _:
            return None


@op(*named("amax amin", "torch", "torch.Tensor"))
def amax(at: OpContext, input: Tensor, dim: Value | None = None, keepdim: bool = False) -> Value:
    """The largest or smallest element over axes, over all of them by default.

    input (*, n, *) -> (*, *), with keepdim (*, 1, *)
    Conflict: an axis does not exist or is named twice.
    Source: PyTorch documentation, torch.amax.
    """
    return _reduce(at, input, dim, keepdim, input.kind)


@op(*named("max min", "numpy.ndarray"), *named("max min amax amin nanmax nanmin ptp median nanmedian", "numpy"))
def numpy_max(
    at: OpContext, a: Tensor, dim: Value | None = None, out: Value | None = None, keepdim: bool = False,
    **settings: Value
) -> Value:  # fmt: skip
    """The largest, smallest or middle element over axes, over all of them by default.

    a (*, n, *) -> (*, *), with keepdims (*, 1, *)
    Conflict: an axis does not exist or is named twice.
    Source: NumPy reference, numpy.max.
    """
    return at.tensor(reduced(at, a, dim, keepdim, empty_is_all=False), a)


@op(*named("max min", "torch", "torch.Tensor"))
def extreme(at: OpContext, input: Tensor, dim: Value | None = None, keepdim: bool = False) -> Value:
    """The extreme of all elements; along an axis, with its place; of two tensors, elementwise.

    input (*) -> (); input (*, n, *), dim -> values and indices (*, *); input (*), other (*) -> their broadcast
    Conflict: the axis does not exist; the two tensors do not broadcast.
    Source: PyTorch documentation, torch.max.
    """
    if isinstance(dim, Tensor):
        kind, like = promote((input, dim))
        return at.tensor(broadcast(at, input, dim), like, kind=kind)
    if dim is None or isinstance(dim, NoneValue):
        return at.tensor((), input)
    return pair(at, input, dim, keepdim)


def pair(at: OpContext, input: Tensor, dim: Value, keepdim: bool | None) -> Seq:
    """A reduction's values and where they stand."""
    shape = reduced(at, input, dim, keepdim)
    values, indices = at.tensor(shape, input), at.tensor(shape, input, kind="int")
    return Seq((values, indices), names=("values", "indices"))


@op(*named("median nanmedian", "torch", "torch.Tensor"))
def median(at: OpContext, input: Tensor, dim: Value | None = None, keepdim: bool = False) -> Value:
    """The middle element of all; along an axis, with its place.

    input (*) -> (); input (*, n, *), dim -> values and indices (*, *)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.median.
    """
    if dim is None or isinstance(dim, NoneValue):
        return at.tensor((), input)
    return pair(at, input, dim, keepdim)


@op("torch.mode", "torch.Tensor.mode")
def mode(at: OpContext, input: Tensor, dim: int = -1, keepdim: bool = False) -> Value:
    """The commonest element along an axis, with its place.

    input (*, n, *) -> values and indices (*, *)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.mode.
    """
    return pair(at, input, Int(Dim.of(dim)), keepdim)


@op(*named("cummax cummin", "torch", "torch.Tensor"))
def cummax(at: OpContext, input: Tensor, dim: int) -> Value:
    """The extreme up to each element along an axis, with its place.

    input (*) -> values and indices (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.cummax.
    """
    position(at, input, dim)
    shape = at.shape(input)
    return Seq((at.tensor(shape, input), at.tensor(shape, input, kind="int")), names=("values", "indices"))


@op(*named("argmax argmin", "torch", "torch.Tensor"))
def argmax(at: OpContext, input: Tensor, dim: int | None = None, keepdim: bool = False) -> Value:
    """Where the largest or smallest element stands, along one axis or in all.

    input (*, n, *) -> (*, *), of whole numbers
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.argmax.
    """
    return _reduce(at, input, at.bound.get("dim"), keepdim, "int")


@op(*named("argmax argmin", "numpy", "numpy.ndarray"), *named("nanargmax nanargmin", "numpy"))
def numpy_argmax(
    at: OpContext, a: Tensor, dim: int | None = None, out: Value | None = None, *, keepdim: bool = False
) -> Value:
    """Where the largest or smallest element stands, along one axis or in all.

    a (*, n, *) -> (*, *), of whole numbers
    Conflict: the axis does not exist.
    Source: NumPy reference, numpy.argmax.
    """
    return _reduce(at, a, at.bound.get("dim"), keepdim, "int")


@op(*named("any all", "torch", "torch.Tensor"))
def any_(at: OpContext, input: Tensor, dim: Value | None = None, keepdim: bool = False) -> Value:
    """Whether any or all elements are true, over axes.

    input (*, n, *) -> (*, *), of truth values
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.any.
    """
    return _reduce(at, input, dim, keepdim, "bool")


@op(*named("any all", "numpy", "numpy.ndarray"))
def numpy_any(
    at: OpContext, a: Tensor, dim: Value | None = None, out: Value | None = None, keepdim: bool = False
) -> Value:
    """Whether any or all elements are true, over axes.

    a (*, n, *) -> (*, *), of truth values
    Conflict: the axis does not exist.
    Source: NumPy reference, numpy.any.
    """
    return at.tensor(reduced(at, a, dim, keepdim, empty_is_all=False), a, kind="bool")


@op("torch.count_nonzero", "torch.Tensor.count_nonzero")
def count_nonzero(at: OpContext, input: Tensor, dim: Value | None = None) -> Value:
    """How many elements are not zero, over axes.

    input (*, n, *) -> (*, *), of whole numbers
    Conflict: an axis does not exist or is named twice.
    Source: PyTorch documentation, torch.count_nonzero.
    """
    return _reduce(at, input, dim, False, "int")


@op("numpy.count_nonzero")
def numpy_count_nonzero(at: OpContext, a: Tensor, dim: Value | None = None, *, keepdim: bool = False) -> Value:
    """How many elements are not zero, over axes.

    a (*, n, *) -> (*, *), of whole numbers
    Conflict: an axis does not exist.
    Source: NumPy reference, numpy.count_nonzero.
    """
    return at.tensor(reduced(at, a, dim, keepdim, empty_is_all=False), a, kind="int")


@op(*named("prod", "torch", "torch.Tensor"))
def prod(
    at: OpContext, input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Value | None = None
) -> Value:
    """The product of all elements, or along one axis.

    input (*, n, *) -> (*, *)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.prod.
    """
    return _reduce(at, input, at.bound.get("dim"), keepdim, _summed_kind(input, dtype))


@op(*named("std var", "torch", "torch.Tensor"))
def std(
    at: OpContext, input: Tensor, dim: Value | None = None, unbiased: Value | None = None, keepdim: bool = False,
    *, correction: Value | None = None
) -> Value:  # fmt: skip
    """Deviation or variance over axes, over all of them by default; ``std(unbiased)`` is over all.

    input (*, n, *) -> (*, *)
    Conflict: an axis does not exist or is named twice.
    Source: PyTorch documentation, torch.std.
    """
    return _reduce(at, input, None if isinstance(dim, Bool) else dim, keepdim, "float")


@op("torch.std_mean", "torch.var_mean")
def std_mean(
    at: OpContext, input: Tensor, dim: Value | None = None, unbiased: Value | None = None, keepdim: bool = False,
    *, correction: Value | None = None
) -> Value:  # fmt: skip
    """Deviation or variance, and the mean.

    input (*, n, *) -> (*, *) twice
    Conflict: an axis does not exist or is named twice.
    Source: PyTorch documentation, torch.std_mean.
    """
    shape = reduced(at, input, None if isinstance(dim, Bool) else dim, keepdim)
    return Seq((at.tensor(shape, input, kind="float"), at.tensor(shape, input, kind="float")))


@op("torch.logsumexp", "torch.Tensor.logsumexp", "torch.special.logsumexp")
def logsumexp(at: OpContext, input: Tensor, dim: Value, keepdim: bool = False) -> Value:
    """The logarithm of the sum of exponentials over axes.

    input (*, n, *) -> (*, *)
    Conflict: an axis does not exist or is named twice.
    Source: PyTorch documentation, torch.logsumexp.
    """
    return _reduce(at, input, dim, keepdim, "float")


@op(*named("norm", "torch", "torch.Tensor"))
def norm(
    at: OpContext, input: Tensor, p: Value | None = None, dim: Value | None = None, keepdim: bool = False,
    *, dtype: Value | None = None
) -> Value:  # fmt: skip
    """The norm over axes, over all of them by default.

    input (*, n, *) -> (*, *)
    Conflict: an axis does not exist or is named twice.
    Source: PyTorch documentation, torch.norm.
    """
    return _reduce(at, input, dim, keepdim, "float")


@op(*named("norm vector_norm", "torch.linalg"), "numpy.linalg.norm")
def linalg_norm(
    at: OpContext, input: Tensor, ord: Value | None = None, dim: Value | None = None, keepdim: bool = False,
    *, dtype: Value | None = None
) -> Value:  # fmt: skip
    """The norm over axes, over all of them by default.

    input (*, n, *) -> (*, *)
    Conflict: an axis does not exist or is named twice.
    Source: PyTorch documentation, torch.linalg.norm.
    """
    return _reduce(at, input, dim, keepdim, "float")


@op(*named("softmax log_softmax", "torch", "torch.Tensor"), *named("softmax log_softmax", "torch.special"))
def softmax(at: OpContext, input: Tensor, dim: int, dtype: Value | None = None) -> Value:
    """Normalise along one axis.

    input (*) -> (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.softmax.
    """
    position(at, input, dim)
    return at.tensor(at.shape(input), input, kind="float")


@op(*named("softmax softmin log_softmax", "torch.nn.functional"))
def functional_softmax(
    at: OpContext, input: Tensor, dim: int | None = None, _stacklevel: Value | None = None, dtype: Value | None = None
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
        position(at, input, dim)
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


@op(*named("cumsum cumprod", "torch", "torch.Tensor"))
def cumsum(at: OpContext, input: Tensor, dim: int, *, dtype: Value | None = None) -> Value:
    """Accumulate along one axis.

    input (*) -> (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.cumsum.
    """
    position(at, input, dim)
    return at.tensor(at.shape(input), input, kind=_summed_kind(input, dtype))


@op("torch.logcumsumexp", "torch.Tensor.logcumsumexp")
def logcumsumexp(at: OpContext, input: Tensor, dim: int) -> Value:
    """Accumulate the logarithm of a sum of exponentials along one axis.

    input (*) -> (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.logcumsumexp.
    """
    position(at, input, dim)
    return at.tensor(at.shape(input), input, kind="float")


@op(*named("cumsum cumprod", "numpy", "numpy.ndarray"))
def numpy_cumsum(at: OpContext, a: Tensor, dim: Value | None = None, dtype: Value | None = None) -> Value:
    """Accumulate along one axis; without one, over the flattened array.

    a (*) -> (*), or (n,)
    Conflict: the axis does not exist.
    Source: NumPy reference, numpy.cumsum.
    """
    kind = _summed_kind(a, dtype)
    if dim is None or isinstance(dim, NoneValue):
        total = at.axis(1)
        for axis in at.axes(a):
            total = at.axis(total.dim * axis.dim)
        return at.tensor((total,), a, kind=kind)
    positions(at, a, dim)
    return at.tensor(at.shape(a), a, kind=kind)
