"""One drawn input with what the function makes of it, and the comparisons that every property uses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from shapedoc.runtime.behave.contract import Argument, Contract, Result, evaluate
from shapedoc.runtime.behave.draw import Array, Inputs
from shapedoc.runtime.behave.subject import Subject

__all__ = ["Case", "Property", "Violation", "change", "differs", "fresh", "gap", "moved", "scale"]


@dataclass(frozen=True, slots=True)
class Violation:
    """How a property fails, in words and numbers.

    says: the fault in one sentence. gap: the size of the difference. changed: the second input, where there is one;
    inputs: the first, where it is not the one that was drawn.
    asserts: what a regression test asserts about the results, called by their names, and by their names with
    ``_after`` for the changed input.
    """

    says: str
    gap: float = 0.0
    changed: Inputs | None = None
    asserts: tuple[str, ...] = ()
    inputs: Inputs | None = None


@dataclass(slots=True)
class Case:
    """A function, its contract, sizes, inputs, and what the function gives for them."""

    subject: Subject
    contract: Contract
    sizes: dict[str, int]
    inputs: Inputs
    seed: int
    tolerance: float
    outputs: dict[str, Array] = field(default_factory=dict)

    def run(self, inputs: Inputs) -> dict[str, Array]:
        """What the function gives for other inputs; raises `Raised`."""
        return self.subject.call(inputs)

    def size(self, dim: str) -> int:
        """The number behind a size of the contract."""
        return evaluate(dim, self.sizes)

    def results(self, axis: str) -> list[tuple[Result, int]]:
        """The results that carry an axis, and where."""
        return [(r, r.dims.index(axis)) for r in self.contract.results if axis in r.dims]

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers that depend on the seed alone."""
        return np.random.default_rng(self.seed + 1)


class Property(Protocol):
    """One thing that a right function does, whatever its inputs."""

    name: str
    says: str

    def applies(self, subject: Subject) -> str:
        """Why it does not apply, or nothing."""

    def check(self, case: Case) -> Violation | None:
        """How it fails on one case."""


def change(case: Case, names: list[str], axis: str, index: int, row: int | None = None) -> Inputs:
    """The inputs with one slice of an axis drawn anew in the arguments named, tokens by other tokens.

    row: only this example of the batch is changed.
    """
    rng = case.rng
    batch = case.contract.batch
    changed = dict(case.inputs)
    for argument in case.contract.arguments:
        if argument.name not in names or axis not in argument.dims or argument.mask or argument.kind == "number":
            continue
        array = case.inputs[argument.name].copy()
        slot: list[int | slice] = [slice(None)] * array.ndim
        if row is not None and batch in argument.dims:
            slot[argument.dims.index(batch)] = row
        slot[argument.dims.index(axis)] = index
        key = tuple(slot)
        array[key] = fresh(argument, array[key], case, rng)
        changed[argument.name] = array
    return changed


def fresh(argument: Argument, old: Array, case: Case, rng: np.random.Generator) -> Array:
    """Other values for a piece of an argument: every token another one, every number moved by about one and a half."""
    if argument.kind == "int":
        values = case.size(argument.bound)
        step = rng.integers(1, max(values, 2), size=np.shape(old))
        new = (old + step) % values
        if argument.pad is not None and values > 2:
            new = np.where(new == argument.pad, (new + 1) % values, new)
            new = np.where(new == old, (new + 1) % values, new)
        return np.asarray(new)
    return np.asarray(old + rng.normal(size=np.shape(old)) + 1.5)


def gap(before: Array, after: Array) -> Array:
    """Elementwise distance; where both are not finite alike it is zero, where only one is, infinite."""
    a, b = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    with np.errstate(invalid="ignore"):
        distance = np.abs(a - b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0.0, np.nan_to_num(distance, nan=np.inf, posinf=np.inf))


def moved(before: Array, after: Array, axis: int, tolerance: float) -> dict[int, float]:
    """The positions of an axis where two arrays differ, with the largest distance there."""
    distance = gap(before, after)
    flat = distance.max(axis=tuple(i for i in range(distance.ndim) if i != axis)) if distance.ndim > 1 else distance
    limit = tolerance * scale(before)
    return {i: float(d) for i, d in enumerate(flat) if d > limit}


def differs(before: Array, after: Array, tolerance: float) -> float:
    """The largest distance of two arrays where it is more than rounding, else zero; infinite for other shapes."""
    if np.shape(before) != np.shape(after):
        return float("inf")
    largest = float(gap(before, after).max(initial=0.0))
    return largest if largest > tolerance * scale(before) else 0.0


def scale(array: Array) -> float:
    """The size of the numbers in an array, at least one."""
    finite = np.abs(np.asarray(array, dtype=float))
    finite = finite[np.isfinite(finite)]
    return max(1.0, float(finite.max(initial=0.0)))
