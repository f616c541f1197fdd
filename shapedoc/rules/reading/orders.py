"""Orders that axes can be brought into, and how one writes it."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Sizes

__all__ = ["exchanged", "orders", "pair_to_join", "pairs_of", "turn", "turned_back"]


def orders(rank: int) -> Iterator[tuple[int, ...]]:
    """Orders of axes, the likeliest first: two neighbours exchanged, one axis moved past others, two exchanged.

    What is moved past leaves the others in their order, so that ``H, W`` of one axis ``H*W`` do not become ``W, H``.
    """
    pairs = pairs_of(rank)
    for i, j in pairs:
        for source, target in ((i, j), (j, i)) if j > i + 1 else ((i, j),):
            order = [k for k in range(rank) if k != source]
            order.insert(target, source)
            yield tuple(order)
    for i, j in pairs:
        order = list(range(rank))
        order[i], order[j] = j, i
        yield tuple(order)


def turned_back(order: tuple[int, ...], numpy: bool) -> str:
    """How axes that were laid out in this order are brought back."""
    moved = [i for i, k in enumerate(order) if i != k]
    back = tuple(order.index(i) for i in range(len(order)))
    if len(moved) == 2:
        return turn(moved[0], moved[1], len(order), numpy)
    return f".{'transpose' if numpy else 'permute'}({', '.join(map(str, back))})"


def pairs_of(rank: int) -> list[tuple[int, int]]:
    """Two axes at a time, neighbours first."""
    return sorted(((i, j) for i in range(rank) for j in range(i + 1, rank)), key=lambda p: p[1] - p[0])


def exchanged(axes: tuple[Axis, ...], i: int, j: int) -> tuple[Axis, ...]:
    """Axes of which two have changed places."""
    items = list(axes)
    items[i], items[j] = items[j], items[i]
    return tuple(items)


def turn(i: int, j: int, rank: int, numpy: bool) -> str:
    """How two axes are exchanged."""
    if not numpy:
        return f".transpose({i}, {j})"
    order = list(range(rank))
    order[i], order[j] = order[j], order[i]
    return f".transpose({', '.join(map(str, order))})"


def pair_to_join(sizes: Sizes, before: Shape, after: Shape) -> tuple[int, int] | None:
    """The two axes to exchange so that the last axis of `after`, of which the first may not be known, is the two last.

    before: (B, H, T, d), after: (..., H*d) -> 1 and 2.
    """
    joined = sizes.resolve(after.suffix[-1].dim) if after.suffix else None
    for i, j in pairs_of(len(before.axes) - 1) if before.run is None else ():
        wanted = exchanged(before.axes, i, j)
        if len(wanted) > 2 and sizes.resolve(wanted[-2].dim * wanted[-1].dim) == joined:
            return i, j
    return None
