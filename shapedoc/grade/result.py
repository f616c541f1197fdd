"""What marking a submission gives: plain data, the same for the same submission and seed, with one form in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from math import isfinite
from types import UnionType
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from shapedoc.grade.assignment import HintLevel, Language, Visibility

__all__ = [
    "Accuracy",
    "Evidence",
    "GradedSubmission",
    "ItemResult",
    "ItemStatus",
    "LintFinding",
    "Pictures",
    "Status",
    "Value",
    "Weights",
    "from_json",
    "to_json",
]

Status = Literal["passed", "failed", "timeout", "memory", "crash", "blocked", "not_gradable"]
ItemStatus = Literal["passed", "partial", "failed", "not_run"]
_Made = TypeVar("_Made")
_LEVELS: tuple[HintLevel, ...] = ("property", "input", "line", "fix")


@dataclass(frozen=True, slots=True)
class Value:
    """An input or an output as it is shown: ``text`` has its numbers, or says how large it is."""

    name: str
    text: str
    shape: tuple[int, ...] = ()
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The smallest failing input, and what the submission makes of it.

    says: the fault in one sentence, with numbers and the student's own names. call: what was called. gap: the largest
    distance from what is right; None where it is not finite, or there is nothing to measure. line: of the submission,
    1-based; a notebook counts the lines of the cells that are run together.
    """

    says: str
    call: str = ""
    inputs: tuple[Value, ...] = ()
    output: Value | None = None
    expected: Value | None = None
    gap: float | None = None
    line: int | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item of the rubric, marked.

    title, says: in the language of the result. reason: one sentence on an item that could not be run. mistake: the
    name of the mistake that was recognised, such as ``mask-after-softmax``, whatever the language; the class page
    clusters by it. hint: 80 to 160 words with one approach, or where an earlier item has
    the same mistake, which one. fix: the step to take, for hint level ``fix`` only.
    cases, right: how many inputs were drawn, and how many of them were answered rightly.
    """

    id: str
    title: str
    says: str
    status: ItemStatus
    points: float
    max_points: float
    visibility: Visibility = "visible"
    hint_level: HintLevel = "fix"
    reason: str = ""
    evidence: Evidence | None = None
    hint: str = ""
    fix: str = ""
    mistake: str = ""
    cases: int = 0
    right: int = 0

    def is_shown(self, *, published: bool = False) -> bool:
        """Whether a student may see how this item went; `published`: the due date is over and the grades are out."""
        return self.visibility == "visible" or (published and self.visibility != "hidden")

    def for_student(self, *, published: bool = False) -> ItemResult:
        """This item as a student may see it: a hidden one, or one of level ``property``, keeps the property only."""
        level = _LEVELS.index(self.hint_level if self.is_shown(published=published) else "property")
        if level == 0:
            return replace(self, evidence=None, hint="", fix="", mistake="", cases=0, right=0)
        evidence = self.evidence
        if evidence is not None and level < 2:
            evidence = replace(evidence, line=None, source="")
        if level < 3:
            return replace(self, evidence=evidence, hint=self.hint if level == 2 else "", fix="")
        return self


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A finding of the linter at the student's line; line and column are 1-based."""

    code: str
    name: str
    severity: str
    line: int
    column: int
    message: str
    source: str = ""
    help: str = ""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of attention beside the right ones: rows are queries, columns keys; padding marks columns, or cells.

    item: the id of the item that they belong to. A number may be ``nan`` or infinite.
    """

    item: str
    title: str
    got: tuple[tuple[float, ...], ...]
    expected: tuple[tuple[float, ...], ...]
    padding: tuple[tuple[bool, ...], ...] = ()
    queries: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracy against length: the submission, its baseline, and from where on it passes, for each length."""

    item: str
    title: str
    lengths: tuple[int, ...]
    accuracy: tuple[float, ...]
    baseline: tuple[float, ...]
    passes: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Pictures:
    """What the reports draw. shape_flow: an SVG of the linter's trace, the first wrong axis red, or nothing."""

    weights: tuple[Weights, ...] = ()
    accuracy: tuple[Accuracy, ...] = ()
    shape_flow: str = ""


@dataclass(frozen=True, slots=True)
class GradedSubmission:
    """A submission, marked.

    execution_time_s stands apart from all that is compared: reports leave it out, so that the same seed gives the same
    bytes. message: why a submission could not be graded, or what ended it. file: the name of the file that was read.
    """

    name: str
    assignment: str
    title: str
    seed: int
    language: Language
    status: Status
    items: tuple[ItemResult, ...]
    score: float
    max_score: float
    findings: tuple[LintFinding, ...] = ()
    pictures: Pictures = Pictures()
    message: str = ""
    digest: str = ""
    file: str = ""
    execution_time_s: float = 0.0

    def to_json(self, *, timed: bool = True) -> str:
        """One line of JSON; ``timed=False`` leaves the execution time out."""
        return to_json(self if timed else replace(self, execution_time_s=0.0))

    @classmethod
    def from_json(cls, text: str) -> GradedSubmission:
        """Read what `to_json` wrote; raises ValueError for anything else."""
        return from_json(cls, text)

    def for_student(self, *, published: bool = False) -> GradedSubmission:
        """What a student may see of it: hidden items with their property only, and no picture that belongs to one."""
        items = tuple(item.for_student(published=published) for item in self.items)
        told = {i.id for i in items if i.hint_level != "property" and i.is_shown(published=published)}
        pictures = Pictures(
            tuple(p for p in self.pictures.weights if p.item in told),
            tuple(p for p in self.pictures.accuracy if p.item in told),
            self.pictures.shape_flow,
        )
        return replace(self, items=items, pictures=pictures)


def to_json(value: object) -> str:
    """A dataclass of this module as one line of JSON, keys sorted, numbers that are not finite as texts."""
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value


def from_json(kind: type[_Made], text: str) -> _Made:
    """Read a dataclass of this module; raises ValueError for a text that is not of its form."""
    try:
        value = _read(kind, json.loads(text))
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"no {kind.__name__}: {problem}") from None
    assert isinstance(value, kind)
    return value


def _read(kind: object, value: object) -> object:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        if value is None:
            return None
        return _read(next(one for one in get_args(kind) if one is not type(None)), value)
    if origin is tuple:
        return tuple(_read(get_args(kind)[0], one) for one in _list(value))
    if origin is Literal:
        if value not in get_args(kind):
            raise TypeError(f"{value!r} is none of {', '.join(map(repr, get_args(kind)))}")
        return value
    if isinstance(kind, type) and is_dataclass(kind):
        given = value if isinstance(value, dict) else {}
        hints = _hints(kind)
        return kind(**{name: _read(hints[name], one) for name, one in given.items()})
    if kind is float and isinstance(value, int | float | str) and not isinstance(value, bool):
        return float(value)
    if isinstance(kind, type) and type(value) is kind:
        return value
    raise TypeError(f"{value!r} where {getattr(kind, '__name__', kind)} is meant")


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} where a list is meant")
    return value


@cache
def _hints(kind: type) -> dict[str, object]:
    return get_type_hints(kind)
