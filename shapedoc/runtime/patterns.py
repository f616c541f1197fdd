"""What two calls have in common that differ in the numbers of their sizes alone."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

__all__ = ["pattern_of", "shape_of"]


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The sizes of a tensor or an array; None for anything else, and for tensors without sizes, such as nested ones."""
    try:
        shape = getattr(value, "shape", None)
    except Exception:
        return None
    return shape if isinstance(shape, tuple) else None


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
    elif (shape := shape_of(value)) is not None:
        parts += (kind, getattr(value, "dtype", None))
        for size in shape:
            parts.append(seen.setdefault(size, len(seen)))
    elif isinstance(getattr(value, "training", None), bool) and hasattr(value, "named_parameters"):
        _append_module(value, parts, seen)
    else:
        parts += (kind, id(value))


# A module of more parts is told by its identity alone: to look at all of them costs more than it saves.
_MOST_PARTS = 200
_made_of: weakref.WeakKeyDictionary[Any, tuple[tuple[object, ...], tuple[int, ...]] | None] = (
    weakref.WeakKeyDictionary()
)


def _append_module(module: Any, parts: list[object], seen: dict[object, int]) -> None:
    described = None
    if type(module).__hash__ is not None:
        if module not in _made_of:
            _made_of[module] = _described(module)
        described = _made_of[module]
    if described is None:
        parts += (type(module), id(module), module.training)
        return
    settings, sizes = described
    parts += (type(module), module.training, settings)
    for size in sizes:
        parts.append(seen.setdefault(size, len(seen)))


def _described(module: Any) -> tuple[tuple[object, ...], tuple[int, ...]] | None:
    """The layers and settings of a module, and the sizes of its parameters and buffers; None for a large one."""
    settings: list[object] = []
    sizes: list[int] = []
    for name, part in module.named_modules():
        settings += (name, type(part))
        for key, value in vars(part).items():
            if key.startswith("_") or key == "training":
                continue
            settings += (key, value if isinstance(value, _PLAIN) else id(value))
        if len(settings) > 8 * _MOST_PARTS:
            return None
    for name, tensor in (*module.named_parameters(), *module.named_buffers()):
        settings += (name, tensor.dtype, len(tensor.shape))
        sizes += tensor.shape
    return tuple(settings), tuple(sizes)


_PLAIN = (int, float, str, bool, type(None))
