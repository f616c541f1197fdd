"""Code that was commented out: what the author took away and left to be seen was not forgotten."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from shapedoc.source import ir

__all__ = ["set_aside"]


def set_aside(comments: Sequence[ir.Comment], function: ir.FunctionDef) -> frozenset[str]:
    """The names that lines of code in a function that are commented out hand to something.

    ``# scores = scores.masked_fill(mask == 0, -1e9)`` hands on `scores` and `mask`; ``# mask: (B, T)`` is prose.
    """
    first, last = function.span[0], function.span[2]
    inside = [c.text for c in comments if c.own_line and first <= c.span[0] <= last and "(" in c.text]
    return frozenset(name for text in inside for node in _code(text) for name in _handed(node))


def _code(text: str) -> Iterator[ast.AST]:
    code = text.lstrip("#").strip()
    try:
        yield from ast.walk(ast.parse(f"{code}\n    pass" if code.endswith(":") else code))
    except (SyntaxError, ValueError, RecursionError):
        return


def _handed(node: ast.AST) -> Iterator[str]:
    """The names among the arguments of a call, and in what a method is called of."""
    if not isinstance(node, ast.Call):
        return
    parts = [*node.args, *(keyword.value for keyword in node.keywords)]
    if isinstance(node.func, ast.Attribute):
        parts.append(node.func.value)
    yield from (n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name))
