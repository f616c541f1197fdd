"""Reductions: sums, means, norms and extremes over axes, and what normalises or accumulates along one."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.value import Bool, Int, Kind, NoneValue, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.kinds import kind_of_dtype, promote
from shapedoc.ops.measuring.axes import reduced
from shapedoc.ops.meeting.broadcast import broadcast
from shapedoc.ops.registry import named, op

__all__ = ["extreme", "pair", "sum_", "summed_kind"]


def _reduce(at: OpContext, input: Tensor, dim: Value | None, keepdim: bool | None, kind: Kind) -> Tensor:
    return at.tensor(reduced(at, input, dim, keepdim), input, kind=kind)


def summed_kind(input: Tensor, dtype: Value | None) -> Kind:
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
    return _reduce(at, input, dim, keepdim, summed_kind(input, dtype))


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
    return at.tensor(reduced(at, a, dim, keepdim, empty_is_all=False), a, kind=summed_kind(a, dtype))


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


@op("torch.aminmax", "torch.Tensor.aminmax")
def aminmax(at: OpContext, input: Tensor, *, dim: Value | None = None, keepdim: bool = False) -> Value:
    """The smallest and the largest element, of all or along an axis.

    input (*, n, *) -> min and max (*, *)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.aminmax.
    """
    shape = reduced(at, input, dim, keepdim)
    return Seq((at.tensor(shape, input), at.tensor(shape, input)), names=("min", "max"))


@op("torch.mode", "torch.Tensor.mode")
def mode(at: OpContext, input: Tensor, dim: int = -1, keepdim: bool = False) -> Value:
    """The commonest element along an axis, with its place.

    input (*, n, *) -> values and indices (*, *)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.mode.
    """
    return pair(at, input, Int(Dim.of(dim)), keepdim)


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
    return _reduce(at, input, at.bound.get("dim"), keepdim, summed_kind(input, dtype))


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
