"""Comments that silence findings, written into a text: at line ends where a comment can stand, and where it counts."""

from __future__ import annotations

import io
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.core.span import Span
from shapedoc.core.text import split_lines
from shapedoc.source.ir import Comment, Module
from shapedoc.source.parse import normalise
from shapedoc.source.statements import StatementLines
from shapedoc.source.suppress import IGNORE

__all__ = ["ignore_edits", "lines_to_ignore_on"]


def lines_to_ignore_on(text: str, module: Module, findings: Iterable[Finding]) -> dict[int, list[Finding]]:
    """By line, the findings that a comment at its end can silence; a finding for which there is no line is left out.

    A line that already has such a comment is preferred, then the line where the finding starts, then the last of its
    statement: the one before may end in a backslash or inside a string.
    """
    closed = _lines_without_comments(text)
    if closed is None:
        return {}
    commented = {comment.span[0] for comment in module.comments if IGNORE.search(comment.text)}
    statements = StatementLines(module)
    chosen: defaultdict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        span = finding.reached or finding.span
        first, last = statements.of(span.line)
        possible = [line for line in dict.fromkeys((span.line, last, first)) if line not in closed]
        line = next((line for line in possible if line in commented), next(iter(possible), None))
        if line is not None:
            chosen[line].append(finding)
    return dict(chosen)


def ignore_edits(text: str, module: Module, codes: Mapping[int, Sequence[str]]) -> list[Edit]:
    """The edits that silence these codes on these lines: codes join a comment that is there, or make a new one."""
    lines = split_lines(text)
    comments = {comment.span[0]: comment for comment in module.comments}
    return [
        _edit(line, lines[line - 1].rstrip("\r\n"), comments.get(line), sorted(set(wanted)))
        for line, wanted in sorted(codes.items())
        if wanted
    ]


def _edit(line: int, content: str, comment: Comment | None, codes: list[str]) -> Edit:
    start = comment.span[1] if comment is not None else len(content)
    found = IGNORE.search(content, start) if comment is not None else None
    if found is not None and found[1] is not None:
        stated = found[2].rstrip(" \t,")
        column = found.start(2) + len(stated)
        joined = ", ".join(codes)
        return Edit(Span(line, column, line, found.end(2)), f", {joined}" if stated.strip() else joined)
    column = len(content.rstrip(" \t\f"))
    return Edit(Span(line, column, line, len(content)), f"  # shapedoc: ignore[{', '.join(codes)}]")


def _lines_without_comments(text: str) -> set[int] | None:
    """The lines at whose end no comment can stand: inside a string, or before a backslash; None where none can tell."""
    plain = normalise(text)
    closed = {number for number, line in enumerate(plain.split("\n"), 1) if line.endswith("\\")}
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(plain).readline):
            kind = tokenize.tok_name[token.type]
            if kind.endswith("STRING_START"):
                opened.append(token.start[0])
            elif kind.endswith("STRING_END") and opened:
                closed.update(range(opened.pop(), token.end[0]))
            elif token.type == tokenize.STRING:
                closed.update(range(token.start[0], token.end[0]))
            elif token.type == tokenize.COMMENT:
                closed.discard(token.start[0])
    except (tokenize.TokenError, SyntaxError):
        return None
    return closed
