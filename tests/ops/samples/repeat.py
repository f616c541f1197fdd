"""Calls that copy along axes."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def stretched(draw: Draw) -> tuple[list[int], list[int]]:
    """The sizes of a tensor and those that it is expanded to."""
    new = draw.shape(1, 4)
    old = draw.broadcastable(new)
    if draw.wrong():
        old = draw.spoilt(old)
    return old, new


def expand(draw: Draw) -> Call:
    old, new = stretched(draw)
    if draw.maybe():
        new[-1] = -1
    if draw.number(0, 9) == 0:
        new[0] = -1
    return Call((T(old), *new) if draw.maybe() else (T(old), tuple(new)))


def broadcast_to(draw: Draw) -> Call:
    old, new = stretched(draw)
    return Call((T(old), tuple(new)))


def expand_as(draw: Draw) -> Call:
    old, new = stretched(draw)
    return Call((T(old), T(new)))


def repeat(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    more = draw.number(-1 if shape and draw.wrong() else 0, 2)
    counts = draw.sizes(len(shape) + more)
    if not counts:
        counts = [2]
    # One copy along an axis that is not there is not what anybody means.
    assumes = counts[0] == 1 and len(counts) > len(shape)
    return Call((T(shape), *counts) if draw.maybe() else (T(shape), tuple(counts)), assumes=assumes)


def tile(draw: Draw) -> Call:
    counts = draw.shape(1, 4)
    return Call((T(draw.shape(0, 3)), tuple(counts)))


def repeat_interleave(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    if draw.number(0, 3) == 0:
        return Call((T(shape), draw.size()))
    return Call((T(shape), draw.size(), draw.any_axis(len(shape))))


SAMPLES: dict[str, Sample] = {
    "torch.Tensor.expand": expand,
    "torch.broadcast_to": broadcast_to,
    "torch.Tensor.expand_as": expand_as,
    "torch.Tensor.repeat": repeat,
    "torch.tile": tile,
    "torch.repeat_interleave": repeat_interleave,
}
