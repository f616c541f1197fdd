"""What a run shows and what reading the same code shows, brought together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from os.path import realpath

from shapedoc.core.finding import Finding
from shapedoc.runtime.recording import Recording

__all__ = ["combined", "executed"]


def executed(recording: Recording) -> dict[str, set[str]]:
    """The watched files that ran, and which of their functions did: path -> names; "" is the file itself."""
    found: dict[str, set[str]] = {}
    for path, function in recording.recorder.activations.executed:
        found.setdefault(realpath(path), {""}).add(function)
    return found


def combined(
    shown: Iterable[Finding],
    read: Iterable[Finding],
    ran: Mapping[str, set[str]],
    raised: Finding | None,
    handled: Collection[tuple[str, int]] = (),
) -> list[Finding]:
    """The findings of a run, then those of the text in functions that ran; a crash that none explains comes first.

    One for each rule and line. handled: paths and lines where something raised that the program dealt with; what the
    text says of them is left out.
    """
    found: dict[tuple[str, str, int], Finding] = {}
    dealt = {(realpath(path), line) for path, line in handled}
    of_text = [f for f in read if f.function in ran.get(realpath(f.path), ()) and not _is_dealt_with(f, dealt)]
    for finding in [*shown, *of_text]:
        found.setdefault((finding.code, realpath(finding.path), finding.span.line), finding)
    findings = list(found.values())
    if raised is not None and not any(_explains(f, raised) for f in findings):
        findings.insert(0, raised)
    return findings


def _is_dealt_with(finding: Finding, dealt: Collection[tuple[str, int]]) -> bool:
    spans = [finding.span, *(label.span for label in finding.labels)]
    path = realpath(finding.path)
    return any((path, line) in dealt for s in spans for line in range(s.line, s.end_line + 1))


def _explains(finding: Finding, raised: Finding) -> bool:
    """Whether a finding of a rule stands on, or points at, the line that raised."""
    if finding.severity == "note" or realpath(finding.path) != realpath(raised.path):
        return False
    spans = [finding.span, *(label.span for label in finding.labels)]
    return any(s.line <= raised.span.line <= s.end_line for s in spans)
