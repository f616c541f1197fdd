"""Calls of what normalises or accumulates along an axis."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def needs_axis(draw: Draw) -> Call:
    """Along one axis, which must be given."""
    shape = draw.shape(0, 4)
    return Call((T(shape), draw.any_axis(len(shape))))


def softmax(draw: Draw) -> Call:
    shape = draw.shape(0, 4)
    if draw.number(0, 4) == 0:
        return Call((T(shape),))
    return Call((T(shape),), {"dim": draw.any_axis(len(shape))})


def gumbel(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    return Call((T(shape),), {"dim": draw.any_axis(len(shape)), "tau": 0.5})


def cumulated(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    return Call((T(shape, draw.sampled(["float", "int"])), *([draw.any_axis(len(shape))] if draw.number(0, 3) else [])))


def diff(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.any_axis(len(shape))
    if -len(shape) <= axis < len(shape):
        shape[axis] = draw.size(least=3)
    return Call((T(shape), draw.number(1, 2), axis) if draw.maybe() else (T(shape),), symbolic=min(shape) > 1)


SAMPLES: dict[str, Sample] = {
    "torch.diff": diff,
    "torch.cummax": needs_axis,
    "torch.softmax": needs_axis,
    "torch.nn.functional.softmax": softmax,
    "torch.nn.functional.gumbel_softmax": gumbel,
    "torch.cumsum": needs_axis,
    "torch.logcumsumexp": needs_axis,
    "numpy.cumsum": cumulated,
}
