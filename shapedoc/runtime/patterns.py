"""What two calls have in common that differ in the numbers of their sizes alone."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

__all__ = ["Pattern", "Seen", "pattern_of", "shape_of"]


_MOST_OF_ONE_FORM = 64


class Pattern(NamedTuple):
    """What was given up to its numbers, and which of the sizes are equal.

    form: all but sizes. sizes: for each size which of those before it it is equal to, by its number among them; 0 and 1
    are themselves, and -1 stands for a number of the program's own that no size before it is equal to.
    """

    form: Hashable
    sizes: tuple[int, ...]

    def covers(self, other: Pattern) -> bool:
        """Whether all sizes that are equal in this pattern are so in the other one, of the same form.

        0 and 1 must stand where they stood: what is made with them is another thing.
        """
        if self.sizes == other.sizes:
            return True
        if len(self.sizes) != len(other.sizes):
            return False
        image: dict[int, int] = {}
        for mine, theirs in zip(self.sizes, other.sizes, strict=True):
            if (mine in (0, 1) or theirs in (0, 1)) and mine != theirs:
                return False
            if mine >= 0 and image.setdefault(mine, theirs) != theirs:
                return False
        return True


class Seen:
    """Patterns by their form, those that others cover left out."""

    def __init__(self) -> None:
        self._sizes: dict[Hashable, list[Pattern]] = {}
        self.count = 0

    def __contains__(self, pattern: Pattern) -> bool:
        return any(known.covers(pattern) for known in self._sizes.get(pattern.form, ()))

    def __len__(self) -> int:
        return self.count

    def add(self, pattern: Pattern) -> None:
        """Remember a pattern, unless one is known that covers it."""
        if pattern in self:
            return
        known = self._sizes.setdefault(pattern.form, [])
        known.append(pattern)
        if len(known) > _MOST_OF_ONE_FORM:
            del known[0]
        else:
            self.count += 1

    def clear(self) -> None:
        """Forget all of them."""
        self._sizes.clear()
        self.count = 0


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The sizes of a tensor or an array; None for anything else, and for tensors without sizes, such as nested ones."""
    try:
        shape = getattr(value, "shape", None)
    except Exception:
        return None
    return shape if isinstance(shape, tuple) else None


def pattern_of(values: Iterable[Any], modes: Iterable[object] = ()) -> Pattern:
    """The arguments of a call up to their sizes: dtypes, numbers, modules, and which sizes are equal.

    Two calls of one pattern differ in nothing but the numbers that their sizes are; 0 and 1 are no such numbers.
    """
    parts: list[object] = [*modes]
    sizes: list[int] = []
    seen: dict[object, int] = {0: 0, 1: 1}
    for value in values:
        _append(value, parts, sizes, seen)
    return Pattern(tuple(parts), tuple(sizes))


def _append(value: Any, parts: list[object], sizes: list[int], seen: dict[object, int]) -> None:
    kind = type(value)
    if value is None or kind in (bool, str, float):
        parts += (kind, value)
    elif kind is int:
        parts += (kind, value)
        sizes.append(seen.get(value, -1))
    elif kind in (tuple, list):
        parts += (kind, len(value))
        for one in value:
            _append(one, parts, sizes, seen)
    elif kind is dict:
        parts += (kind, *value)
        for one in value.values():
            _append(one, parts, sizes, seen)
    elif (shape := shape_of(value)) is not None:
        parts += (kind, getattr(value, "dtype", None), len(shape))
        for size in shape:
            sizes.append(seen.setdefault(size, len(seen)))
    elif isinstance(getattr(value, "training", None), bool) and hasattr(value, "named_parameters"):
        _append_module(value, parts, sizes, seen)
    else:
        parts += (kind, id(value))


# A module of more parts is told by its identity alone: to look at all of them costs more than it saves.
_MOST_PARTS = 200
_made_of: weakref.WeakKeyDictionary[Any, tuple[tuple[object, ...], tuple[int, ...]] | None] = (
    weakref.WeakKeyDictionary()
)


def _append_module(module: Any, parts: list[object], sizes: list[int], seen: dict[object, int]) -> None:
    described = None
    if type(module).__hash__ is not None:
        if module not in _made_of:
            _made_of[module] = _described(module)
        described = _made_of[module]
    if described is None:
        parts += (type(module), id(module), module.training)
        return
    settings, own = described
    parts += (type(module), module.training, settings)
    for size in own:
        sizes.append(seen.setdefault(size, len(seen)))


def _described(module: Any) -> tuple[tuple[object, ...], tuple[int, ...]] | None:
    """The layers and settings of a module, and its sizes, those of its parameters too; None for a large one."""
    settings: list[object] = []
    sizes: list[int] = []
    for name, part in module.named_modules():
        settings += (name, type(part))
        library = type(part).__module__.startswith("torch.nn.modules.")
        for key, value in vars(part).items():
            if key.startswith("_") or key == "training":
                continue
            if library and key in _SIZES and type(value) is int:
                settings.append(key)
                sizes.append(value)
            else:
                settings += (key, value if isinstance(value, _PLAIN) else id(value))
        if len(settings) > 8 * _MOST_PARTS:
            return None
    for name, tensor in (*module.named_parameters(), *module.named_buffers()):
        settings += (name, tensor.dtype, len(tensor.shape))
        sizes += tensor.shape
    return tuple(settings), tuple(sizes)


_PLAIN = (int, float, str, bool, type(None))
# Settings of library modules that are sizes of their inputs and outputs.
_SIZES = frozenset(("in_features", "out_features", "num_embeddings", "embedding_dim", "input_size", "hidden_size"))
