"""Fourier transforms."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis
from shapedoc.core.value import Bool, Int, Kind, NoneValue, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.measuring.axes import position, positions, replaced
from shapedoc.ops.measuring.extents import whole
from shapedoc.ops.registry import named, op

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


@op(*named("rfftn", "torch.fft", "numpy.fft"))
def rfftn(at: OpContext, input: Tensor, s: Value | None = None, dim: Value | None = None, **names: Value) -> Value:
    """Transform real numbers along several axes, all unless some are named; half of the last one is left out.

    input (*, m) -> (*, m//2 + 1)
    Conflict: an axis does not exist.
    Source: PyTorch documentation, torch.fft.rfftn.
    """
    return _halved(at, input, s, names.get("axes", dim), 1, "half")


@op(*named("rfft2", "torch.fft", "numpy.fft"))
def rfft2(at: OpContext, input: Tensor, s: Value | None = None, dim: Value | None = None, **names: Value) -> Value:
    """Transform real numbers along two axes, the last ones unless others are named; half of the last is left out.

    input (*, n, m) -> (*, n, m//2 + 1)
    Conflict: an axis does not exist; fewer than two axes.
    Source: PyTorch documentation, torch.fft.rfft2.
    """
    return _halved(at, input, s, names.get("axes", dim), 2, "half")


@op(*named("irfftn", "torch.fft", "numpy.fft"))
def irfftn(at: OpContext, input: Tensor, s: Value | None = None, dim: Value | None = None, **names: Value) -> Value:
    """Transform back to real numbers along several axes, all unless some are named.

    input (*, m) -> (*, 2*(m - 1))
    Conflict: an axis does not exist.
    Source: PyTorch documentation, torch.fft.irfftn.
    """
    return _halved(at, input, s, names.get("axes", dim), 1, "double")


@op(*named("irfft2", "torch.fft", "numpy.fft"))
def irfft2(at: OpContext, input: Tensor, s: Value | None = None, dim: Value | None = None, **names: Value) -> Value:
    """Transform back to real numbers along two axes, the last ones unless others are named.

    input (*, n, m) -> (*, n, 2*(m - 1))
    Conflict: an axis does not exist; fewer than two axes.
    Source: PyTorch documentation, torch.fft.irfft2.
    """
    return _halved(at, input, s, names.get("axes", dim), 2, "double")


def _halved(at: OpContext, input: Tensor, s: Value | None, dim: Value | None, least: int, how: str) -> Tensor:
    """A transform along several axes that halves the last of them, or doubles it."""
    listed = dim.items if isinstance(dim, Seq) and dim.rest is None else ()
    last = -1 if dim is None else listed[-1].dim.const if listed and isinstance(listed[-1], Int) else None
    if dim is None:
        at.suffix(input, least)
    else:
        positions(at, input, dim)
    kind: Kind = "complex" if how == "half" else "float"
    if last is None or not (s is None or isinstance(s, NoneValue)):
        return at.unknown(input, kind=kind, more=0)
    return _sized(at, input, last, None, how, kind)


@op("torch.stft", "torch.Tensor.stft")
def stft(
    at: OpContext, input: Tensor, n_fft: Dim, hop_length: Value | None = None, win_length: Value | None = None,
    window: Value | None = None, center: Value | None = None, pad_mode: Value | None = None,
    normalized: Value | None = None, onesided: Value | None = None, return_complex: Value | None = None,
) -> Value:  # fmt: skip
    """Transform window by window: frequencies, half of them for real numbers, by windows.

    input (*, n) -> (*, n_fft//2 + 1, windows), with pairs of real numbers (*, n_fft//2 + 1, windows, 2)
    Source: PyTorch documentation, torch.stft.
    """
    at.suffix(input, 1)
    pairs = return_complex is None or (isinstance(return_complex, Bool) and return_complex.value is False)
    if not pairs and not (isinstance(return_complex, Bool) and return_complex.value):
        at.lost("complex numbers, or pairs of real ones")
    half = onesided is None and input.kind == "float"
    rows = at.axis(_half(at, n_fft) + 1) if half else at.fresh()
    more = (rows, at.fresh(), at.axis(2)) if pairs else (rows, at.fresh())
    return at.tensor((*at.shape(input).items[:-1], *more), input, kind="float" if pairs else "complex")


@op(*named("fftshift ifftshift", "torch.fft", "numpy.fft"))
def fftshift(at: OpContext, input: Tensor, dim: Value | None = None, **names: Value) -> Value:
    """Put the frequency 0 in the middle, or back.

    input (*) -> the same
    Conflict: an axis does not exist.
    Source: PyTorch documentation, torch.fft.fftshift.
    """
    positions(at, input, names.get("axes", dim))
    return at.tensor(at.shape(input), input)
