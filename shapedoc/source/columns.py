"""Columns of ``ast`` are UTF-8 bytes; those of the ir are characters."""

from __future__ import annotations

import ast
import sys
from bisect import bisect_left

__all__ = ["to_characters"]

if sys.version_info >= (3, 12):
    _Placed = ast.expr | ast.stmt | ast.arg | ast.excepthandler | ast.keyword | ast.pattern | ast.type_param
else:
    _Placed = ast.expr | ast.stmt | ast.arg | ast.excepthandler | ast.keyword | ast.pattern
if sys.version_info >= (3, 14):
    _Interpolated = ast.JoinedStr | ast.TemplateStr
else:
    _Interpolated = ast.JoinedStr
_DECORATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def to_characters(tree: ast.Module, lines: list[str]) -> None:
    """Rewrite the columns of every node that starts or ends on a line that is not ASCII.

    Only subtrees that touch such a line are visited. The inside of an f-string is left alone.
    """
    wide = [number for number, line in enumerate(lines, 1) if not line.isascii()]
    maps = {number: _column_map(lines[number - 1]) for number in wide}
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, _Placed):
            first, last = node.lineno, node.end_lineno or node.lineno
            if isinstance(node, _DECORATED):
                pending.extend(node.decorator_list)
            found = bisect_left(wide, first)
            if found == len(wide) or wide[found] > last:
                continue
            if first in maps:
                node.col_offset = maps[first][node.col_offset]
            if last in maps:
                node.end_col_offset = maps[last][node.end_col_offset or 0]
            if isinstance(node, _Interpolated):
                continue
            if isinstance(node, _DECORATED):
                pending.extend(child for child in ast.iter_child_nodes(node) if child not in node.decorator_list)
                continue
        pending.extend(ast.iter_child_nodes(node))


def _column_map(line: str) -> list[int]:
    """The character that each byte of a line begins or belongs to."""
    columns = [index for index, character in enumerate(line) for _ in character.encode()]
    columns.append(len(line))
    return columns
