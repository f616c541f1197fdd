"""Two statements of one parameter that cannot both hold: which of them is wrong, nobody knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from shapedoc.source.contracts.stated import Named, StatedShape

__all__ = ["opposed"]

# What only people read: nothing has ever checked it.
_READ = frozenset(("comment", "docstring"))


def opposed(stated: Mapping[str, list[StatedShape]]) -> set[str]:
    """The parameters of a function of which two statements call one axis by names that a third one tells apart.

    ``x: (B, T, d)``, ``mask: (B, T)`` and, elsewhere, ``mask: (B, d)``.
    """
    told = {name: [s for s in shapes if s.sure] for name, shapes in stated.items()}
    several = [n for n, shapes in told.items() if len(shapes) > 1 and all(s.form in _READ for s in shapes)]
    if not several:
        return set()
    apart = {pair for shapes in told.values() for s in shapes for pair in combinations(sorted(_keys(s)), 2)}
    return {name for name in several if any(pair in apart for pair in _pairs(told[name]))}


def _keys(shape: StatedShape) -> set[str]:
    return {d.key for d in shape.dims if isinstance(d, Named)}


def _pairs(shapes: Iterable[StatedShape]) -> Iterator[tuple[str, str]]:
    """The names that two statements of one rank give to the same axis, sorted."""
    for one, other in combinations(shapes, 2):
        if len(one.dims) == len(other.dims):
            for a, b in zip(one.dims, other.dims, strict=True):
                if isinstance(a, Named) and isinstance(b, Named) and a.key != b.key:
                    yield (a.key, b.key) if a.key < b.key else (b.key, a.key)
