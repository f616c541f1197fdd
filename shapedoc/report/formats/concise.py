"""``concise``: one line for each finding, which editors and greps understand."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Report
from shapedoc.report.context import Context
from shapedoc.report.summary import statistics, summary

__all__ = ["render"]


def render(report: Report, context: Context) -> Iterator[str]:
    """Yield ``path:line:column: severity[code] message`` for each finding, then the counts if asked for.

    In a notebook, the place is ``path:cell N:line:column``.
    """
    palette = context.palette
    for finding in report.findings:
        place = palette.paint(palette.strong, f"{context.place(finding.path, finding.span)}:")
        head = palette.paint(palette.severity(finding.severity), f"{finding.severity}[{finding.code}]")
        yield f"{place} {head} {context.words(finding, finding.message)}"
    if context.statistics:
        yield from statistics(report, context)
    yield summary(report)
