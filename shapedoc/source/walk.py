"""Walking the ir where no interpretation is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from shapedoc.source.ir import (
    Attribute,
    ClassDef,
    Const,
    Expr,
    For,
    FunctionDef,
    Generator,
    If,
    Module,
    Name,
    OpaqueStmt,
    Param,
    Span4,
    Stmt,
    Try,
    While,
    With,
)

__all__ = ["blocks", "flatten", "last_name", "statements"]


def blocks(statement: Stmt) -> list[list[Stmt]]:
    """The statement lists inside a statement, in source order."""
    match statement:
        case If() | For() | While():
            return [statement.body, statement.orelse]
        case With() | FunctionDef() | ClassDef():
            return [statement.body]
        case Try():
            handlers = [body for _, _, body in statement.handlers]
            return [statement.body, *handlers, statement.orelse, statement.final]
        case OpaqueStmt():
            return statement.blocks
        case _:
            return []


def statements(module: Module) -> Iterator[Stmt]:
    """Every statement of a module, outer before inner, in source order."""
    pending = list(reversed(module.body))
    while pending:
        statement = pending.pop()
        yield statement
        for block in reversed(blocks(statement)):
            pending.extend(reversed(block))


def last_name(node: Expr) -> str:
    """The last part of a name: ``bmm`` of ``torch.bmm``; "" for what is none."""
    match node:
        case Name():
            return node.id
        case Attribute():
            return node.attr
    return ""


def flatten(node: Expr, span: Span4) -> None:
    """Give `node` and everything in it one span.

    The parts of an f-string carry the span of the whole: before Python 3.12 their own places are not known exactly.
    """
    if isinstance(node, Name | Const):
        node.span = span
        return
    pending: list[object] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, list | tuple):
            pending.extend(part)
        elif isinstance(part, Generator):
            pending.extend((part.target, part.iterable, part.conditions))
        elif isinstance(part, Param | Expr):
            pending.extend(getattr(part, field.name) for field in fields(part))
            part.span = span
            if isinstance(part, Attribute):
                part.attr_span = span
