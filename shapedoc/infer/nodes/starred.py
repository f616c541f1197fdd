"""Names that ``from m import *`` may have brought: bound nowhere in the file, and of one meaning in the field.

A star import of a tensor library brings what the library has under that name. One of a file that is not read
(``from config import *``) brings the libraries that it imports itself: ``torch`` is torch, by whichever way it came. A
constant (``VOCAB_SIZE``) that it brings is a setting of it.
"""

from __future__ import annotations

from shapedoc.core.value import Library, Seq, Value
from shapedoc.infer.machine import Machine
from shapedoc.infer.nodes import library
from shapedoc.infer.nodes.attributes import is_constant, is_foreign
from shapedoc.ops.registry import find, find_layer

__all__ = ["brought", "with_star"]

_LIBRARIES = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "np": "numpy",
    "numpy": "numpy",
    "math": "math",
    "einops": "einops",
}
_OF_TORCH = frozenset(("torch", "nn", "F"))
_MEMBERS = frozenset(("torch.nn.Module", "torch.nn.Parameter", "torch.nn.init", "torch.nn.functional", "torch.nn"))


def with_star(known: Value | None, found: Value) -> Value:
    """What the star imports of a file name, one more added."""
    return Seq((*known.items, found) if isinstance(known, Seq) else (found,), "tuple")


def brought(m: Machine, name: str) -> Value | None:
    """What a name stands for that only a star import can have bound; None where that is not known."""
    stars = m.lookup("*")
    if not isinstance(stars, Seq):
        return None
    foreign = ""
    for star in reversed(stars.items):
        if not isinstance(star, Library):
            continue
        qualified = f"{star.qualified}.{name}"
        if qualified in _MEMBERS or any(f(qualified) is not None for f in (find, find_layer, library.find)):
            return Library(qualified)
        if star.qualified.startswith(".") or is_foreign(star.qualified):
            foreign = foreign or star.qualified
    if foreign and is_constant(name):
        return m.setting(f"{foreign}.{name}")
    usual = _LIBRARIES.get(name) if foreign else None
    if usual is None or (name in _OF_TORCH and "torch" not in m.trace.text):
        return None
    return Library(usual)
