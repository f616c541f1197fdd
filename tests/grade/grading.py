"""Grading in tests: one submission through the jail, the reference's outcome kept where it is the same."""

from __future__ import annotations

from pathlib import Path

from shapedoc.grade.assignment import Assignment, Language
from shapedoc.grade.jail.client import Jail
from shapedoc.grade.marking import Prepared, mark, prepare
from shapedoc.grade.plan import Limits, Outcome
from shapedoc.grade.result import GradedSubmission, ItemResult

__all__ = ["WRONG", "first_fault", "graded", "outcome_of", "written_mistakes"]

WRONG = Path(__file__).parent / "wrong"

_references: dict[str, Outcome] = {}


def outcome_of(jail: Jail, assignment: Assignment, source: str, *, seed: int = 1) -> tuple[Prepared, Outcome]:
    """What a submission gives, and for what; every submission of a test has one name, and so the same inputs."""
    prepared = prepare(assignment, name="student", seed=seed, source=source)
    limits = Limits(wall_s=240, cpu_s=int(assignment.time_s), memory_bytes=assignment.memory_bytes)
    return prepared, jail.run(source, prepared.plan, limits)


def graded(
    jail: Jail, assignment: Assignment, source: str, *, seed: int = 1, language: Language = "en", lint: bool = True
) -> GradedSubmission:
    """A submission, marked."""
    prepared, outcome = outcome_of(jail, assignment, source, seed=seed)
    reference = None
    if prepared.reference is not None:
        if prepared.reference_key not in _references:
            limits = Limits(wall_s=240, cpu_s=int(assignment.time_s))
            _references[prepared.reference_key] = jail.run(assignment.reference, prepared.reference, limits)
        reference = _references[prepared.reference_key]
    return mark(prepared, outcome, reference, source=source, language=language, lint=lint)


def first_fault(result: GradedSubmission) -> ItemResult:
    """The first item of the rubric that is not right: its hint is the one that a student reads first."""
    return next(item for item in result.items if item.status != "passed")


def written_mistakes(assignment: str) -> dict[str, tuple[frozenset[str], str]]:
    """The mistakes that were written by hand: by file, the names that fit, and the text."""
    found = {}
    for file in sorted((WRONG / assignment).glob("*.py")):
        text = file.read_text(encoding="utf-8")
        found[file.stem] = (frozenset(text.splitlines()[0].removeprefix("# mistake:").split()), text)
    return found
