"""A program as tokens with their places in the text, and edits by those places."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Change", "Token", "changed", "place_of", "tokens"]

Change = tuple[int, int, str]
"""Characters from and until, and what stands there instead."""

_NO_TEXT = (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.NL, tokenize.NEWLINE)


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its kind by name ("NAME", "COMMENT", …), its text, its place, and how many brackets hold it."""

    kind: str
    text: str
    start: int
    end: int
    depth: int


def tokens(text: str) -> list[Token]:
    """The tokens of a program that have a text of their own."""
    starts = _starts(text)
    found: list[Token] = []
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _NO_TEXT:
            continue
        depth -= token.string in (")", "]", "}")
        start, end = (starts[line - 1] + column for line, column in (token.start, token.end))
        found.append(Token(tokenize.tok_name[token.type], token.string, start, end, depth))
        depth += token.string in ("(", "[", "{")
    return found


def changed(text: str, changes: Iterable[Change]) -> str:
    """The text with these changes made; none of them overlap."""
    ordered = sorted(changes)
    assert all(end <= start for (_, end, _), (start, _, _) in pairwise(ordered))
    for start, end, replacement in reversed(ordered):
        text = text[:start] + replacement + text[end:]
    return text


def place_of(text: str, node: ast.expr | ast.arg | ast.stmt) -> tuple[int, int]:
    """Where a node stands in the text, whose columns ``ast`` counts in bytes."""
    starts, lines = _starts(text), text.split("\n")

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)


def _starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts
