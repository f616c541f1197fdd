"""``github``: workflow commands, which GitHub Actions shows beside the lines of a pull request.

Source: GitHub documentation, Workflow commands for GitHub Actions.
"""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Report, Severity
from shapedoc.report.context import Context
from shapedoc.report.places import portable
from shapedoc.report.plain import plain
from shapedoc.report.remarks import told
from shapedoc.report.summary import statistics, summary

__all__ = ["render"]

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, context: Context) -> Iterator[str]:
    """Yield a command for each finding and each file that could not be read, then plain lines for the log."""
    for finding in report.findings:
        yield _command(_COMMANDS[finding.severity], _properties(finding, context), told(finding, context))
    for error in report.errors:
        place = {"file": portable(error.path, context.root), "title": "file that cannot be read"}
        yield _command("error", place, f"{error.path}: {error.message}")
    if context.statistics:
        yield from statistics(report, context)
    yield summary(report)


def _properties(finding: Finding, context: Context) -> dict[str, str]:
    """Return what the command says of the place; GitHub takes a column only where the place is within one line.

    Of a notebook, whose file is JSON, the line is the one of the file on which the code is written.
    """
    first, last = context.file_lines(finding.path, finding.span)
    notebook = context.place(finding.path, finding.span).cell is not None
    column = {"col": str(finding.span.column + 1)} if first == last and not notebook else {}
    return {
        "file": portable(finding.path, context.root),
        "line": str(first),
        "endLine": str(last),
        **column,
        "title": f"{finding.code} {finding.name}",
    }


def _command(name: str, properties: dict[str, str], message: str) -> str:
    stated = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {stated}::{_data(message)}"


def _data(text: str) -> str:
    return plain(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
