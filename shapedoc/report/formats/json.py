"""``json``: the whole report for other tools, ``shapedoc-report/1``; ``schema.json`` beside this package states it.

Lines and columns count from 1; ``end_column`` is the column after the last character. In a notebook, ``cell`` counts
all cells from 1, and lines are those of the cell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from shapedoc.core.finding import Finding, Report
from shapedoc.core.fix import Fix
from shapedoc.core.statistics import Statistics
from shapedoc.report.context import Context, Place
from shapedoc.version import __version__

__all__ = ["SCHEMA", "render"]

SCHEMA = "shapedoc-report/1"

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def render(report: Report, context: Context) -> Iterator[str]:
    """Yield one JSON document."""
    yield json.dumps(
        {
            "schema": SCHEMA,
            "tool": {"name": "shapedoc", "version": __version__},
            "files": report.files,
            "findings": [_finding(finding, context) for finding in report.findings],
            "errors": [{"path": error.path, "message": error.message} for error in report.errors],
            "statistics": _statistics(report.statistics, context),
        },
        indent=2,
    )


def _statistics(known: Statistics, context: Context) -> dict[str, Json]:
    understood = known.understanding
    return {
        "lines": known.lines,
        "analysed": known.analysed,
        "rules": dict(known.rules),
        "expressions": {"all": understood.expressions, "rank": understood.rank, "shape": understood.shape},
        "unknown": [
            {"reason": loss.reason, "places": loss.places, "example": _place(context.place(loss.path, loss.span))}
            for loss in understood.losses
        ],
    }


def _finding(finding: Finding, context: Context) -> dict[str, Json]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        **_place(context.place(finding.path, finding.span)),
        "function": finding.function,
        "message": context.words(finding, finding.message),
        "tensor": finding.tensor,
        "actual": finding.actual,
        "expected": finding.expected,
        "labels": [
            {**_place(context.place(finding.path, label.span)), "text": context.words(finding, label.text)}
            for label in finding.labels
        ],
        "why": context.words(finding, finding.why),
        "help": context.words(finding, finding.help),
        "fix": _fix(finding.fix, finding.path, context) if finding.fix else None,
        "test": finding.test,
    }


def _fix(fix: Fix, path: str, context: Context) -> dict[str, Json]:
    return {
        "description": fix.description,
        "safety": fix.safety,
        "verified": fix.verified,
        "edits": [{**_place(context.place(path, edit.span)), "text": edit.text} for edit in fix.edits],
    }


def _place(place: Place) -> dict[str, Json]:
    span = place.span
    return {
        "path": place.path,
        "cell": place.cell,
        "line": span.line,
        "column": span.column + 1,
        "end_line": span.end_line,
        "end_column": span.end_column + 1,
    }
