"""What sizes are called that have no name, by what the author writes where they stand.

The axes of an input are ``x.shape[0]`` and so on, whoever asks for them; a tensor that is made with a size that is
written out, ``torch.zeros(len(words), width)``, has that one. It is for reading only: a name that somebody gave says
that a size is a quantity of its own, and these do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.core.dim import ZERO, Dim, Sym
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Seq, SizeOf, SizePart, Tensor, Value

__all__ = ["Spelling"]

# The most letters of what is written for a size.
_SHORT = 40
_OPERATOR = re.compile(r"[-+*/% ]")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
# Ops whose operand of this name lists the axes of what they make.
_LISTED = {
    **dict.fromkeys(("zeros", "ones", "empty", "full", "new_zeros", "new_ones", "new_full", "new_empty"), "size"),
    **dict.fromkeys(("rand", "randn", "randint", "normal", "standard_normal", "random", "uniform"), "size"),
    **dict.fromkeys(("view", "reshape"), "shape"),
    "arange": "limits",
    "randperm": "n",
}
# Ops that make a tensor of a list, and the operand that is the list.
_OF_LISTS = {
    **dict.fromkeys(("tensor", "as_tensor", "LongTensor", "FloatTensor", "IntTensor", "BoolTensor"), "data"),
    **dict.fromkeys(("array", "asarray"), "data"),
    "stack": "tensors",
}


class Spelling:
    """What one entry of a trace calls the sizes that have no name: from `start` to `end`, with what `sizes` knows."""

    def __init__(self, trace: Trace, start: int, end: int, sizes: Sizes) -> None:
        self._trace = trace
        self.sizes = sizes
        self._events = trace.events[start:end]
        self._texts: dict[Sym, str] | None = None

    def tells(self, shape: Shape) -> bool:
        """Whether every size is a number, or made of sizes that have a name or can be written."""
        return shape.rank is not None and all(self._tells(axis.dim) for axis in shape.axes)

    def show_shape(self, shape: Shape) -> str:
        """The shape in the author's spelling."""
        shape = self.sizes.shape(shape)
        parts = [self._show(item.dim) if isinstance(item, Axis) else str(item) for item in shape.items]
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"

    def _show(self, dim: Dim) -> str:
        text = self.sizes.show(dim)
        if "?" not in text:
            return text
        dim = self.sizes.resolve(dim)
        called = {s: self.texts.get(s, "") if not s.name else s.name for s in dim.syms}
        if dim.sym is None:
            called = {s: f"({text})" if _OPERATOR.search(text) else text for s, text in called.items()}
        named = {s: Sym(text) if text else s for s, text in called.items()}
        return str(Dim({tuple(named[s] for s in monomial): count for monomial, count in dim.terms}))

    def _tells(self, dim: Dim) -> bool:
        if dim.const is not None or dim.named:
            return True
        dim = self.sizes.resolve(dim)
        return dim.const is not None or all(s.name or s in self.texts for s in dim.syms)

    @property
    def texts(self) -> dict[Sym, str]:
        """What is written for each of them, the first time."""
        if self._texts is None:
            self._texts = {}
            for event in self._events:
                self._read(event, self._texts)
        return self._texts

    def _read(self, event: Event, texts: dict[Sym, str]) -> None:
        for operand in event.operands:
            if isinstance(operand.value, Tensor) and operand.value.event < 0 and operand.value.source:
                self._note_input(operand.value, texts)
        if isinstance(event.result, Tensor):
            axes = self.sizes.shape(event.shape or event.result.shape)
            for place, text in self._written(event, axes.rank) if axes.rank else ():
                sym = self.sizes.resolve(axes.axes[place].dim).sym
                if sym is not None and not sym.name and sym.value is None:
                    texts.setdefault(sym, text)

    def _note_input(self, tensor: Tensor, texts: dict[Sym, str]) -> None:
        shape = self.sizes.shape(tensor.shape)
        for place, axis in enumerate(shape.axes if shape.rank is not None else ()):
            sym = self.sizes.resolve(axis.dim).sym
            if sym is not None and not sym.name and sym.value is None:
                texts.setdefault(sym, f"{tensor.source}.shape[{place}]")

    def _written(self, event: Event, rank: int) -> Iterator[tuple[int, str]]:
        """The axes of a result whose size is written out, and what is written."""
        listed = event.operand(_LISTED.get(event.short, "")) or event.operand("shape" if event.short in _LISTED else "")
        if listed is not None:
            parts = listed.parts or ((listed,) if not isinstance(listed.value, Seq) else ())
            if event.short == "arange" and len(parts) == 2 and _is_nothing(parts[0].value):
                parts = parts[1:]
            whole = len(parts) == rank and not any(_is_several(part.value) for part in parts)
            for i, part in enumerate(parts) if whole else ():
                text = self._text(part)
                if text and not text.startswith(("-", "*")):
                    yield i, text
        data = event.operand(_OF_LISTS.get(event.short, ""))
        if data is not None and _NAME.fullmatch(self._text(data)):
            dim = event.value("dim")
            place = dim.dim.const if isinstance(dim, Int) else 0
            if place is not None and -rank <= place < rank:
                yield place % rank, f"len({self._text(data)})"

    def _text(self, operand: Operand) -> str:
        span = operand.span
        if span is None or span.path or span.end_line != span.line:
            return ""
        text = self._trace.source(span)
        return text if len(text) <= _SHORT else ""


def _is_nothing(value: Value) -> bool:
    return isinstance(value, Int) and value.dim == ZERO


def _is_several(value: Value) -> bool:
    """Whether a value that stands where sizes do may be several of them."""
    return isinstance(value, Seq | SizeOf | SizePart | Tensor)
