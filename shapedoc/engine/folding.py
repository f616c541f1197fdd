"""What several findings tell alike is told once: at the first place, the others as labels.

It is done last, before a report is shown: comments silence each place for itself, and a fix mends each of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from shapedoc.core.finding import Finding, Report
from shapedoc.core.fix import Fix, overlap
from shapedoc.core.span import Label
from shapedoc.core.text import lines_in_words

__all__ = ["fold", "folded"]

# What each softmax normalises is a decision of its own; and so is each line that does not parse, each comment of ours.
_EACH_BY_ITSELF = ("SD401", "SD402", "SD403", "SD9")
# A function whose comments are out of date is one thing to look at.
_BY_FUNCTION = frozenset(("SD701",))


def fold(report: Report) -> None:
    """Tell once what several findings of a report tell alike, and count it once."""
    report.findings = folded(report.findings)
    rules = Counter(finding.code for finding in report.findings)
    report.statistics = replace(report.statistics, rules=dict(sorted(rules.items())))


def folded(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, those of one fault as one.

    Of one fault are those of a rule and a file that name the same cause, that say the same of one function but for the
    tensor that they say it of, or that tell of one tensor on one line: code that another file calls is followed from
    there too. Statements of one function that are out of date are told at once. What is told where it is wrong is not
    told again where another file calls that, and a softmax over a single element is not told as one over another axis.
    """
    findings = _without_callers(_without_singletons(list(findings)))
    groups: list[list[Finding]] = []
    group_of: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        keys = list(_keys(finding))
        group = next((group_of[key] for key in keys if key in group_of), None)
        if group is None:
            group = []
            groups.append(group)
        group.append(finding)
        for key in keys:
            group_of.setdefault(key, group)
    return [_as_one(sorted(group, key=_place)) for group in groups]


def _without_singletons(findings: list[Finding]) -> list[Finding]:
    """The findings without those of a wrong axis where it is told that the axis has a single element."""
    single = {(f.path, f.span.line, f.span.column) for f in findings if f.code == "SD402"}
    return [f for f in findings if f.code != "SD401" or (f.path, f.span.line, f.span.column) not in single]


def _without_callers(findings: list[Finding]) -> list[Finding]:
    """The findings without those at a call of another file's code, in which the same fault is found by itself."""
    places = {(f.code, f.function, f.path, f.span.line) for f in findings if f.function}
    told: list[Finding] = []
    for f in findings:
        others = {label.span for label in f.labels if label.span.path not in ("", f.path)}
        if not any((f.code, f.function, span.path, span.line) in places for span in others):
            told.append(f)
    return told


def _keys(finding: Finding) -> Iterator[tuple[str, ...]]:
    """What findings of one fault have in common; nothing where each is told by itself."""
    if finding.code.startswith(_EACH_BY_ITSELF):
        return
    rule = (finding.code, finding.severity, finding.path)
    for cause in finding.causes:
        yield (*rule, "cause", cause)
    yield (*rule, "message", finding.function, _of_no_tensor(finding))
    if finding.tensor:
        yield (*rule, "line", finding.function, finding.tensor, str(finding.span.line))
    if finding.code in _BY_FUNCTION and finding.function:
        yield (*rule, "function", finding.function)


def _of_no_tensor(finding: Finding) -> str:
    """The message without the name of the tensor."""
    if not finding.tensor:
        return finding.message
    return re.sub(rf"(?<!\w){re.escape(finding.tensor)}(?!\w)", "…", finding.message)


def _place(finding: Finding) -> tuple[int, int]:
    return finding.span.line, finding.span.column


def _as_one(group: Sequence[Finding]) -> Finding:
    """The first of the findings, with the places of the others."""
    first, *others = group
    if not others:
        return first
    labels = {label.span: label for label in first.labels}
    for other in others:
        labels[other.span] = _here(first, other)
    lines = {other.span.line for other in others} - {first.span.line}
    return replace(
        first,
        labels=tuple(labels.values()),
        notes=(*first.notes, f"the same on {lines_in_words(lines)}") if lines else first.notes,
        fix=_together(group),
    )


def _here(first: Finding, other: Finding) -> Label:
    """A label at another place of the fault: which tensor it is there."""
    known = other.tensor and (other.tensor, other.actual) != (first.tensor, first.actual)
    shape = f" is {other.actual}" if other.actual else ""
    return Label(other.span, f"the same here: {other.tensor}{shape}" if known else "the same here")


def _together(group: Sequence[Finding]) -> Fix | None:
    """The fixes of all places as one, where each has one and no two want the same text; else that of the first."""
    first = group[0].fix
    fixes = [finding.fix for finding in group if finding.fix is not None]
    edits = list(dict.fromkeys(edit for fix in fixes for edit in fix.edits))
    apart = not any(overlap(one, other) for one, other in combinations(edits, 2))
    if first is None or len(fixes) < len(group) or any(fix.safety != first.safety for fix in fixes) or not apart:
        return first
    return replace(first, edits=tuple(edits))
