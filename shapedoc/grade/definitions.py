"""What a module defines, and a notebook cut down to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

__all__ = ["definitions", "definitions_only"]

_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_DYNAMIC = frozenset({"exec", "globals", "setattr", "vars", "locals"})


def definitions(tree: ast.Module) -> frozenset[str]:
    """The names that a module binds at its top level; "*" among them where it may bind others besides."""
    names = set(_bound(tree.body))
    if any(isinstance(node, ast.Name) and node.id in _DYNAMIC for node in ast.walk(tree)):
        names.add("*")
    return frozenset(names)


def _bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    yield (alias.asname or alias.name).partition(".")[0]
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from _targets(target)
            case ast.AnnAssign(target=target, value=ast.expr()):
                yield from _targets(target)
            case ast.If() | ast.For() | ast.While():
                yield from _bound([*statement.body, *statement.orelse])
            case ast.With():
                yield from _bound(statement.body)
            case ast.Try():
                handled = [each for handler in statement.handlers for each in handler.body]
                yield from _bound([*statement.body, *handled, *statement.orelse, *statement.finalbody])


def _targets(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from _targets(element)


def definitions_only(text: str, tree: ast.Module) -> str:
    """`text` with nothing but its functions, classes, imports and names for constants, every line where it was."""
    lines = text.split("\n")
    kept = [""] * len(lines)
    for statement in tree.body:
        if not _kept(statement):
            continue
        first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", []))])
        last = statement.end_lineno or first
        if first == last:
            here = _part(lines[first - 1], statement.col_offset, statement.end_col_offset)
            kept[first - 1] = f"{kept[first - 1]}; {here}" if kept[first - 1] else here
            continue
        kept[first - 1 : last] = lines[first - 1 : last]
        kept[last - 1] = _part(lines[last - 1], 0, statement.end_col_offset)
    return "\n".join(kept)


def _part(line: str, start: int, end: int | None) -> str:
    """A part of a line between two offsets in bytes, which is how a tree counts."""
    return line.encode("utf-8", "surrogatepass")[start:end].decode("utf-8", "surrogatepass")


def _kept(statement: ast.stmt) -> bool:
    if isinstance(statement, _DEFINING):
        return True
    match statement:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return _constant(value)
    return False


def _constant(value: ast.expr) -> bool:
    """A literal, another name, or a function without a name: nothing runs."""
    match value:
        case ast.Constant() | ast.Name() | ast.Lambda():
            return True
        case ast.Attribute(value=inner) | ast.UnaryOp(operand=inner):
            return _constant(inner)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return all(map(_constant, elements))
        case ast.Dict(keys=keys, values=values):
            return all(key is not None and _constant(key) for key in keys) and all(map(_constant, values))
        case ast.BinOp(left=left, right=right):
            return _constant(left) and _constant(right) and not isinstance(value.op, ast.Pow | ast.LShift | ast.Mult)
    return False
