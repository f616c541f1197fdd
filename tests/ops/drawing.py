"""Calls drawn at random, written once for torch, for NumPy and for the op table.

A sample is a function of a `Draw` that gives a `Call`. Sizes that it draws are `Size`, whole numbers that remember
the symbol they stand for through ``+ - *``, so that one call can be made with numbers and with names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.value import Kind

__all__ = ["Call", "D", "Draw", "L", "Packed", "Sample", "Size", "T"]

Element = TypeVar("Element")


class Size(int):
    """A size that was drawn: its number, and the polynomial of symbols that it stands for."""

    dim: Dim

    @staticmethod
    def of(number: int, dim: Dim) -> Size:
        """A size of this number that stands for this polynomial."""
        size = Size(number)
        size.dim = dim
        return size

    def __add__(self, other: int) -> Size:
        return Size.of(int(self) + int(other), self.dim + dim_of(other))

    def __sub__(self, other: int) -> Size:
        return Size.of(int(self) - int(other), self.dim - dim_of(other))

    def __mul__(self, other: int) -> Size:
        return Size.of(int(self) * int(other), self.dim * dim_of(other))

    def __neg__(self) -> Size:
        return Size.of(-int(self), -self.dim)

    __radd__ = __add__
    __rmul__ = __mul__


def dim_of(number: int) -> Dim:
    """The polynomial that a number stands for."""
    return number.dim if isinstance(number, Size) else Dim.of(int(number))


@dataclass(frozen=True, slots=True)
class T:
    """A tensor. fill: what every element is, 0 for whole numbers and truth values, 1 for others by default.

    array: an array of NumPy even where torch is called.
    """

    shape: Sequence[int]
    kind: Kind = "float"
    fill: int | None = None
    array: bool = False


@dataclass(frozen=True, slots=True)
class D:
    """A dtype by its name, such as "int64"."""

    name: str


@dataclass(frozen=True, slots=True)
class Packed:
    """A packed sequence: a padded one, none of whose sequences is shorter than the padding."""

    padded: T
    batch_first: bool = False


@dataclass(frozen=True, slots=True)
class L:
    """A layer that is passed to another: its kind, and what it is built with."""

    kind: str
    init: Sequence[object] = ()
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A call. init, options: for a layer, what it is built with.

    data: data decide a size or the number of results, so that they cannot be known. symbolic: whether the call can be
    made with names for numbers too (not where it relies on one number being larger than another). assumes: what is
    unknown of it is taken to be as people mean it (a chunk divides), so that it may turn out otherwise.
    """

    args: Sequence[object] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    init: Sequence[object] = ()
    options: Mapping[str, object] = field(default_factory=dict)
    data: bool = False
    symbolic: bool = True
    assumes: bool = False


class Draw:
    """What a sample draws from. name: the qualified name that is called."""

    # A size of 1 stays a plain number: no name stands for it.
    NUMBERS = (1, 2, 3, 4, 5, 7)

    def __init__(self, name: str, seed: int, symbols: dict[int, Sym]) -> None:
        self.name = name
        self.random = Random(f"{name} {seed}")
        self.symbols = symbols

    def size(self, *, least: int = 1) -> int:
        """A size."""
        return self.named(self.random.choice([n for n in self.NUMBERS if n >= least]))

    def other(self, than: int) -> int:
        """A size that is neither this one nor 1."""
        return self.named(self.random.choice([n for n in self.NUMBERS if n not in (1, than)]))

    def named(self, number: int) -> int:
        """A number as a size with a name: equal numbers have one name."""
        if number == 1:
            return 1
        if number not in self.symbols:
            self.symbols[number] = Sym(f"n{number}")
        return Size.of(number, Dim.of(self.symbols[number]))

    def sizes(self, count: int) -> list[int]:
        """So many sizes."""
        return [self.size() for _ in range(count)]

    def rank(self, low: int, high: int) -> int:
        """A number of axes."""
        return self.random.randint(low, high)

    number = rank

    def shape(self, low: int, high: int) -> list[int]:
        """The sizes of a tensor with so many axes."""
        return self.sizes(self.rank(low, high))

    def axis(self, rank: int) -> int:
        """The number of an axis, counted from either end."""
        return self.random.randint(-rank, rank - 1) if rank else self.random.choice([0, -1])

    def any_axis(self, rank: int) -> int:
        """The number of an axis; now and then of one that does not exist."""
        if self.wrong():
            return self.random.choice([rank, rank + 1, -rank - 1])
        return self.axis(rank)

    def sampled(self, elements: Sequence[Element]) -> Element:
        """One of these."""
        return self.random.choice(list(elements))

    def maybe(self) -> bool:
        """Yes or no."""
        return self.random.random() < 0.5

    def wrong(self) -> bool:
        """Whether to make the call a wrong one: a third of the time."""
        return self.random.random() < 0.33

    def broadcastable(self, shape: Sequence[int]) -> list[int]:
        """A shape that broadcasts with this one."""
        cut = self.random.randint(0, len(shape))
        return [n if self.random.random() < 0.7 else 1 for n in shape[cut:]]

    def spoilt(self, shape: Sequence[int]) -> list[int]:
        """The shape with one size changed, or an axis more or less."""
        shape = list(shape)
        how = self.random.choice(["size", "size", "more", "less"])
        if how == "more" or not shape:
            shape.insert(self.random.randint(0, len(shape)), self.size(least=2))
        elif how == "less":
            shape.pop(self.random.randrange(len(shape)))
        else:
            i = self.random.randrange(len(shape))
            shape[i] = self.other(shape[i])
        return shape


Sample = Callable[[Draw], Call]
