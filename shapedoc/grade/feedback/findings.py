"""The linter's findings in a submission, at the student's lines, and the shape flow of what it saw."""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.core.finding import Finding
from shapedoc.grade.assignment import Language
from shapedoc.grade.result import LintFinding

__all__ = ["Look", "look"]

_NAME = "submission.py"


@dataclass(frozen=True, slots=True)
class Look:
    """What the linter says of a submission. lines: its text. flow: an SVG, or nothing."""

    findings: tuple[LintFinding, ...] = ()
    lines: tuple[str, ...] = ()
    flow: str = ""

    def line(self, number: int | None) -> str:
        """The text of a line, 1-based, without its indent; nothing for one that there is not."""
        if number is None or not 1 <= number <= len(self.lines):
            return ""
        return self.lines[number - 1].strip()[:160]


def look(source: str, language: Language) -> Look:
    """Lint a submission's text, and draw its shape flow where there is a finding.

    The linter reads the text and runs nothing of it. A text that it cannot read gives no findings: what is wrong with
    it was told when it was loaded.
    """
    from shapedoc.engine.analysis import study
    from shapedoc.engine.request import Settings
    from shapedoc.source.parse import SourceError, TooDeep

    lines = tuple(source.splitlines())
    try:
        seen = study(_NAME, source, Settings())
    except (SourceError, TooDeep, RecursionError):
        return Look(lines=lines)
    found = [finding for finding in seen.findings if finding.severity != "note"]
    found.sort(key=lambda finding: (finding.span.line, finding.span.column, finding.code))
    flow = ""
    if found:
        from shapedoc.grade.pages.words import picture_words
        from shapedoc.report.svg import shape_flow

        flow = str(shape_flow(seen.trace, found, words=picture_words(language)))
    return Look(tuple(_told(finding, lines) for finding in found), lines, flow)


def _told(finding: Finding, lines: tuple[str, ...]) -> LintFinding:
    line = finding.span.line
    source = lines[line - 1].rstrip()[:160] if 1 <= line <= len(lines) else ""
    return LintFinding(
        finding.code,
        finding.name,
        finding.severity,
        line,
        finding.span.column + 1,
        finding.message,
        source,
        finding.help,
    )
