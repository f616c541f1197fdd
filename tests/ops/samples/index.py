"""Calls that select by position, or assign to it."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def piece(draw: Draw, size: int) -> slice:
    """A slice of an axis."""
    number = int(size)
    ends = [None, None, 0, 1, number, number + 2, -1, -2, number // 2]
    step = draw.sampled([None, None, None, 1, 2, 3])
    return slice(draw.sampled(ends), draw.sampled(ends), step)


def indices(draw: Draw, shape: list[int]) -> list[object]:
    """Indices of the first axes."""
    found: list[object] = []
    tensors = draw.shape(0, 2)
    used = 0
    while used < len(shape) and draw.number(0, 4):
        how = draw.sampled(["slice", "slice", "number", "new", "tensor", "list", "mask", "all"])
        if how == "number":
            found.append(draw.axis(int(shape[used])))
        elif how == "slice":
            found.append(piece(draw, shape[used]))
        elif how == "all":
            found.append(slice(None))
        elif how == "tensor":
            found.append(T(draw.broadcastable(tensors) if draw.number(0, 5) else draw.shape(0, 2), "int"))
        elif how == "list" and draw.number(0, 2) == 0:
            found.append([0, 0])
        elif how == "mask" and draw.number(0, 1):
            width = draw.number(1, min(2, len(shape) - used))
            sizes = shape[used : used + width]
            found.append(T(draw.spoilt(sizes) if draw.number(0, 5) == 0 else sizes, "bool"))
            used += width - 1
        else:
            found.append(None)
            continue
        used += 1
    return found


def index(draw: Draw) -> tuple[list[int], object]:
    shape = draw.shape(1, 4)
    found = indices(draw, shape)
    if draw.number(0, 3) == 0:
        found.insert(draw.number(0, len(found)), ...)
    if draw.wrong():
        found += [0] * (len(shape) + 1 - sum(f is not None and f is not ... for f in found))
    if len(found) == 1 and draw.maybe():
        return shape, found[0]
    return shape, tuple(found)


def has_mask(value: object) -> bool:
    if isinstance(value, T):
        return value.kind == "bool"
    return isinstance(value, tuple) and any(has_mask(v) for v in value)


def getitem(draw: Draw) -> Call:
    shape, found = index(draw)
    return Call((T(shape), found), data=has_mask(found), symbolic=not sliced(found))


def sliced(value: object) -> bool:
    """Whether a slice may reach beyond its axis, or count from one end past the other."""
    parts = value if isinstance(value, tuple) else (value,)
    return any(isinstance(p, slice) and p != slice(None) for p in parts)


def setitem(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    parts: list[object] = []
    left: list[int] = []
    for size in shape:
        how = draw.sampled(["number", "all", "part"])
        if how == "number":
            parts.append(0)
        elif how == "all":
            parts.append(slice(None))
            left.append(size)
        else:
            parts.append(slice(0, 1))
            left.append(1)
    value = draw.broadcastable(left)
    if draw.wrong() and left:
        value = draw.spoilt(left)
    return Call((T(shape), tuple(parts), draw.sampled([T(value), T(value), 0.5])))


SAMPLES: dict[str, Sample] = {"operator.getitem": getitem, "operator.setitem": setitem}
