"""Findings that no rule makes from the trace: those about the file itself and about its suppressions."""

from __future__ import annotations

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.rules.tool import sd901, sd902
from shapedoc.source.parse import OlderPython, SourceError
from shapedoc.source.suppress import Suppression

__all__ = ["syntax_error", "unused_suppression"]


def syntax_error(path: str, problem: SourceError, what: str = "file") -> Finding:
    """Return SD901 for a file that does not parse, or a cell of a notebook; a note where an older Python does."""
    older = problem.version if isinstance(problem, OlderPython) else ""
    return Finding(
        code=sd901.RULE.code,
        name=sd901.RULE.name,
        severity="note" if older else sd901.RULE.severity,
        path=path,
        span=Span(problem.line, problem.column, problem.line, problem.column + 1),
        message=f"the {what} is written for {older}: not read"
        if older
        else f"the {what} does not parse: {problem.message}",
        why=f"what does not parse cannot be analysed; the other {what}s were",
        help="port it to the Python of today, or exclude the file" if older else "mend the syntax here",
    )


def unused_suppression(path: str, suppression: Suppression) -> Finding:
    """Return SD902 for a comment that silences nothing."""
    line, column, end_line, end_column = suppression.span
    meant = f"{' or '.join(suppression.codes)} is not found" if suppression.codes else "nothing is found"
    return Finding(
        code=sd902.RULE.code,
        name=sd902.RULE.name,
        severity=sd902.RULE.severity,
        path=path,
        span=Span(line, column, end_line, end_column),
        message=f"this comment suppresses nothing: {meant} on its line",
        why="a suppression that has outlived its finding hides the next one",
        help="remove the comment, or the codes that are not found",
    )
