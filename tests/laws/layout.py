"""The same program in another layout: lines broken in brackets, blank lines, other quotes."""

from __future__ import annotations

import ast
from itertools import pairwise
from random import Random

from tests.laws.tokens import Change, changed, tokens

__all__ = ["reformatted"]


def reformatted(text: str, random: Random) -> str:
    """The program as another formatter may leave it; its tree is the same."""
    result = _blank_lines(_broken_lines(_other_quotes(text, random), random), random)
    assert ast.dump(ast.parse(result)) == ast.dump(ast.parse(text))
    return result


def _broken_lines(text: str, random: Random) -> str:
    """New lines after opening brackets and commas inside brackets, where no comment follows on the line."""
    found = tokens(text)
    changes: list[Change] = []
    for token, after in pairwise(found):
        inside = after.depth > 0 or token.text in ("(", "[", "{")
        if not inside or token.text not in ("(", "[", "{", ",") or after.kind == "COMMENT":
            continue
        if "\n" not in text[token.end : after.start] and random.random() < 0.3:
            changes.append((token.end, after.start, "\n" + " " * random.choice((0, 4, 8, 13))))
    return changed(text, changes)


def _other_quotes(text: str, random: Random) -> str:
    changes: list[Change] = []
    for token in tokens(text):
        inner = token.text[1:-1]
        simple = token.kind == "STRING" and token.text[0] in "'\"" and not token.text.startswith(("'''", '"""'))
        if simple and not set(inner) & set("'\"\\{") and random.random() < 0.5:
            quote = "'" if token.text[0] == '"' else '"'
            changes.append((token.start, token.end, f"{quote}{inner}{quote}"))
    return changed(text, changes)


def _blank_lines(text: str, random: Random) -> str:
    """Blank lines before statements, but not between a comment and what it stands above."""
    lines = text.split("\n")
    starts = {node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
    inside = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and not hasattr(node, "body")
        for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }
    placed: list[str] = []
    for number, line in enumerate(lines, 1):
        above = lines[number - 2].strip() if number > 1 else ""
        free = number in starts - inside and not above.startswith(("#", "@")) and not above.endswith("\\")
        if free and random.random() < 0.2:
            placed += [""] * random.randint(1, 2)
        placed.append(line)
    return "\n".join(placed)
