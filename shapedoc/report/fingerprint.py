"""A name for each finding that stays when lines above it come and go, so that tools know it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256

from shapedoc.core.finding import Finding, Report
from shapedoc.core.text import split_lines
from shapedoc.report.context import Context
from shapedoc.report.places import portable

__all__ = ["digest", "fingerprints"]


def fingerprints(report: Report, context: Context) -> Iterator[tuple[Finding, str]]:
    """Yield each finding with its fingerprint, 64 hexadecimal digits; no two of a report are equal.

    It rests on the rule, the file, the function, the tensor and the words of the faulty line, and not on the line's
    number; findings that are equal in all of these are counted.
    """
    lines: dict[str, list[str]] = {}
    seen: Counter[tuple[str, ...]] = Counter()
    for finding in report.findings:
        if finding.path not in lines:
            lines[finding.path] = split_lines(context.text_of(finding.path) or "")
        parts = (
            finding.code,
            portable(finding.path, context.root),
            _cell(finding, context),
            finding.function,
            finding.tensor,
            _words(lines[finding.path], finding.span.line) or finding.message,
        )
        seen[parts] += 1
        yield finding, digest(*parts, str(seen[parts]))


def digest(*parts: str) -> str:
    """Return one hash of several texts."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _cell(finding: Finding, context: Context) -> str:
    cell = context.place(finding.path, finding.span).cell
    return "" if cell is None else str(cell)


def _words(lines: list[str], line: int) -> str:
    return " ".join(lines[line - 1].split()) if line <= len(lines) else ""
