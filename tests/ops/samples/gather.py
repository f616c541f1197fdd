"""Calls that gather, scatter, sort and find elements."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def gather(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.any_axis(len(shape))
    index = list(shape)
    index[axis if -len(shape) <= axis < len(shape) else 0] = draw.size()
    if draw.wrong():
        index = draw.spoilt(index)
    return Call((T(shape), axis, T(index, "int")))


def take_along(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    index = [n if draw.number(0, 3) else 1 for n in shape]
    index[axis] = draw.size()
    if draw.wrong():
        index = draw.spoilt(index)
    return Call((T(shape), T(index, "int"), axis))


def index_select(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    index = draw.sizes(2 if draw.wrong() else 1)
    return Call((T(shape), draw.any_axis(len(shape)), T(index, "int")))


def take(draw: Draw) -> Call:
    return Call((T(draw.shape(1, 3)), T(draw.shape(0, 3), "int")))


def numpy_take(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    index = draw.sampled([T(draw.shape(0, 2), "int"), [0, 0, 0], 0])
    return Call((T(shape), index, *([draw.any_axis(len(shape))] if draw.maybe() else [])))


def scatter(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.any_axis(len(shape))
    place = axis if -len(shape) <= axis < len(shape) else 0
    index = list(shape)
    index[place] = draw.number(1, int(shape[place]))
    source = list(index)
    if draw.wrong():
        index = draw.spoilt(index)
    elif draw.maybe():
        source[place] = source[place] + 1
    stem = draw.name.rsplit(".", 1)[-1]
    if stem == "scatter" and draw.maybe():
        return Call((T(shape), axis, T(index, "int"), 1.0))
    return Call((T(shape), axis, T(index, "int"), T(source), *(["sum"] if stem == "scatter_reduce" else [])))


def index_add(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.any_axis(len(shape))
    count = draw.size()
    stem = draw.name.rsplit(".", 1)[-1]
    if stem == "index_fill":
        return Call((T(shape), axis, T([count], "int"), 1.0))
    source = list(shape)
    source[axis if -len(shape) <= axis < len(shape) else 0] = count
    if draw.wrong():
        source = draw.spoilt(source)
    tail = ["prod"] if stem == "index_reduce" else []
    return Call((T(shape), axis, T([count], "int"), T(source), *tail))


def masked_select(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    mask = draw.spoilt(shape) if draw.wrong() else draw.broadcastable(shape)
    if draw.name.endswith("scatter"):
        return Call((T(shape), T(mask, "bool"), T([512])))
    return Call((T(shape), T(mask, "bool")), data=True)


def nonzero(draw: Draw) -> Call:
    return Call((T(draw.shape(1, 3)),), {"as_tuple": draw.maybe()} if draw.maybe() else {}, data=True)


def numpy_nonzero(draw: Draw) -> Call:
    return Call((T(draw.shape(1, 3)),), data=True)


SAMPLES: dict[str, Sample] = {
    "torch.gather": gather,
    "torch.take_along_dim": take_along,
    "numpy.take_along_axis": take_along,
    "torch.index_select": index_select,
    "torch.take": take,
    "numpy.take": numpy_take,
    "torch.scatter": scatter,
    "torch.index_add": index_add,
    "torch.masked_select": masked_select,
    "torch.nonzero": nonzero,
    "numpy.nonzero": numpy_nonzero,
    "torch.argwhere": numpy_nonzero,
}
