"""``concise``: one line for each finding, which editors and greps understand."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Report
from shapedoc.report.context import Context
from shapedoc.report.summary import statistics, summary

__all__ = ["render"]


def render(report: Report, context: Context) -> Iterator[str]:
    """Yield ``path:line:column: severity[code] message`` for each finding, then the counts if asked for."""
    palette = context.palette
    for finding in report.findings:
        place = palette.paint(palette.strong, f"{finding.path}:{finding.span.line}:{finding.span.column + 1}:")
        head = palette.paint(palette.severity(finding.severity), f"{finding.severity}[{finding.code}]")
        yield f"{place} {head} {finding.message}"
    if context.statistics:
        yield from statistics(report)
    yield summary(report)
