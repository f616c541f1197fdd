"""A function as it is where an optional argument is given, and as it is where it is not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from shapedoc.source import ir
from shapedoc.source.walk import blocks

__all__ = ["replaced", "with_and_without"]


def with_and_without(
    module: ir.Module, definition: ir.FunctionDef, given: Collection[str], absent: Collection[str]
) -> tuple[ir.Module, ir.FunctionDef]:
    """The file and the function in it, where these parameters are something, and those None.

    The choices that ask which of the two it is have been made. The function stands in the file or in a class of it.
    """
    known = {**dict.fromkeys(given, True), **dict.fromkeys(absent, False)}
    for name in _assigned(definition.body):
        known.pop(name, None)
    line, column = definition.header[2:]
    here = (line, column, line, column)
    nothing: list[ir.Stmt] = [ir.Assign(here, [ir.Name(here, n)], ir.Const(here, None)) for n in absent]
    params = [replace(p, default=None) if p.name in given else p for p in definition.params if p.name not in absent]
    folded = replace(definition, params=params, body=nothing + _chosen(definition.body, known))
    return replace(module, body=replaced(module.body, definition, folded)), folded


def replaced(body: list[ir.Stmt], old: ir.FunctionDef, new: ir.FunctionDef) -> list[ir.Stmt]:
    """A body, of a file or a class, with one function for another."""
    return [
        new if s is old else replace(s, body=replaced(s.body, old, new)) if isinstance(s, ir.ClassDef) else s
        for s in body
    ]


def _assigned(body: list[ir.Stmt]) -> set[str]:
    """The names that are assigned to."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ir.Assign):
            found |= {t.id for t in statement.targets if isinstance(t, ir.Name)}
        elif isinstance(statement, ir.AugAssign) and isinstance(statement.target, ir.Name):
            found.add(statement.target.id)
        for block in blocks(statement):
            found |= _assigned(block)
    return found


def _chosen(body: list[ir.Stmt], known: Mapping[str, bool]) -> list[ir.Stmt]:
    """The statements, of a choice between something and None only those that are chosen."""
    out: list[ir.Stmt] = []
    for statement in body:
        truth = _truth(statement.test, known) if isinstance(statement, ir.If) else None
        if isinstance(statement, ir.If) and truth is not None:
            out += _chosen(statement.body if truth else statement.orelse, known)
        else:
            out.append(statement)
    return out


def _truth(test: ir.Expr, known: Mapping[str, bool]) -> bool | None:
    match test:
        case ir.Compare(left=ir.Name(id=name), ops=["is" | "is not" as op], comparators=[ir.Const(value=None)]):
            return None if name not in known else known[name] == (op == "is not")
    return None
