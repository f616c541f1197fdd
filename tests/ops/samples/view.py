"""Calls that put elements under other sizes."""

from __future__ import annotations

from collections.abc import Sequence

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def times(sizes: Sequence[int]) -> int:
    total: int = 1
    for size in sizes:
        total = total * size
    return total


def regrouped(draw: Draw) -> tuple[list[int], list[int]]:
    """The sizes of a tensor and those of a view of it."""
    parts = draw.sizes(draw.rank(1, 5))
    sides: list[list[int]] = []
    for _ in range(2):
        side, i = [], 0
        while i < len(parts):
            width = draw.number(1, 2)
            side.append(times(parts[i : i + width]))
            i += width
        if draw.number(0, 3) == 0:
            side.insert(draw.number(0, len(side)), 1)
        sides.append(side)
    return sides[0], sides[1]


def wanted(draw: Draw) -> tuple[list[int], list[int]]:
    """As `regrouped`, with -1 now and then, shuffled, or wrong."""
    old, new = regrouped(draw)
    if draw.number(0, 4) == 0:
        draw.random.shuffle(new)
    if draw.wrong():
        new[draw.number(0, len(new) - 1)] = 11
        if draw.maybe():
            new.append(-1)
        if draw.number(0, 4) == 0:
            new.append(-1)
    elif draw.maybe():
        new[draw.number(0, len(new) - 1)] = -1
    return old, new


def view(draw: Draw) -> Call:
    old, new = wanted(draw)
    if draw.maybe():
        return Call((T(old), *new))
    return Call((T(old), tuple(new)))


def function(draw: Draw) -> Call:
    old, new = wanted(draw)
    return Call((T(old), tuple(new)))


def like(draw: Draw) -> Call:
    old, new = regrouped(draw)
    if draw.wrong():
        new.append(draw.size(least=2))
    return Call((T(old), T(new)))


def flatten(draw: Draw) -> Call:
    shape = draw.shape(0, 4)
    if draw.number(0, 3) == 0:
        return Call((T(shape),))
    return Call((T(shape), draw.any_axis(len(shape)), *([draw.axis(len(shape))] if draw.maybe() else [])))


def ravel(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 4)),))


def unflatten(draw: Draw) -> Call:
    parts = draw.sizes(draw.rank(1, 3))
    before, after = draw.shape(0, 2), draw.shape(0, 2)
    sizes = list(parts)
    if draw.wrong():
        sizes[0] = 11
    elif draw.maybe():
        sizes[0] = -1
    dim = draw.sampled([len(before), -1 - len(after)])
    return Call((T([*before, times(parts), *after]), dim, tuple(sizes)))


SAMPLES: dict[str, Sample] = {
    "torch.Tensor.view": view,
    "torch.Tensor.reshape": view,
    "torch.reshape": function,
    "torch.Tensor.view_as": like,
    "torch.Tensor.reshape_as": like,
    "torch.flatten": flatten,
    "torch.ravel": ravel,
    "torch.unflatten": unflatten,
}
