"""What is known of the objects of a running program: a symbolic value beside every tensor and layer."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, Literal

import torch

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Kind, Layer, Tensor

__all__ = ["Shadows", "is_array", "kind_of"]


def is_array(value: object) -> bool:
    """Whether a value is a tensor of torch or an array of NumPy."""
    if isinstance(value, torch.Tensor):
        return True
    return type(value).__module__ == "numpy" and hasattr(value, "__array_interface__") and hasattr(value, "strides")


def kind_of(value: Any) -> Kind:
    """What the elements of a tensor or an array are."""
    if isinstance(value, torch.Tensor):
        dtype = value.dtype
        if dtype == torch.bool:
            return "bool"
        return "float" if dtype.is_floating_point else "complex" if dtype.is_complex else "int"
    letter: str = value.dtype.kind
    kinds: dict[str, Kind] = {"b": "bool", "f": "float", "c": "complex", "i": "int", "u": "int"}
    return kinds.get(letter, "")


class Shadows:
    """Symbolic values by the identity of objects; an object that has gone takes its value with it."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self._tensors: dict[int, tuple[Any, Tensor]] = {}
        self._layers: dict[int, tuple[Any, Layer]] = {}
        self._built: dict[int, tuple[Any, Mapping[str, object]]] = {}
        # Stated sizes that happen to be 1: they stand for any number, so that what needs the 1 is seen.
        self._ones: dict[Sym, Dim] = {}
        # Values that a constructor may wrap into parameters, by where their memory lies.
        self._memory: dict[int, Tensor] = {}

    # -- tensors

    def get(self, value: object) -> Tensor | None:
        """What is known of a tensor that has been met."""
        found = self._tensors.get(id(value))
        return found[1] if found is not None and found[0]() is value else None

    def put(self, value: Any, known: Tensor) -> None:
        """Remember what is known of a tensor."""
        self._tensors[id(value)] = (weakref.ref(value), known)
        if len(self._tensors) > 50_000:
            self._tensors = {i: pair for i, pair in self._tensors.items() if pair[0]() is not None}

    def wraps(self, value: torch.Tensor, known: Tensor) -> None:
        """Remember a new tensor by its memory, so that a parameter made of it is known."""
        pointer = _pointer(value)
        if pointer:
            self._memory[pointer] = known

    def of(self, value: Any, name: str = "") -> Tensor:
        """The symbolic value of a tensor, made where it is met for the first time."""
        known = self.get(value)
        if known is None:
            known = self._first(value)
            self.put(value, known)
        if name and not known.name:
            known.name = name
        return known

    def _first(self, value: Any) -> Tensor:
        learned = isinstance(value, torch.nn.Parameter)
        library: Literal["torch", "numpy"] = "torch" if isinstance(value, torch.Tensor) else "numpy"
        shape = self.plain(tuple(value.shape))
        event = -1
        if learned:
            made = self._memory.get(_pointer(value))
            if made is not None and self.agrees(made.shape, tuple(value.shape)):
                shape, event = made.shape, made.event
        return Tensor(shape, kind_of(value), library, learned=learned, event=event)

    def plain(self, sizes: tuple[int, ...]) -> Shape:
        """A shape of axes that nobody named."""
        return Shape(tuple(Axis(self.anonymous(n)) for n in sizes))

    @staticmethod
    def anonymous(size: int) -> Dim:
        """A size that nobody named, and its number; 0 and 1 are themselves."""
        return Dim.of(size) if size <= 1 else Dim.of(Sym(value=size, flexible=True))

    def one(self, name: str, owner: str) -> Dim:
        """A size that is stated by name and happens to be 1."""
        sym = Sym(name, owner=owner, origin="stated")
        self._ones[sym] = Dim.of(1)
        return Dim.of(sym)

    def agrees(self, shape: Shape, real: tuple[int, ...]) -> bool:
        """Whether a symbolic shape is the real one; a single unknown size is learnt from it."""
        shape = self.sizes.shape(shape)
        if shape.rank != len(real):
            return False
        return all(self._agrees(axis.dim, size) for axis, size in zip(shape.axes, real, strict=True))

    def _agrees(self, dim: Dim, size: int) -> bool:
        dim = self.sizes.resolve(dim)
        sym = dim.sym
        if dim.value is not None or sym is None or not sym.flexible:
            return dim.substitute(self._ones).value == size
        if size <= 1:
            self.sizes.bind(sym, Dim.of(size))
        elif sym.name:
            self.sizes.bind(sym, Dim.of(Sym(sym.name, value=size, flexible=True)))
        else:
            sym.value = size
        return True

    # -- modules

    def layer(self, module: object) -> Layer | None:
        found = self._layers.get(id(module))
        return found[1] if found is not None and found[0]() is module else None

    def put_layer(self, module: Any, layer: Layer) -> None:
        self._layers[id(module)] = (weakref.ref(module), layer)

    def built(self, module: object) -> Mapping[str, object]:
        """What the constructor of one of the author's objects was given."""
        found = self._built.get(id(module))
        return found[1] if found is not None and found[0]() is module else {}

    def put_built(self, module: Any, given: Mapping[str, object]) -> None:
        self._built[id(module)] = (weakref.ref(module), given)


def _pointer(value: torch.Tensor) -> int:
    try:
        return int(value.data_ptr())
    except RuntimeError:  # It has no memory: meta, fake, sparse.
        return 0
