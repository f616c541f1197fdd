"""Calls of Fourier transforms."""

from __future__ import annotations

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


SAMPLES: dict[str, Sample] = {
    "torch.fft.fft": one_axis,
    "torch.fft.rfft": one_axis,
    "torch.fft.irfft": one_axis,
    "torch.fft.fft2": several,
    "torch.fft.fftn": several,
    "torch.fft.fftshift": several,
}
