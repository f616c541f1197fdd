"""Calls that sort, count and find elements in order."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def topk(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.any_axis(len(shape))
    size = int(shape[axis]) if -len(shape) <= axis < len(shape) else 1
    count = draw.number(1, size + draw.wrong())
    return Call((T(shape), count, axis) if axis != -1 else (T(shape), count), symbolic=count <= 1)


def sort(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    if draw.name.endswith("msort") or draw.maybe():
        return Call((T(shape),))
    return Call((T(shape), draw.any_axis(len(shape))))


def kthvalue(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.any_axis(len(shape))
    size = int(shape[axis]) if -len(shape) <= axis < len(shape) else 1
    return Call((T(shape), draw.number(1, size + draw.wrong()), axis, draw.maybe()), symbolic=False)


def unique(draw: Draw) -> Call:
    kwargs: dict[str, object] = {}
    shape = draw.shape(1, 3)
    if draw.maybe():
        kwargs["return_inverse"] = draw.maybe()
    if draw.maybe():
        kwargs["return_counts"] = draw.maybe()
    if draw.number(0, 3) == 0:
        kwargs["dim"] = draw.any_axis(len(shape))
    return Call((T(shape),), kwargs, data=True)


def bincount(draw: Draw) -> Call:
    return Call((T(draw.sizes(2 if draw.wrong() else 1), "int"),), data=True)


def searchsorted(draw: Draw) -> Call:
    return Call((T(draw.sizes(1)), T(draw.shape(1, 3))))


def bucketize(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 3)), T(draw.sizes(2 if draw.wrong() else 1))))


def isin(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 3)), T(draw.shape(1, 2))))


def partition(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    return Call((T(shape), 0)) if draw.maybe() else Call((T(shape), 0, draw.any_axis(len(shape))))


SAMPLES: dict[str, Sample] = {
    "numpy.partition": partition,
    "numpy.argpartition": partition,
    "torch.isin": isin,
    "torch.topk": topk,
    "torch.sort": sort,
    "torch.msort": sort,
    "torch.argsort": sort,
    "numpy.sort": sort,
    "torch.kthvalue": kthvalue,
    "torch.unique": unique,
    "torch.bincount": bincount,
    "torch.searchsorted": searchsorted,
    "torch.bucketize": bucketize,
}
