"""Calls that put tensors together."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def cat(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    axis = draw.axis(len(shape))
    shapes = []
    for _ in range(draw.number(1, 3)):
        other = list(shape)
        other[axis] = draw.size()
        shapes.append(other)
    if draw.wrong():
        if draw.maybe():
            axis = draw.sampled([len(shape), -len(shape) - 1])
        else:
            shapes[-1] = draw.spoilt(shapes[-1])
    tensors: object = [T(s) for s in shapes]
    if draw.maybe():
        tensors = tuple(T(s) for s in shapes)
    return Call((tensors, axis) if axis or draw.maybe() else (tensors,))


def stack(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    shapes = [list(shape) for _ in range(draw.number(1, 3))]
    axis = draw.any_axis(len(shape) + 1)
    if draw.wrong():
        shapes[-1] = draw.spoilt(shape)
    return Call(([T(s) for s in shapes],), {"dim": axis})


def along(place: int, low: int, high: int) -> Sample:
    """Tensors that agree but for the axis at `place`."""

    def sample(draw: Draw) -> Call:
        shape = draw.shape(low, high)
        shapes = []
        for _ in range(draw.number(1, 3)):
            other = list(shape)
            where = min(place, len(other) - 1)
            if len(other) > place or (place == 1 and len(other) == 1):
                other[where] = draw.size()
            shapes.append(other)
        if draw.wrong():
            shapes[-1] = draw.spoilt(shapes[-1])
        return Call(([T(s) for s in shapes],))

    return sample


def column_stack(draw: Draw) -> Call:
    n = draw.size()
    shapes = [draw.sampled([[n], [n, draw.size()]]) for _ in range(draw.number(1, 3))]
    if draw.wrong():
        shapes[-1] = [draw.other(n), 2]
    return Call(([T(s) for s in shapes],))


def append(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    if draw.maybe():
        return Call((T(shape), T(draw.shape(1, 2))))
    axis = draw.axis(len(shape))
    other = list(shape)
    other[axis] = draw.size()
    return Call((T(shape), T(draw.spoilt(other) if draw.wrong() else other), axis))


SAMPLES: dict[str, Sample] = {
    "torch.cat": cat,
    "torch.stack": stack,
    "torch.hstack": along(1, 1, 3),
    "torch.column_stack": column_stack,
    "torch.vstack": along(0, 1, 3),
    "torch.dstack": along(2, 1, 4),
    "numpy.append": append,
}
