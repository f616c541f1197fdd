"""The closing lines of the formats for people."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Report

__all__ = ["count", "statistics", "summary"]


def summary(report: Report) -> str:
    """Return one line that says how many faults there are, and in how much."""
    files = count(report.files, "file")
    found = [
        count(number, severity)
        for severity in ("error", "warning", "note")
        if (number := sum(finding.severity == severity for finding in report.findings))
    ]
    return f"found {', '.join(found)} in {files}" if found else f"no faults found in {files}"


def statistics(report: Report) -> Iterator[str]:
    """Yield one line for each rule that found something, the most frequent first."""
    names = {finding.code: finding.name for finding in report.findings}
    counts = {code: sum(finding.code == code for finding in report.findings) for code in names}
    width = max((len(str(number)) for number in counts.values()), default=1)
    for code, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{number:>{width}} {code} {names[code]}"


def count(number: int, noun: str) -> str:
    """Return ``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
