"""``gitlab``: a Code Quality report, which GitLab shows in merge requests.

Source: GitLab documentation, Code Quality, code quality report format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from shapedoc.core.finding import FileError, Finding, Report, Severity
from shapedoc.report.context import Context
from shapedoc.report.fingerprint import digest, fingerprints
from shapedoc.report.places import portable
from shapedoc.report.plain import one_line

__all__ = ["render"]

Issue = dict[str, str | dict[str, str | dict[str, int]]]

_SEVERITIES: dict[Severity, str] = {"error": "major", "warning": "minor", "note": "info"}


def render(report: Report, context: Context) -> Iterator[str]:
    """Yield one JSON array with an issue for each finding and each file that could not be read."""
    issues = [_finding(finding, mark, context) for finding, mark in fingerprints(report, context)]
    issues += [_error(error, context.root) for error in report.errors]
    yield json.dumps(issues, indent=2)


def _finding(finding: Finding, fingerprint: str, context: Context) -> Issue:
    cell = context.place(finding.path, finding.span).cell
    where = "" if cell is None else f"cell {cell}: "
    return {
        "description": one_line(f"{where}{finding.name}: {context.words(finding, finding.message)}"),
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": _location(finding.path, context.root, *context.file_lines(finding.path, finding.span)),
    }


def _error(error: FileError, root: str) -> Issue:
    return {
        "description": one_line(error.message),
        "check_name": "unreadable-file",
        "fingerprint": digest("unreadable-file", portable(error.path, root), error.message),
        "severity": "major",
        "location": _location(error.path, root, 1, 1),
    }


def _location(path: str, root: str, begin: int, end: int) -> dict[str, str | dict[str, int]]:
    return {"path": portable(path, root), "lines": {"begin": begin, "end": end}}
