"""Calls that cut a tensor along an axis, or take its diagonals and triangles."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def chunk(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    count = draw.number(1, 4)
    if draw.maybe():
        shape[axis] = shape[axis] * count
        return Call((T(shape), count, axis))
    return Call((T(shape), count, draw.any_axis(len(shape))), symbolic=False, assumes=True)


def split(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    if draw.maybe():
        sizes = draw.sizes(draw.number(1, 3))
        total = 0
        for size in sizes:
            total = size + total
        shape[axis] = total
        if draw.wrong():
            sizes[0] = sizes[0] + 1
        return Call((T(shape), sizes, axis))
    size = draw.size()
    if draw.maybe():
        shape[axis] = size * draw.number(1, 4)
        return Call((T(shape), size), {"dim": axis})
    return Call((T(shape), size, draw.any_axis(len(shape))), symbolic=False)


def tensor_split(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    count = draw.number(1, 3)
    named = {"dim": axis}
    if draw.maybe():
        shape[axis] = shape[axis] * count
        return Call((T(shape), count), named)
    if draw.name != "numpy.split" and draw.maybe():
        return Call((T(shape), count), named if not draw.wrong() else {"dim": len(shape)}, symbolic=False)
    shape[axis] = 7
    return Call((T(shape), [2, 5]), named)


def unbind(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    return Call((T(shape), draw.any_axis(len(shape))) if draw.maybe() else (T(shape),))


def narrow(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    start = draw.number(0, int(shape[axis]))
    length = draw.number(0, int(shape[axis]) - start + draw.wrong())
    return Call((T(shape), axis, start, length), symbolic=False)


def select(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    axis = draw.any_axis(len(shape))
    if -len(shape) <= axis < len(shape):
        number = draw.axis(int(shape[axis]))
        if draw.wrong():
            number = int(shape[axis])
        return Call((T(shape), axis, number))
    return Call((T(shape), axis, 0))


def triangle(draw: Draw) -> Call:
    shape = draw.shape(1 if draw.wrong() else 2, 4)
    return Call((T(shape), *([draw.number(-1, 1)] if draw.maybe() else [])))


def diag(draw: Draw) -> Call:
    shape = draw.sampled([draw.sizes(1), draw.sizes(2), [draw.size()] * 2])
    if draw.wrong():
        shape = draw.sizes(3)
    return Call((T(shape), *([draw.number(-1, 1)] if draw.maybe() else [])))


def diagonal(draw: Draw) -> Call:
    shape = draw.shape(2, 4)
    if draw.maybe():
        n = draw.size(least=2)
        shape[:2] = [n, n]
        return Call((T(shape), *([draw.number(-1, 1)] if draw.maybe() else [])))
    return Call((T(shape), 0, draw.any_axis(len(shape)), draw.axis(len(shape))))


def diag_embed(draw: Draw) -> Call:
    return Call((T(draw.shape(1, 3)), *([draw.number(-2, 2)] if draw.maybe() else [])))


def unfold(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.any_axis(len(shape))
    size = draw.number(1, 5)
    return Call((T(shape), axis, size, draw.number(1, 3)), symbolic=False)


SAMPLES: dict[str, Sample] = {
    "torch.chunk": chunk,
    "torch.split": split,
    "torch.Tensor.split": split,
    "torch.tensor_split": tensor_split,
    "torch.unbind": unbind,
    "torch.narrow": narrow,
    "torch.select": select,
    "torch.tril": triangle,
    "torch.diag": diag,
    "torch.diagonal": diagonal,
    "torch.diag_embed": diag_embed,
    "torch.Tensor.unfold": unfold,
}
