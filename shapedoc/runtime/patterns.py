"""What two calls have in common that differ in the numbers of their sizes alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["pattern_of"]


def pattern_of(values: Iterable[Any], modes: Iterable[object] = ()) -> tuple[object, ...]:
    """The arguments of a call up to their sizes: dtypes, numbers, modules, and which sizes are equal.

    Two calls of one pattern differ in nothing but the numbers that their sizes are; 0 and 1 are no such numbers.
    """
    parts: list[object] = [*modes]
    seen: dict[object, int] = {0: 0, 1: 1}
    for value in values:
        _append(value, parts, seen)
    return tuple(parts)


def _append(value: Any, parts: list[object], seen: dict[object, int]) -> None:
    kind = type(value)
    if value is None or kind in (bool, str, float):
        parts += (kind, value)
    elif kind is int:
        parts += (kind, value, seen.get(value, -1))
    elif kind in (tuple, list):
        parts += (kind, len(value))
        for one in value:
            _append(one, parts, seen)
    elif kind is dict:
        parts += (kind, *value)
        for one in value.values():
            _append(one, parts, seen)
    elif (shape := getattr(value, "shape", None)) is not None and isinstance(shape, tuple):
        parts += (kind, getattr(value, "dtype", None))
        for size in shape:
            parts.append(seen.setdefault(size, len(seen)))
    else:
        parts += (kind, id(value), getattr(value, "training", None))
