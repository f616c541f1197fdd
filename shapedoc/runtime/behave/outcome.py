"""What `behave` found: properties that hold, that fail, and that do not apply."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shapedoc.runtime.behave.draw import Array, Inputs

__all__ = ["Behaviour", "Failure"]

_MOST_NUMBERS = 24


@dataclass(frozen=True, slots=True)
class Failure:
    """One property that does not hold.

    property: its name. says: how it fails, on the smallest failing input. sizes, inputs, outputs: that input and what
    the function makes of it. test: a pytest module that fails now and passes when the fault is gone, or nothing.
    """

    property: str
    rule: str
    says: str
    gap: float
    sizes: dict[str, int]
    inputs: Inputs
    changed: Inputs | None
    outputs: dict[str, Array]
    test: str

    def __str__(self) -> str:
        """The fault, the input and what is right, for a terminal."""
        sizes = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
        lines = [f"{self.property}: {self.says}", f"  right: {self.rule}", f"  smallest failing input, with {sizes}:"]
        lines += [f"    {name} = {_shown(array)}" for name, array in self.inputs.items()]
        for name, array in (self.changed or {}).items():
            if name not in self.inputs or not _equal(array, self.inputs[name]):
                old = self.inputs.get(name)
                lines.append(f"    then {_changed(name, old, array) or f'{name} = {_shown(array)}'}")
        lines += [f"    gives {name} = {_shown(array)}" for name, array in self.outputs.items()]
        return "\n".join(lines)


@dataclass(slots=True)
class Behaviour:
    """The outcome of all properties; true where none failed.

    held: names of the properties that hold. failures: the others. skipped: those that do not apply, and why.
    """

    name: str
    held: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether every property that applies holds."""
        return not self.failures

    def __str__(self) -> str:
        """The failures in full, then what holds."""
        tried = len(self.held) + len(self.failures)
        if not self.failures:
            return f"{self.name}: {tried} properties hold: {', '.join(self.held)}"
        lines = [f"{self.name}: {len(self.failures)} of {tried} properties fail"]
        for failure in self.failures:
            lines += ["", *("  " + line for line in str(failure).split("\n"))]
        lines += ["", f"  what holds: {', '.join(self.held) or 'nothing'}"]
        if any(failure.test for failure in self.failures):
            lines.append("  a regression test of it: print(outcome.test())")
        return "\n".join(lines)

    __repr__ = __str__

    def raise_if_failed(self) -> None:
        """Raise AssertionError with every failure, for use in a test."""
        if self.failures:
            raise AssertionError("\n\n".join(str(failure) for failure in self.failures))

    def test(self) -> str:
        """The regression tests of all failures in one module, or nothing."""
        found = [failure.test for failure in self.failures if failure.test]
        if not found:
            return ""
        heads: list[str] = []
        bodies: list[str] = []
        for text in found:
            head, _, body = text.partition("\n\n\n")
            heads += [line for line in head.splitlines() if line not in heads]
            bodies.append(body.rstrip("\n"))
        return "\n".join(heads) + "\n\n\n" + "\n\n\n".join(bodies) + "\n"


def _equal(a: Array, b: Array) -> bool:
    return a.shape == b.shape and bool(np.array_equal(a, b))


def _changed(name: str, before: Array | None, after: Array) -> str:
    """Which piece of a large array is another, "" for a small one, which is shown."""
    if before is None or before.shape != after.shape or after.size <= _MOST_NUMBERS:
        return ""
    differ = np.nonzero(before != after)
    places = [np.unique(each) for each in differ]
    parts = [_slice(p, n) for p, n in zip(places, after.shape, strict=True)]
    return f"{name}[{', '.join(parts)}] is drawn anew"


def _slice(places: Array, size: int) -> str:
    first, last = int(places[0]), int(places[-1])
    if len(places) == size:
        return ":"
    if first == last:
        return str(first)
    return f"{first}:{last + 1}" if last - first + 1 == len(places) else str(places.tolist())


def _shown(array: Array) -> str:
    array = np.asarray(array)
    if array.size > _MOST_NUMBERS:
        kinds = {"f": "numbers", "i": "whole numbers", "u": "whole numbers", "b": "truth values"}
        return f"{kinds.get(array.dtype.kind, 'values')} of shape {array.shape}"
    if array.dtype.kind == "f":
        return np.array2string(array, precision=3, suppress_small=True, separator=", ").replace("\n", "")
    return np.array2string(array, separator=", ").replace("\n", "")
