"""Calls of Fourier transforms."""

from __future__ import annotations

from shapedoc.core.value import Kind
from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def one_axis(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.any_axis(len(shape))
    options: dict[str, object] = {} if draw.maybe() else {"dim": axis}
    real = draw.name.endswith(".irfft")
    if draw.maybe():
        options["n"] = draw.size(least=2)
    elif real:
        shape = [n + 1 for n in shape]
    return Call([T(shape, "complex" if real else "float")], options, symbolic="rfft" not in draw.name)


def several(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    if draw.maybe():
        return Call([T(shape)])
    name = "axes" if draw.name.startswith("numpy") else "dim"
    first = draw.any_axis(len(shape))
    if not draw.name.endswith("fft2"):
        return Call([T(shape)], {name: (first,)})
    shape = [*shape, 2]
    return Call([T(shape)], {name: (draw.any_axis(len(shape) - 1) % (len(shape) - 1), len(shape) - 1)})


def halved(draw: Draw) -> Call:
    """A transform of real numbers along several axes, or back."""
    two = draw.name.endswith("fft2")
    shape = [n + 1 for n in draw.shape(2, 4)]
    kind: Kind = "complex" if ".irfft" in draw.name else "float"
    if draw.wrong():
        return Call([T(shape[:1], kind)], {} if two else {"dim": (1,)}, symbolic=False)
    if draw.maybe():
        return Call([T(shape, kind)], symbolic=False)
    name = "axes" if draw.name.startswith("numpy") else "dim"
    return Call([T(shape, kind)], {name: (0, draw.sampled([1, -1]))}, symbolic=False)


def stft(draw: Draw) -> Call:
    shape = [*draw.shape(0, 1), 40]
    options: dict[str, object] = {"return_complex": draw.maybe()}
    if draw.maybe():
        options["onesided"] = draw.maybe()
    if draw.maybe():
        options["hop_length"] = 3
    return Call([T(shape), draw.size(least=4)], options, data=True, symbolic=False)


SAMPLES: dict[str, Sample] = {
    **dict.fromkeys(("torch.fft.rfftn", "torch.fft.rfft2", "torch.fft.irfftn", "torch.fft.irfft2"), halved),
    "torch.stft": stft,
    "torch.fft.fft": one_axis,
    "torch.fft.rfft": one_axis,
    "torch.fft.irfft": one_axis,
    "torch.fft.fft2": several,
    "torch.fft.fftn": several,
    "torch.fft.fftshift": several,
}
