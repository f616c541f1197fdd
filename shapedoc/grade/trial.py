"""One item between the drawing and the marks: what was asked, and how each case went."""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.grade.assignment import RubricItem
from shapedoc.grade.properties.property import Case, Fault, Setting

__all__ = ["Asked", "Tried"]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One item, with what was drawn for it."""

    setting: Setting
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """One item after the run: the fault of every case, None where it is right."""

    asked: Asked
    faults: tuple[Fault | None, ...]

    @property
    def item(self) -> RubricItem:
        """The item of the rubric."""
        return self.asked.setting.item

    @property
    def right(self) -> int:
        """How many cases are right."""
        return sum(fault is None for fault in self.faults)

    def failing(self) -> list[tuple[Case, Fault]]:
        """The cases that are wrong, in the order they were drawn; those that were not reached only if all are so."""
        wrong = [(c, f) for c, f in zip(self.asked.cases, self.faults, strict=True) if f is not None]
        return [(c, f) for c, f in wrong if f.kind != "not_run"] or wrong

    def smallest(self) -> tuple[Case, Fault] | None:
        """The failing case with the fewest numbers in its input."""
        return min(self.failing(), key=lambda pair: pair[0].drawn.numbers if pair[0].drawn else 0, default=None)
