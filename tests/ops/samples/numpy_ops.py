"""Calls of NumPy operations that torch does not have, or has under other rules."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def softmax(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    return Call([T(shape)], draw.sampled([{}, {"axis": draw.any_axis(len(shape))}]))


def reduced(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    return Call([T(shape)], draw.sampled([{}, {"axis": draw.any_axis(len(shape)), "keepdims": draw.maybe()}]))


def kept(draw: Draw) -> Call:
    return Call([T(draw.shape(0, 3))])


def paired(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    return Call((T(shape), T(draw.spoilt(shape) if draw.wrong() else draw.broadcastable(shape))))


def vectors(draw: Draw) -> Call:
    n = draw.size()
    return Call((T([n]), T([draw.other(n) if draw.wrong() else n])))


def quantile(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    q = draw.sampled([0.5, [0.25, 0.5], T(draw.shape(0, 1))])
    return Call((T(shape), q), draw.sampled([{}, {"axis": draw.any_axis(len(shape)), "keepdims": draw.maybe()}]))


def diff(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    if not shape:
        return Call([T(shape)])
    axis = draw.any_axis(len(shape))
    return Call([T(shape)], {"n": draw.number(1, 2), "axis": axis}, symbolic=False)


def trace(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    if draw.maybe():
        return Call([T(shape)])
    return Call([T(shape)], {"axis1": draw.any_axis(len(shape)), "axis2": draw.any_axis(len(shape))})


def matrix_trace(draw: Draw) -> Call:
    return Call([T(draw.shape(1, 4))])


def cov(draw: Draw) -> Call:
    shape = draw.shape(1, 2 if not draw.wrong() else 3)
    return Call([T([n + 1 for n in shape])], {} if draw.maybe() else {"rowvar": False})


def unique(draw: Draw) -> Call:
    options = {name: True for name in ("return_index", "return_inverse", "return_counts") if draw.maybe()}
    return Call([T(draw.shape(0, 3))], options, data=True)


def indices(draw: Draw) -> Call:
    return Call([tuple(draw.shape(1, 3))])


def interp(draw: Draw) -> Call:
    n = draw.size()
    return Call((T(draw.shape(0, 3)), T([n]), T([n])))


def rollaxis(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    start = draw.number(-len(shape), len(shape)) if not draw.wrong() else len(shape) + 1
    return Call((T(shape), draw.any_axis(len(shape)), start))


def resize(draw: Draw) -> Call:
    return Call((T(draw.shape(1, 3)), tuple(draw.shape(1, 3))))


def select(draw: Draw) -> Call:
    shape = draw.shape(0, 2)
    conditions = [T(draw.broadcastable(shape), "bool") for _ in range(2)]
    choices = [T(draw.spoilt(shape) if draw.number(0, 4) == 0 else shape) for _ in range(2)]
    return Call((conditions, choices))


SAMPLES: dict[str, Sample] = {
    "scipy.special.softmax": softmax,
    "scipy.special.logsumexp": reduced,
    "scipy.special.expit": kept,
    "scipy.special.xlogy": paired,
    "numpy.vdot": vectors,
    "numpy.average": reduced,
    "numpy.percentile": quantile,
    "numpy.diff": diff,
    "numpy.trace": trace,
    "numpy.linalg.trace": matrix_trace,
    "numpy.cov": cov,
    "numpy.unique": unique,
    "numpy.indices": indices,
    "numpy.interp": interp,
    "numpy.rollaxis": rollaxis,
    "numpy.resize": resize,
    "numpy.select": select,
}
