"""Statements of libcst to ir."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from shapedoc.source import ir
from shapedoc.source.cst_literals import identifier
from shapedoc.source.cst_positions import Positions
from shapedoc.source.ir import Span4, Stmt
from shapedoc.source.lower_cst_expressions import OPERATORS, Expressions

__all__ = ["Statements"]


class Statements:
    """Lowers the statements of one module; `anchors` leads from a span to the statement that stands there."""

    def __init__(self, positions: Positions) -> None:
        self.positions = positions
        self.expressions = Expressions(positions)
        self.anchors: dict[Span4, cst.CSTNode] = {}
        self.table: dict[type[cst.CSTNode], Callable[..., Stmt]] = {
            cst.Expr: self._expr,
            cst.Assign: self._assign,
            cst.AnnAssign: self._ann_assign,
            cst.AugAssign: self._aug_assign,
            cst.Return: self._return,
            cst.Assert: self._assert,
            cst.Break: lambda n: ir.Jump(self._span(n), "break", [], []),
            cst.Continue: lambda n: ir.Jump(self._span(n), "continue", [], []),
            cst.Pass: lambda n: ir.Jump(self._span(n), "pass", [], []),
            cst.Raise: self._raise,
            cst.Global: lambda n: ir.Jump(self._span(n), "global", _names(n), []),
            cst.Nonlocal: lambda n: ir.Jump(self._span(n), "nonlocal", _names(n), []),
            cst.Del: self._del,
            cst.Import: self._import,
            cst.ImportFrom: self._import_from,
            cst.TypeAlias: self._type_alias,
            cst.If: self._if,
            cst.For: self._for,
            cst.While: self._while,
            cst.With: self._with,
            cst.Try: self._try,
            cst.TryStar: self._try,
            cst.FunctionDef: self._function,
            cst.ClassDef: self._class,
            cst.Match: self._match,
        }

    def body(self, statements: Sequence[cst.CSTNode]) -> list[Stmt]:
        """A list of statements; the lines that libcst groups small ones in are taken apart."""
        lowered: list[Stmt] = []
        for node in statements:
            for part in node.body if isinstance(node, cst.SimpleStatementLine) else (node,):
                statement = self.table[type(part)](part)
                self.anchors[statement.span] = part
                lowered.append(statement)
        return lowered

    def _block(self, block: cst.BaseSuite) -> list[Stmt]:
        return self.body(block.body)

    def _span(self, n: cst.CSTNode) -> Span4:
        """The span of a statement, without the semicolon after it; decorators are outside."""
        first, after = self.positions.of(n)
        if isinstance(n, cst.BaseSmallStatement) and isinstance(n.semicolon, cst.Semicolon):
            after -= 1
        elif isinstance(n, cst.FunctionDef | cst.ClassDef) and n.decorators:
            first = self.positions.of(n.decorators[-1])[1]
        return self.positions.span(first, after)

    def _expr(self, n: cst.Expr) -> Stmt:
        return ir.ExprStmt(self._span(n), self.expressions.lower(n.value))

    def _assign(self, n: cst.Assign) -> Stmt:
        targets = [self.expressions.lower(target.target) for target in n.targets]
        return ir.Assign(self._span(n), targets, self.expressions.lower(n.value))

    def _ann_assign(self, n: cst.AnnAssign) -> Stmt:
        target, annotation = self.expressions.lower(n.target), self.expressions.lower(n.annotation.annotation)
        return ir.Assign(self._span(n), [target], self.expressions.optional(n.value), annotation)

    def _aug_assign(self, n: cst.AugAssign) -> Stmt:
        lower = self.expressions.lower
        return ir.AugAssign(self._span(n), lower(n.target), OPERATORS[type(n.operator)], lower(n.value))

    def _return(self, n: cst.Return) -> Stmt:
        return ir.Return(self._span(n), self.expressions.optional(n.value))

    def _assert(self, n: cst.Assert) -> Stmt:
        return ir.Assert(self._span(n), self.expressions.lower(n.test), self.expressions.optional(n.msg))

    def _raise(self, n: cst.Raise) -> Stmt:
        parts = (n.exc, n.cause.item if n.cause is not None else None)
        return ir.Jump(self._span(n), "raise", [], [self.expressions.lower(part) for part in parts if part is not None])

    def _del(self, n: cst.Del) -> Stmt:
        """``del a, b`` deletes two targets, ``del (a, b)`` one tuple."""
        targets: list[cst.BaseExpression] = [n.target]
        if isinstance(n.target, cst.Tuple) and not n.target.lpar:
            targets = [element.value for element in n.target.elements]
        return ir.Jump(self._span(n), "del", [], [self.expressions.lower(target) for target in targets])

    def _import(self, n: cst.Import) -> Stmt:
        return ir.Import(self._span(n), None, 0, [_alias(alias) for alias in n.names])

    def _import_from(self, n: cst.ImportFrom) -> Stmt:
        module = _dotted(n.module) if n.module is not None else ""
        if isinstance(n.names, cst.ImportStar):
            return ir.Import(self._span(n), module, len(n.relative), [("*", None)])
        return ir.Import(self._span(n), module, len(n.relative), [_alias(alias) for alias in n.names])

    def _type_alias(self, n: cst.TypeAlias) -> Stmt:
        value = self.expressions.lower(n.value)
        return ir.OpaqueStmt(self._span(n), "type", [value], [], [identifier(n.name.value)])

    def _if(self, n: cst.If) -> Stmt:
        test, body = self.expressions.lower(n.test), self._block(n.body)
        return ir.If(self._span(n), test, body, self._orelse(n.orelse))

    def _orelse(self, n: cst.If | cst.Else | None) -> list[Stmt]:
        if isinstance(n, cst.If):
            return self.body([n])
        return self._block(n.body) if n is not None else []

    def _for(self, n: cst.For) -> Stmt:
        target, iterable = self.expressions.lower(n.target), self.expressions.lower(n.iter)
        return ir.For(self._span(n), target, iterable, self._block(n.body), self._orelse(n.orelse))

    def _while(self, n: cst.While) -> Stmt:
        return ir.While(self._span(n), self.expressions.lower(n.test), self._block(n.body), self._orelse(n.orelse))

    def _with(self, n: cst.With) -> Stmt:
        lower = self.expressions.lower
        items = [(lower(item.item), lower(item.asname.name) if item.asname is not None else None) for item in n.items]
        return ir.With(self._span(n), items, self._block(n.body))

    def _try(self, n: cst.Try | cst.TryStar) -> Stmt:
        body = self._block(n.body)
        handlers = [
            (self.expressions.optional(h.type), _bound(h.name) if h.name is not None else None, self._block(h.body))
            for h in n.handlers
        ]
        final = self._block(n.finalbody.body) if n.finalbody is not None else []
        return ir.Try(self._span(n), body, handlers, self._orelse(n.orelse), final)

    def _header(self, n: cst.FunctionDef | cst.ClassDef) -> Span4:
        """From the statement's start to its colon, the last token before the block."""
        start = self._span(n)
        colon = self.positions.ends[self.positions.of(n.body)[0] - 1]
        return (start[0], start[1], *colon)

    def _function(self, n: cst.FunctionDef) -> Stmt:
        params = self.expressions.parameters(n.params)
        returns = self.expressions.lower(n.returns.annotation) if n.returns is not None else None
        decorators = [self.expressions.lower(d.decorator) for d in n.decorators]
        span, header, name = self._span(n), self._header(n), identifier(n.name.value)
        body = self._block(n.body)
        return ir.FunctionDef(
            span, header, name, params, returns, decorators, body, docstring(body), n.asynchronous is not None
        )

    def _class(self, n: cst.ClassDef) -> Stmt:
        bases, keywords = self.expressions.arguments([*n.bases, *n.keywords])
        decorators = [self.expressions.lower(d.decorator) for d in n.decorators]
        span, header, name = self._span(n), self._header(n), identifier(n.name.value)
        body = self._block(n.body)
        return ir.ClassDef(span, header, name, bases, keywords, decorators, body, docstring(body))

    def _match(self, n: cst.Match) -> Stmt:
        values = [self.expressions.lower(n.subject)]
        values += [self.expressions.lower(case.guard) for case in n.cases if case.guard is not None]
        blocks = [self._block(case.body) for case in n.cases]
        names = {name for case in n.cases for name in _captures(case.pattern)}
        return ir.OpaqueStmt(self._span(n), "match", values, blocks, sorted(names))


def docstring(body: list[Stmt]) -> tuple[str, Span4] | None:
    """The docstring that opens a lowered body, as written, and its span."""
    if body and isinstance(first := body[0], ir.ExprStmt):
        value = first.value
        if isinstance(value, ir.Const) and isinstance(value.value, str):
            return value.value, value.span
    return None


def _names(n: cst.Global | cst.Nonlocal) -> list[str]:
    return [identifier(item.name.value) for item in n.names]


def _dotted(n: cst.BaseExpression) -> str:
    parts: list[str] = []
    while isinstance(n, cst.Attribute):
        parts.append(identifier(n.attr.value))
        n = n.value
    if isinstance(n, cst.Name):
        parts.append(identifier(n.value))
    return ".".join(reversed(parts))


def _bound(n: cst.AsName) -> str:
    return _dotted(n.name)


def _alias(n: cst.ImportAlias) -> tuple[str, str | None]:
    return _dotted(n.name), _bound(n.asname) if n.asname is not None else None


def _captures(node: cst.CSTNode) -> Iterator[str]:
    """The names that a pattern binds."""
    bound: cst.Name | None = None
    if isinstance(node, cst.MatchAs | cst.MatchStar):
        bound = node.name
    elif isinstance(node, cst.MatchMapping):
        bound = node.rest
    if bound is not None:
        yield identifier(bound.value)
    for child in node.children:
        yield from _captures(child)
