"""Calls of reductions, and of what normalises or accumulates along an axis."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def axes(draw: Draw, rank: int) -> object:
    """One axis, several, or none; now and then one that does not exist."""
    if draw.maybe():
        return draw.any_axis(rank)
    if draw.maybe() or rank < 2:
        return None
    first, second = draw.number(0, rank - 1), draw.number(0, rank - 1)
    return (first, second - rank) if first != second or draw.wrong() else (first,)


def over_axes(draw: Draw) -> Call:
    """Over any axes, with and without keepdim."""
    shape = draw.shape("numpy" in draw.name, 4)
    kwargs: dict[str, object] = {}
    if draw.number(0, 3):
        kwargs["dim"] = axes(draw, len(shape))
        if draw.maybe():
            kwargs["keepdim"] = draw.maybe()
    if kwargs.get("dim", 0) is None and draw.name.startswith("torch"):
        kwargs.pop("keepdim", None)
    return Call((T(shape),), kwargs)


def whole_too(draw: Draw) -> Call:
    """As `over_axes`, of whole numbers and truth values too."""
    call = over_axes(draw)
    first = call.args[0]
    assert isinstance(first, T)
    return Call((T(first.shape, draw.sampled(["float", "int", "bool"])),), call.kwargs)


def one_axis(draw: Draw) -> Call:
    """Over one axis or all."""
    shape = draw.shape(0, 4)
    if draw.number(0, 3) == 0:
        return Call((T(shape),))
    kwargs: dict[str, object] = {"dim": draw.any_axis(len(shape))}
    if draw.maybe():
        kwargs["keepdim"] = draw.maybe()
    return Call((T(shape),), kwargs)


def extreme(draw: Draw) -> Call:
    if draw.number(0, 3) == 0:
        shape = draw.shape(0, 3)
        right = draw.spoilt(shape) if draw.wrong() and shape else draw.broadcastable(shape)
        return Call((T(shape), T(right)))
    return one_axis(draw)


def some_axes(draw: Draw) -> Call:
    """Over axes, which must be given."""
    shape = draw.shape(1, 4)
    dim = axes(draw, len(shape))
    return Call((T(shape), 0 if dim is None else dim), {"keepdim": draw.maybe()})


def counted(draw: Draw) -> Call:
    shape = draw.shape(0, 4)
    return Call((T(shape),), {"dim": axes(draw, len(shape))} if draw.maybe() else {})


def std(draw: Draw) -> Call:
    if draw.number(0, 3) == 0:
        return Call((T(draw.shape(1, 3)), draw.maybe()))
    return over_axes(draw)


def norm(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    kwargs: dict[str, object] = {}
    if draw.maybe():
        kwargs = {"dim": draw.any_axis(len(shape)), "keepdim": draw.maybe()}
    return Call((T(shape), *([2] if draw.maybe() and kwargs else [])), kwargs)


def aminmax(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    return Call((T(shape),), {"dim": draw.any_axis(len(shape)), "keepdim": draw.maybe()} if draw.maybe() else {})


SAMPLES: dict[str, Sample] = {
    "torch.aminmax": aminmax,
    "torch.sum": whole_too,
    "numpy.sum": whole_too,
    "torch.mean": over_axes,
    "numpy.mean": over_axes,
    "torch.amax": over_axes,
    "numpy.ndarray.max": over_axes,
    "torch.max": extreme,
    "torch.median": one_axis,
    "torch.mode": one_axis,
    "torch.argmax": one_axis,
    "numpy.argmax": one_axis,
    "torch.any": over_axes,
    "numpy.any": over_axes,
    "torch.count_nonzero": counted,
    "numpy.count_nonzero": counted,
    "torch.prod": one_axis,
    "torch.std": std,
    "torch.std_mean": std,
    "torch.logsumexp": some_axes,
    "torch.norm": norm,
    "torch.linalg.norm": norm,
}
