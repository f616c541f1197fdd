"""Inputs drawn anew for every submission: sizes and arrays from a contract, as data in the assignment says."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shapedoc.runtime.behave.contract import Argument, Contract, ContractError, evaluate, parse

__all__ = ["Array", "DrawError", "Drawn", "Lengths", "Recipe", "generator", "sizes_of"]

Array = NDArray[Any]
Lengths = Literal["varied", "full", "one", "none"]
_LENGTHS: Mapping[object, Lengths] = {"varied": "varied", "full": "full", "one": "one", "none": "none"}


class DrawError(ValueError):
    """A recipe that cannot be followed; the text says which part."""


def generator(seed: int, name: str, purpose: str) -> np.random.Generator:
    """Random numbers for one submission and one purpose: who has one cannot work out another's."""
    digest = hashlib.sha256(f"{seed}\0{name}\0{purpose}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))


@dataclass(frozen=True, slots=True)
class Drawn:
    """One input: the numbers behind the axis names, and a value for every argument, in the contract's order."""

    sizes: Mapping[str, int]
    inputs: Mapping[str, Array | int | float]

    @property
    def numbers(self) -> int:
        """How many numbers it holds: the smallest failing input is the one with the fewest."""
        return sum(int(np.size(value)) for value in self.inputs.values())

    def array(self, name: str) -> Array:
        """One argument as an array."""
        return np.asarray(self.inputs[name])


# Every case of every submission reads the contract of its item.
_parsed = lru_cache(256)(parse)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the inputs of a function are drawn.

    contract: its arguments and results by axis names, as in `shapedoc.behave`; a number takes its value from ``sizes``
    where they name it. sizes: one input each, the smallest first; a size is a number or a range ``[least, most]``.
    lengths: rows of any length, all full, some of one key, some of none. dtype: of float arguments. spread: their
    standard deviation.
    """

    contract: Contract
    sizes: tuple[Mapping[str, int | tuple[int, int]], ...]
    lengths: Lengths = "varied"
    dtype: Literal["float32", "float64"] = "float32"
    spread: float = 1.0

    @classmethod
    def of(cls, contract: object, sizes: object, lengths: object, dtype: object, spread: object) -> Recipe:
        """Read a recipe from an assignment; raises DrawError."""
        if not isinstance(contract, str):
            raise DrawError('needs `contract`, such as "query: B d, keys: B T d -> scores: B T"')
        try:
            read = _parsed(contract)
        except ContractError as problem:
            raise DrawError(f"`contract`: {problem}") from None
        if not isinstance(lengths, str) or lengths not in _LENGTHS:
            raise DrawError(f"`lengths` is {lengths!r}; it must be one of {', '.join(map(str, _LENGTHS))}")
        if dtype not in ("float32", "float64"):
            raise DrawError(f"`dtype` is {dtype!r}; it must be float32 or float64")
        if isinstance(spread, bool) or not isinstance(spread, int | float) or spread <= 0:
            raise DrawError(f"`spread` is {spread!r}; it must be a number above zero")
        return cls(read, sizes_of(sizes, read), _LENGTHS[lengths], dtype, float(spread))

    def draw(self, rng: np.random.Generator) -> list[Drawn]:
        """An input for every entry of ``sizes``."""
        return [self.one(chosen, rng, short=index % 2 == 1) for index, chosen in enumerate(self.sizes)]

    def one(
        self, chosen: Mapping[str, int | tuple[int, int]], rng: np.random.Generator, *, short: bool = False
    ) -> Drawn:
        """One input. short: no row has the full length, as in a batch that was padded further than it needs."""
        sizes = {
            name: size if isinstance(size, int) else int(rng.integers(size[0], size[1] + 1))
            for name, size in chosen.items()
        }
        return Drawn(sizes, {a.name: self._argument(a, sizes, rng, short) for a in self.contract.arguments})

    def _argument(
        self, argument: Argument, sizes: dict[str, int], rng: np.random.Generator, short: bool
    ) -> Array | int | float:
        shape = tuple(_size_of(dim, sizes) for dim in argument.dims)
        match argument.kind:
            case "number":
                return sizes.get(argument.name, argument.value)
            case "lengths":
                return self._lengths(shape, _size_of(argument.bound, sizes), rng, short)
            case "int":
                low = 0 if argument.pad is None else argument.pad + 1
                return rng.integers(low, _size_of(argument.bound, sizes), size=shape)
            case "float":
                return np.asarray(rng.normal(size=shape) * self.spread, dtype=self.dtype)
        keep = np.arange(shape[-1]) < self._lengths(shape[:-1], shape[-1], rng, short)[..., None]
        if argument.kind == "additive":
            return np.where(keep, 0.0, -np.inf).astype(self.dtype)
        return keep if argument.kind == "keep" else ~keep

    def _lengths(self, shape: tuple[int, ...], longest: int, rng: np.random.Generator, short: bool) -> Array:
        """Lengths in no order; where there are two rows or more, one is the longest and one is not."""
        if self.lengths == "full":
            return np.full(shape, longest, dtype=np.int64)
        longest -= int(short and longest > 2)
        special = {"one": 1, "none": 0}.get(self.lengths)
        flat = rng.integers(1, longest + 1, size=int(np.prod(shape)))
        if flat.size > 1:
            flat[0] = longest
        if flat.size:
            flat[-1] = special if special is not None else rng.integers(1, max(longest, 2))
        return rng.permutation(flat).reshape(shape)


def _size_of(dim: str, sizes: dict[str, int]) -> int:
    """The number behind a size; most are plain names."""
    return sizes[dim] if dim in sizes else evaluate(dim, sizes)


def sizes_of(value: object, contract: Contract) -> tuple[Mapping[str, int | tuple[int, int]], ...]:
    """Read ``sizes`` of an assignment; raises DrawError where a name is missing, unknown, or its size is none."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise DrawError("needs `sizes`, one table for each input, such as [{B = 1, T = 2}, {B = [2, 4], T = [3, 6]}]")
    needed = set(contract.axis_names())
    numbers = {a.name for a in contract.arguments if a.kind == "number"}
    read: list[Mapping[str, int | tuple[int, int]]] = []
    for table in value:
        if not isinstance(table, Mapping):
            raise DrawError(f"`sizes`: {table!r} is no table of sizes")
        one = {name: _size(name, size) for name, size in table.items()}
        if missing := sorted(needed - set(one)):
            raise DrawError(f"`sizes`: {dict(table)} lacks {', '.join(missing)}")
        if strangers := sorted(set(one) - needed - numbers):
            raise DrawError(f"`sizes`: the contract has no axis {strangers[0]!r}; it has {', '.join(sorted(needed))}")
        read.append(one)
    return tuple(read)


def _size(name: str, value: object) -> int | tuple[int, int]:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    if isinstance(value, list | tuple) and len(value) == 2 and all(type(one) is int for one in value):
        least, most = value
        if 1 <= least <= most:
            return (least, most)
    raise DrawError(f"`sizes`: {name} is {value!r}; a size is a number from 1, or a range [least, most]")
