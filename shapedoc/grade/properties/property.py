"""What a property of the library is: it draws cases, and judges in the parent what the child gave for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from shapedoc.grade.assignment import Assignment, RubricItem
from shapedoc.grade.draws import Array, Drawn
from shapedoc.grade.plan import Framework, Outcome, Reply, Step

__all__ = ["Case", "Fault", "Heard", "Property", "Setting"]


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Where a property is asked: the item, its parameters with those of its shared ``draw``, and random numbers."""

    assignment: Assignment
    item: RubricItem
    parameters: Mapping[str, object]
    framework: Framework
    rng: np.random.Generator
    name: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One thing that is tried, and marked right or wrong as a whole.

    steps: for the child; two cases may share one. main: the id of the step whose result is judged and shown. function:
    what it calls. expected: the right results, of an oracle, or None where the reference module is run on the same
    steps. facts: what else the property needs to judge.
    """

    id: str
    steps: tuple[Step, ...]
    main: str
    function: str
    drawn: Drawn | None = None
    expected: tuple[Array, ...] | None = None
    oracle: str = ""
    results: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """How a case is wrong.

    kind: an entry ``fault.<kind>`` of the catalogue, which ``values`` fill in. output, expected: the arrays to show,
    cut to the row that shows the fault. gap: the distance, infinite where there is none to measure. line: where the
    submission raised. changed: the arguments of a second call, as far as they differ from those of the case.
    """

    kind: str
    values: Mapping[str, object] = field(default_factory=dict)
    output: Array | None = None
    expected: Array | None = None
    result: str = ""
    gap: float | None = None
    line: int | None = None
    changed: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """What came back: from the submission, and from the reference module where one was run."""

    outcome: Outcome
    reference: Outcome | None

    def reply(self, step: str) -> Reply:
        """The submission's reply to a step."""
        return self.outcome.replies.get(step) or Reply(step, "not_run")

    def right(self, case: Case) -> tuple[Array, ...] | None:
        """The right results of a case, or None where the reference module did not give them."""
        if case.expected is not None:
            return case.expected
        reply = self.reference.replies.get(case.main) if self.reference is not None else None
        return reply.arrays if reply is not None and reply.status == "ok" else None


class Property(Protocol):
    """One thing that a right submission does."""

    name: str

    def check(self, setting: Setting) -> str:
        """Why the item's parameters will not do, or nothing."""

    def cases(self, setting: Setting) -> list[Case]:
        """The cases, the smallest first."""

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """How a case is wrong, or nothing where it is right."""
