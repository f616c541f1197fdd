"""Which lines belong to one statement."""

from __future__ import annotations

from shapedoc.source.ir import (
    ClassDef,
    Expr,
    For,
    FunctionDef,
    If,
    Module,
    OpaqueStmt,
    Stmt,
    Try,
    While,
    With,
)
from shapedoc.source.walk import statements

__all__ = ["StatementLines"]


class StatementLines:
    """First and last line of the statement on each line of a module.

    A compound statement counts with its header alone, and each of its decorators by itself; lines on which several
    statements stand belong to all of them together.
    """

    def __init__(self, module: Module) -> None:
        self._extents: dict[int, tuple[int, int]] = {}
        for statement in statements(module):
            for first, last in _extents(statement):
                if first != last:
                    self._join(first, last)

    def of(self, line: int) -> tuple[int, int]:
        """The lines of the statement on `line`; the line itself where none spans several."""
        return self._extents.get(line, (line, line))

    def _join(self, first: int, last: int) -> None:
        for line in (first, last):
            known = self._extents.get(line, (first, last))
            first, last = min(first, known[0]), max(last, known[1])
        for line in range(first, last + 1):
            self._extents[line] = (first, last)


def _extents(statement: Stmt) -> list[tuple[int, int]]:
    """The stretches of lines that are a statement's own, without its blocks."""
    first, last = statement.span[0], statement.span[2]
    match statement:
        case FunctionDef() | ClassDef():
            decorators = [(decorator.span[0], decorator.span[2]) for decorator in statement.decorators]
            return [*decorators, (first, statement.header[2])]
        case If() | While():
            return [(first, _end(statement.test))]
        case For():
            return [(first, _end(statement.iterable))]
        case With():
            return [(first, max(_end(part) for item in statement.items for part in item if part is not None))]
        case OpaqueStmt() if statement.blocks:
            return [(value.span[0], value.span[2]) for value in statement.values]
        case Try():
            return [(kind.span[0], kind.span[2]) for kind, _, _ in statement.handlers if kind is not None]
        case _:
            return [(first, last)]


def _end(expression: Expr) -> int:
    return expression.span[2]
