"""Re-analysis: a candidate counts only where the edited text has lost the finding and gained none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit, OverlappingEdits, apply_edits
from shapedoc.core.span import Span
from shapedoc.core.trace import Event
from shapedoc.engine.analysis import Study
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.broadcasts import stretched
from shapedoc.prescribe.candidate import Candidate
from shapedoc.source.parse import SourceError

__all__ = ["Proof", "moved", "prove"]


@dataclass(frozen=True, slots=True)
class Proof:
    """A candidate after re-analysis.

    text: the edited file. cleared: the findings that are gone, by their place among the bench's. after: what is seen
    in the edited text. refused: why it is no fix all the same, as a sentence, or "".
    """

    candidate: Candidate
    text: str
    cleared: frozenset[int]
    after: Study
    refused: str = ""


def prove(bench: Bench, candidate: Candidate, finding: Finding) -> Proof | None:
    """Analyse the text with the candidate's edits made; None where the finding stays or another comes.

    Knowledge must not be lost either: a fix that the analysis cannot follow would clear any finding.
    """
    try:
        text = apply_edits(bench.text, candidate.edits)
    except OverlappingEdits:
        return None
    if text == bench.text:
        return None
    try:
        if _stays(bench, finding, text, candidate.edits):
            return None
        after = bench.again(text)
    except SourceError:
        return None
    if not candidate.exact and _forgets(bench, after, candidate.edits):
        return None
    left = [_key(f, f.span) for f in after.findings]
    cleared, expected = set(), []
    for index, one in enumerate(bench.findings):
        place = moved(one.span, candidate.edits) if one.path == bench.path else one.span
        key = _key(one, place)
        expected.append(key)
        if key not in left:
            cleared.add(index)
    if any(key not in expected for key in left):
        return None
    wanted = next((i for i, one in enumerate(bench.findings) if one is finding), None)
    if wanted is None or wanted not in cleared:
        return None
    refused = candidate.refused or stretched(finding, after, candidate.edits)
    return Proof(candidate, text, frozenset(cleared), after, refused)


def _stays(bench: Bench, finding: Finding, text: str, edits: Sequence[Edit]) -> bool:
    """Whether the class of a finding, walked by itself, shows it before and after: so does the whole file, which walks
    every class by itself too, and takes longer.
    """
    name = finding.function.partition(".")[0]
    if finding.path != bench.path or all(entry != f"{name}.__init__" for entry, *_ in bench.trace.entries):
        return False
    if _key(finding, finding.span) not in [_key(f, f.span) for f in bench.alone(bench.text, name).findings]:
        return False
    place = moved(finding.span, edits)
    return _key(finding, place) in [_key(f, f.span) for f in bench.alone(text, name).findings]


def _key(finding: Finding, span: Span) -> tuple[str, int, str, str]:
    return finding.code, span.line, finding.tensor, finding.path


def _forgets(bench: Bench, after: Study, edits: Sequence[Edit]) -> bool:
    """Whether something outside the edited lines was known before and is not known any more."""
    edited = {line for edit in edits for line in range(edit.span.line, edit.span.end_line + 1)}
    now = {(event.span.line, event.op) for event in after.trace.events if _known(event)}
    for event in bench.trace.events:
        if event.span.path or event.span.line in edited or not _known(event):
            continue
        if (moved(event.span, edits).line, event.op) not in now:
            return True
    lines = {moved(Span(line, 0, line, 0), edits).line for line in edited}
    return bool(_all_lost(after.trace.events, lines) - _all_lost(bench.trace.events, edited))


def _all_lost(events: Iterable[Event], lines: set[int]) -> set[str]:
    """The operations on these lines that no walk could follow."""
    lost: set[str] = set()
    followed: set[str] = set()
    for event in events:
        if not event.span.path and event.span.line in lines:
            (lost if event.lost else followed).add(event.op)
    return lost - followed


def _known(event: Event) -> bool:
    return event.shape is not None and event.sizes is not None and event.sizes.shape(event.shape).rank is not None


def moved(span: Span, edits: Iterable[Edit]) -> Span:
    """Where a span's first line is after edits that stand before it."""
    shift = 0
    for edit in edits:
        place = edit.span
        if (place.end_line, place.end_column) <= (span.line, span.column):
            shift += edit.text.count("\n") - (place.end_line - place.line)
    return Span(span.line + shift, span.column, span.end_line + shift, span.end_column, span.path)
