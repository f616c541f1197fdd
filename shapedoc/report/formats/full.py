"""``full``: each finding with its source lines, the reason, and one step to take."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Report
from shapedoc.report.context import Context
from shapedoc.report.remarks import remarks
from shapedoc.report.snippet import gutter_width, snippets
from shapedoc.report.summary import statistics, summary

__all__ = ["render"]


def render(report: Report, context: Context) -> Iterator[str]:
    """Yield every finding, a blank line after each, then the counts if asked for, then one line for all."""
    for finding in report.findings:
        yield from _finding(finding, context)
        yield ""
    if context.statistics:
        yield from statistics(report, context)
        yield ""
    yield summary(report)


def _finding(finding: Finding, context: Context) -> Iterator[str]:
    palette = context.palette
    colour = palette.severity(finding.severity)
    head = palette.paint(colour, f"{finding.severity}[{finding.code}]")
    yield f"{head} {palette.paint(palette.strong, f'{finding.name}: {context.words(finding, finding.message)}')}"
    yield from snippets(finding, context, palette)
    indent = " " * (gutter_width(finding, context) + 1)
    for key, text in remarks(finding, context):
        mark = palette.paint(palette.gutter, "=")
        name = palette.paint(palette.help if key == "help" else palette.strong, f"{key}:")
        first, *rest = text.splitlines() or [""]
        yield f"{indent}{mark} {name} {first}".rstrip()
        hanging = " " * (len(indent) + len(key) + len("= : "))
        yield from (f"{hanging}{line}".rstrip() for line in rest)
