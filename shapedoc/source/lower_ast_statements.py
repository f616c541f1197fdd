"""Statements of ``ast`` to ir."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

from shapedoc.source.ir import (
    Assert,
    Assign,
    AugAssign,
    ClassDef,
    Expr,
    ExprStmt,
    For,
    FunctionDef,
    If,
    Import,
    Jump,
    OpaqueStmt,
    Return,
    Span4,
    Stmt,
    Try,
    While,
    With,
)
from shapedoc.source.lower_ast_expressions import EXPRESSIONS, OPERATORS, parameters

__all__ = ["Statements"]


def _span(n: ast.stmt | ast.expr) -> Span4:
    return (n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0)


def _expression(n: ast.expr) -> Expr:
    return EXPRESSIONS[type(n)](n)


def _optional(n: ast.expr | None) -> Expr | None:
    return EXPRESSIONS[type(n)](n) if n else None


def _expr(n: ast.Expr) -> Stmt:
    value = n.value
    return ExprStmt((n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0), EXPRESSIONS[type(value)](value))


def _assign(n: ast.Assign) -> Stmt:
    value = n.value
    return Assign(
        (n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0),
        [EXPRESSIONS[type(t)](t) for t in n.targets],
        EXPRESSIONS[type(value)](value),
    )


def _ann_assign(n: ast.AnnAssign) -> Stmt:
    return Assign(_span(n), [_expression(n.target)], _optional(n.value), _expression(n.annotation))


def _aug_assign(n: ast.AugAssign) -> Stmt:
    return AugAssign(_span(n), _expression(n.target), OPERATORS[type(n.op)], _expression(n.value))


def _return(n: ast.Return) -> Stmt:
    return Return(_span(n), _optional(n.value))


def _assert(n: ast.Assert) -> Stmt:
    return Assert(_span(n), _expression(n.test), _optional(n.msg))


def _break(n: ast.Break) -> Stmt:
    return Jump(_span(n), "break", [], [])


def _continue(n: ast.Continue) -> Stmt:
    return Jump(_span(n), "continue", [], [])


def _pass(n: ast.Pass) -> Stmt:
    return Jump(_span(n), "pass", [], [])


def _raise(n: ast.Raise) -> Stmt:
    return Jump(_span(n), "raise", [], [_expression(value) for value in (n.exc, n.cause) if value])


def _global(n: ast.Global) -> Stmt:
    return Jump(_span(n), "global", n.names, [])


def _nonlocal(n: ast.Nonlocal) -> Stmt:
    return Jump(_span(n), "nonlocal", n.names, [])


def _delete(n: ast.Delete) -> Stmt:
    return Jump(_span(n), "del", [], [_expression(target) for target in n.targets])


def _import(n: ast.Import) -> Stmt:
    return Import(_span(n), None, 0, [(name.name, name.asname) for name in n.names])


def _import_from(n: ast.ImportFrom) -> Stmt:
    return Import(_span(n), n.module or "", n.level, [(name.name, name.asname) for name in n.names])


_SIMPLE: dict[type[ast.AST], Callable[..., Stmt]] = {
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.Return: _return,
    ast.Assert: _assert,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Pass: _pass,
    ast.Raise: _raise,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.Delete: _delete,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}


class Statements:
    """Lowers the statements of one file; `lines` is its text, where the end of a ``def`` header is looked up."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.table: dict[type[ast.AST], Callable[..., Stmt]] = {
            **_SIMPLE,
            ast.If: self._if,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.While: self._while,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Try: self._try,
            ast.TryStar: self._try,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.ClassDef: self._class,
            ast.Match: self._match,
        }
        if sys.version_info >= (3, 12):
            self.table[ast.TypeAlias] = self._type_alias

    def block(self, statements: list[ast.stmt]) -> list[Stmt]:
        """A list of statements."""
        table = self.table
        return [table[type(s)](s) for s in statements]

    def docstring(self, body: list[ast.stmt]) -> tuple[str, Span4] | None:
        """The docstring that opens a body, as written, and its span."""
        if body and isinstance(first := body[0], ast.Expr):
            value = first.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value, _span(value)
        return None

    def _if(self, n: ast.If) -> Stmt:
        return If(_span(n), _expression(n.test), self.block(n.body), self.block(n.orelse) if n.orelse else [])

    def _for(self, n: ast.For | ast.AsyncFor) -> Stmt:
        target, iterable = _expression(n.target), _expression(n.iter)
        return For(_span(n), target, iterable, self.block(n.body), self.block(n.orelse))

    def _while(self, n: ast.While) -> Stmt:
        return While(_span(n), _expression(n.test), self.block(n.body), self.block(n.orelse))

    def _with(self, n: ast.With | ast.AsyncWith) -> Stmt:
        items = [(_expression(item.context_expr), _optional(item.optional_vars)) for item in n.items]
        return With(_span(n), items, self.block(n.body))

    def _try(self, n: ast.Try | ast.TryStar) -> Stmt:
        body = self.block(n.body)
        handlers = [(_optional(h.type), h.name, self.block(h.body)) for h in n.handlers]
        return Try(_span(n), body, handlers, self.block(n.orelse), self.block(n.finalbody))

    def _function(self, n: ast.FunctionDef | ast.AsyncFunctionDef) -> Stmt:
        params = parameters(n.args)
        returns = _optional(n.returns)
        last = returns.span if returns else (params[-1].default or params[-1]).span if params else None
        return FunctionDef(
            _span(n),
            self._header(n, last),
            n.name,
            params,
            returns,
            [_expression(d) for d in n.decorator_list],
            self.block(n.body),
            self.docstring(n.body),
            type(n) is ast.AsyncFunctionDef,
        )

    def _class(self, n: ast.ClassDef) -> Stmt:
        bases = [_expression(b) for b in n.bases]
        keywords = [(k.arg, _expression(k.value)) for k in n.keywords]
        ends = [base.span for base in bases] + [value.span for _, value in keywords]
        return ClassDef(
            _span(n),
            self._header(n, max(ends, default=None)),
            n.name,
            bases,
            keywords,
            [_expression(d) for d in n.decorator_list],
            self.block(n.body),
            self.docstring(n.body),
        )

    def _match(self, n: ast.Match) -> Stmt:
        values = [_expression(n.subject)] + [_expression(case.guard) for case in n.cases if case.guard]
        names = {name for case in n.cases for name in _captures(case.pattern)}
        return OpaqueStmt(_span(n), "match", values, [self.block(case.body) for case in n.cases], sorted(names))

    if sys.version_info >= (3, 12):

        def _type_alias(self, n: ast.TypeAlias) -> Stmt:
            return OpaqueStmt(_span(n), "type", [_expression(n.value)], [], [n.name.id])

    def _header(self, n: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, last: Span4 | None) -> Span4:
        """From the start of `n` to its colon, which is the first one after `last`, its last annotated part."""
        line, column = (last[2], last[3]) if last else (n.lineno, n.col_offset)
        if sys.version_info >= (3, 12) and n.type_params and not last:
            line, column = n.type_params[-1].end_lineno, n.type_params[-1].end_col_offset
        while True:
            text = self.lines[line - 1]
            colon = text.find(":", column)
            if colon >= 0 and text.find("#", column, colon) < 0:
                return (n.lineno, n.col_offset, line, colon + 1)
            line, column = line + 1, 0


def _captures(pattern: ast.pattern) -> set[str]:
    """The names that a pattern binds."""
    names: set[str] = set()
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
    return names
