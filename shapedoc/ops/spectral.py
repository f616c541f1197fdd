"""Fourier transforms."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis
from shapedoc.core.value import Kind, Tensor, Value
from shapedoc.ops.axes import position, positions, replaced
from shapedoc.ops.context import OpContext
from shapedoc.ops.extents import whole
from shapedoc.ops.pointwise import named
from shapedoc.ops.registry import op

__all__: list[str] = []


@op(*named("fft ifft", "torch.fft", "numpy.fft"))
def fft(at: OpContext, input: Tensor, n: Value | None = None, dim: int = -1, norm: Value | None = None) -> Value:
    """Transform along one axis; `n` is the length that it is cut or padded to.

    input (*, m, *) -> (*, n or m, *)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.fft.fft.
    """
    return _sized(at, input, dim, n, "", "complex")


@op(*named("rfft", "torch.fft", "numpy.fft"))
def rfft(at: OpContext, input: Tensor, n: Value | None = None, dim: int = -1, norm: Value | None = None) -> Value:
    """Transform real numbers along one axis; half of the result is left out, as it is the same.

    input (*, m, *) -> (*, (n or m)//2 + 1, *)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.fft.rfft.
    """
    return _sized(at, input, dim, n, "half", "complex")


@op(*named("irfft", "torch.fft", "numpy.fft"))
def irfft(at: OpContext, input: Tensor, n: Value | None = None, dim: int = -1, norm: Value | None = None) -> Value:
    """Transform back to real numbers along one axis.

    input (*, m, *) -> (*, n or 2*(m - 1), *)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.fft.irfft.
    """
    return _sized(at, input, dim, n, "double", "float")


def _sized(at: OpContext, input: Tensor, dim: int, n: Value | None, how: str, kind: Kind) -> Tensor:
    at.suffix(input, 1)
    place = position(at, input, dim)
    items = at.shape(input).items
    axis = None if place is None else items[place]
    if place is None or not isinstance(axis, Axis):
        return at.unknown(input, kind=kind, more=0)
    length = axis.dim if n is None else whole(at, n)
    if length is None:
        new = at.fresh()
    elif how == "half":
        new = at.axis(_half(at, length) + 1)
    elif how == "double":
        new = at.axis(2 * (length - 1) if n is None else length)
    else:
        new = axis if n is None else at.axis(length)
    return at.tensor(replaced(items, place, new), input, kind=kind)


def _half(at: OpContext, length: Dim) -> Dim:
    exact = length.divide(2)
    if exact is not None:
        return exact
    return Dim.of(length.const // 2) if length.const is not None else at.fresh().dim


@op(*named("fft2 ifft2", "torch.fft", "numpy.fft"))
def fft2(at: OpContext, input: Tensor, s: Value | None = None, dim: Value | None = None, **names: Value) -> Value:
    """Transform along two axes, the last ones unless others are named.

    input (*, n, m) -> the same
    Conflict: an axis does not exist; fewer than two axes.
    Source: PyTorch documentation, torch.fft.fft2.
    """
    if s is not None:
        at.lost("other lengths")
    dim = names.get("axes", dim)
    if dim is None:
        at.suffix(input, 2)
    else:
        positions(at, input, dim)
    return at.tensor(at.shape(input), input, kind="complex")


@op(*named("fftn ifftn", "torch.fft", "numpy.fft"))
def fftn(at: OpContext, input: Tensor, s: Value | None = None, dim: Value | None = None, **names: Value) -> Value:
    """Transform along several axes, all unless some are named.

    input (*) -> the same
    Conflict: an axis does not exist.
    Source: PyTorch documentation, torch.fft.fftn.
    """
    if s is not None:
        at.lost("other lengths")
    positions(at, input, names.get("axes", dim))
    return at.tensor(at.shape(input), input, kind="complex")


@op(*named("fftshift ifftshift", "torch.fft", "numpy.fft"))
def fftshift(at: OpContext, input: Tensor, dim: Value | None = None, **names: Value) -> Value:
    """Put the frequency 0 in the middle, or back.

    input (*) -> the same
    Conflict: an axis does not exist.
    Source: PyTorch documentation, torch.fft.fftshift.
    """
    positions(at, input, names.get("axes", dim))
    return at.tensor(at.shape(input), input)
