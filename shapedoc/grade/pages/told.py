"""What is told of an item that was marked, in the order of reading; every form of report lays out the same pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.grade.assignment import Language
from shapedoc.grade.messages import catalogue, say
from shapedoc.grade.pages.text import safe
from shapedoc.grade.result import GradedSubmission, ItemResult, LintFinding, Status, Value

__all__ = [
    "Piece",
    "described",
    "finding_pieces",
    "gap_text",
    "hint_heading",
    "kind_of",
    "pieces",
    "points_of",
    "standing",
]


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading, empty where none is needed, and a text: prose with code in backticks, or code as it stands."""

    heading: str
    text: str
    code: bool = False


def pieces(item: ItemResult, language: Language, *, published: bool = False) -> Iterator[Piece]:
    """Everything that a student may see of an item; of one that is not shown, the property."""
    yield Piece("", item.says)
    if not item.is_shown(published=published):
        yield Piece("", say(language, "report.hidden_item"))
        return
    item = item.for_student(published=published)
    if item.reason:
        yield Piece("", item.reason)
    if item.cases and item.status != "passed":
        yield Piece("", say(language, "report.cases", right=item.right, cases=item.cases))
    evidence = item.evidence
    if evidence is not None:
        yield Piece("", evidence.says)
        if evidence.call or evidence.inputs:
            told = [evidence.call, *(described(value, language) for value in evidence.inputs)]
            yield Piece(say(language, "report.input"), "\n".join(one for one in told if one), code=True)
        if evidence.output is not None:
            yield Piece(say(language, "report.output"), described(evidence.output, language), code=True)
        if evidence.expected is not None:
            yield Piece(say(language, "report.expected"), described(evidence.expected, language), code=True)
        if evidence.gap is not None:
            yield Piece("", say(language, "report.gap", gap=gap_text(evidence.gap)))
        if evidence.line is not None:
            yield Piece(say(language, "report.line", line=evidence.line), evidence.source, code=True)
    if item.hint:
        yield Piece(hint_heading(item, language), item.hint)
    if item.fix:
        yield Piece(say(language, "report.fix"), item.fix)


def hint_heading(item: ItemResult, language: Language) -> str:
    """What stands over a hint: the name of the mistake as well, where one was recognised."""
    title = catalogue(language).get(f"mistake.{item.mistake}.title")
    return say(language, "report.hint_of", title=title) if title else say(language, "report.hint")


def finding_pieces(finding: LintFinding, language: Language) -> Iterator[Piece]:
    """A finding of the linter at the student's line."""
    yield Piece("", f"{finding.code} {finding.name}: {finding.message}")
    yield Piece(say(language, "report.line", line=finding.line), finding.source, code=True)
    if finding.help:
        yield Piece(say(language, "report.fix"), finding.help, code=True)
    yield Piece("", say(language, "report.more", code=finding.code))


def described(value: Value, language: Language) -> str:
    """``weights (2, 5), float32`` and the numbers, which start on a line of their own where there are several lines."""
    kind = kind_of(value, language)
    head = f"{value.name}  {kind}".strip() if kind else value.name
    text = safe(value.text)
    if not text:
        return head
    return f"{head}\n{text}" if "\n" in text or kind else f"{head} = {text}" if head else text


def kind_of(value: Value, language: Language) -> str:
    """The shape and the kind of the numbers of a value, as ``(2, 5), float32``; empty where neither is known."""
    if not value.dtype:
        return ""
    shape = f"({', '.join(map(str, value.shape))}{',' if len(value.shape) == 1 else ''})"
    return say(language, "report.values_of", shape=shape, dtype=value.dtype)


def gap_text(gap: float) -> str:
    """A distance with as many digits as tell something."""
    return f"{gap:.3g}"


def standing(result: GradedSubmission, *, published: bool = False) -> tuple[Status, str]:
    """How a submission stands for its student, and in words: what is not shown decides nothing of it."""
    shown = [item for item in result.items if item.is_shown(published=published)]
    if result.status not in ("passed", "failed") or len(shown) == len(result.items):
        return result.status, say(result.language, f"report.status.{result.status}")
    if all(item.status == "passed" for item in shown):
        return "passed", say(result.language, "report.nothing_wrong")
    return "failed", say(result.language, "report.status.failed")


def points_of(items: tuple[ItemResult, ...], *, published: bool) -> tuple[float, float, float]:
    """Points and most points of what a student may see, and the most points of the rest."""
    shown = [item for item in items if item.is_shown(published=published)]
    rest = [item for item in items if not item.is_shown(published=published)]
    return sum(i.points for i in shown), sum(i.max_points for i in shown), sum(i.max_points for i in rest)
