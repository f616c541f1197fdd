"""``sarif``: what the linter and the rubric find in the submissions, as SARIF 2.1.0, for code scanning services.

An item that fails is a result too, at the line that its evidence names, else at the first one. In a notebook lines
are those of the cells that are run together, which its file does not have: such results stand at its first line, and
say the line in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shapedoc.core.finding import Finding, Report, Severity
from shapedoc.core.span import Span
from shapedoc.grade.exports.handing import Handing
from shapedoc.grade.messages import say
from shapedoc.grade.pages.text import safe_line
from shapedoc.grade.result import GradedSubmission, ItemResult, LintFinding
from shapedoc.report.context import Context
from shapedoc.report.formats import sarif

__all__ = ["FILE", "ONE_EACH", "SUFFIX", "render"]

SUFFIX, ONE_EACH, FILE = ".sarif", False, ""


def render(results: Sequence[GradedSubmission], handing: Handing) -> str:
    """One SARIF document with one run."""
    findings = [finding for result in results for finding in _findings(result)]
    report = Report(files=len(results), findings=findings, paths=[_path(result) for result in results])
    return "\n".join(sarif.render(report, Context())) + "\n"


def _findings(result: GradedSubmission) -> Iterator[Finding]:
    for finding in result.findings:
        yield _of_linter(finding, result)
    for item in result.items:
        if item.status != "passed":
            yield _of_item(item, result)


def _of_linter(finding: LintFinding, result: GradedSubmission) -> Finding:
    severity: Severity = "error" if finding.severity == "error" else "warning"
    if finding.severity == "note":
        severity = "note"
    return Finding(
        code=finding.code,
        name=safe_line(finding.name),
        severity=severity,
        path=_path(result),
        span=_span(finding.line, finding.column, result),
        message=_placed(finding.message, finding.line, result),
        help=safe_line(finding.help),
    )


def _of_item(item: ItemResult, result: GradedSubmission) -> Finding:
    line = item.evidence.line if item.evidence else None
    says = item.evidence.says if item.evidence else item.reason or item.says
    return Finding(
        code=f"{result.assignment}/{item.id}",
        name=item.id,
        severity="error",
        path=_path(result),
        span=_span(line or 1, 1, result),
        message=_placed(says, line, result) or item.id,
        why=safe_line(item.says),
        help=safe_line(item.fix),
    )


def _path(result: GradedSubmission) -> str:
    return safe_line(result.file or result.name) or "submission"


def _in_notebook(result: GradedSubmission) -> bool:
    return (result.file or result.name).lower().endswith(".ipynb")


def _span(line: int, column: int, result: GradedSubmission) -> Span:
    if _in_notebook(result):
        return Span(1, 0, 1, 0)
    at = max(column, 1) - 1
    return Span(max(line, 1), at, max(line, 1), at)


def _placed(text: str, line: int | None, result: GradedSubmission) -> str:
    if line is None or not _in_notebook(result):
        return safe_line(text)
    return f"{say(result.language, 'report.line', line=line)}: {safe_line(text)}"
