"""The closing lines of the formats for people."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Report
from shapedoc.core.statistics import Statistics
from shapedoc.report.context import Context

_REASONS = 10

__all__ = ["count", "statistics", "summary"]


def summary(report: Report) -> str:
    """Return one line that says how many faults there are, and in how much."""
    if not report.files:
        return "no file was read"
    files = count(report.files, "file")
    found = [
        count(number, severity)
        for severity in ("error", "warning", "note")
        if (number := sum(finding.severity == severity for finding in report.findings))
    ]
    told = f"found {', '.join(found)} in {files}" if found else f"no faults found in {files}"
    return f"{told}; {_not_read(report.old)}" if report.old else told


def _not_read(old: int) -> str:
    """What is said of files of which nothing else is told."""
    return f"{old:,} {'is' if old == 1 else 'are'} written for an older Python and not read (--notes tells which)"


def statistics(report: Report, context: Context) -> Iterator[str]:
    """Yield one line for each rule that found something, the most frequent first; then how much was understood."""
    names = {finding.code: finding.name for finding in report.findings}
    counts = {code: sum(finding.code == code for finding in report.findings) for code in names}
    width = max((len(str(number)) for number in counts.values()), default=1)
    for code, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{number:>{width}} {code} {names[code]}"
    if counts:
        yield ""
    yield from _understood(report.statistics, report.files, context)


def _understood(known: Statistics, files: int, context: Context) -> Iterator[str]:
    yield f"read {count(files, 'file')} with {count(known.lines, 'line')}, {known.analysed:,} of them about tensors"
    understood = known.understanding
    if understood.expressions:
        rank, shape = (f"{number / understood.expressions:.1%}" for number in (understood.rank, understood.shape))
        yield f"{count(understood.expressions, 'tensor expression')}: rank known of {rank}, whole shape of {shape}"
    if understood.losses:
        yield "knowledge is lost most often by:"
    width = max((len(str(loss.places)) for loss in understood.losses[:_REASONS]), default=1)
    for loss in understood.losses[:_REASONS]:
        yield f"  {loss.places:>{width}} {loss.reason} (first: {context.place(loss.path, loss.span)})"


def count(number: int, noun: str) -> str:
    """Return ``1 file``, ``2 files``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
