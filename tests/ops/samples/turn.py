"""Calls that reverse, shift and turn."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T
from tests.ops.samples.layout import ranks

__all__ = ["SAMPLES"]


def flip(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    axes = [draw.any_axis(len(shape)) for _ in range(draw.number(1, 2))]
    if draw.name == "torch.flip":
        return Call((T(shape), axes))
    return Call((T(shape), *axes))


def numpy_flip(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    return Call((T(shape), *([draw.any_axis(len(shape))] if draw.maybe() else [])))


def roll(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    return Call((T(shape), 1, *([draw.any_axis(len(shape))] if draw.maybe() else [])))


def rot90(draw: Draw) -> Call:
    shape = draw.shape(2, 4)
    axes = (0, draw.any_axis(len(shape))) if draw.maybe() else (0, 1)
    return Call((T(shape), draw.number(0, 3), axes))


SAMPLES: dict[str, Sample] = {
    "torch.flip": flip,
    "numpy.flip": numpy_flip,
    "torch.fliplr": ranks(2, 4),
    "torch.roll": roll,
    "torch.rot90": rot90,
    "numpy.atleast_1d": ranks(0, 3),
    "numpy.atleast_2d": ranks(0, 3),
}
