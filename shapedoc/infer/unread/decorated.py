"""Decorators of the author's own: whether what they make of a function gives what the function gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shapedoc.infer.machine import Machine
from shapedoc.infer.values import Function
from shapedoc.source import ir
from shapedoc.source.walk import blocks, last_name

__all__ = ["gives_other"]


def gives_other(m: Machine, decorators: Sequence[ir.Expr]) -> bool:
    """Whether a decorator, which is read, puts something in a function's place that gives or takes something else."""
    return any(_gives_other(m, decorator) for decorator in decorators)


def _gives_other(m: Machine, decorator: ir.Expr) -> bool:
    made = isinstance(decorator, ir.Call)
    found = decorator.func if isinstance(decorator, ir.Call) else decorator
    maker = m.lookup(found.id) if isinstance(found, ir.Name) else None
    node = maker.node if isinstance(maker, Function) else None
    if not isinstance(node, ir.FunctionDef):
        return False
    if made:
        inner = _returned_functions(node)
        return not inner or not all(_hands_through(one) for one in inner)
    return not _hands_through(node)


def _hands_through(node: ir.FunctionDef) -> bool:
    """Whether a decorator gives back the function that it is given, or one that gives what that gives."""
    if not node.params:
        return False
    function, returned = node.params[0].name, [r.value for r in _own(node.body) if isinstance(r, ir.Return)]
    inner = _returned_functions(node)
    if any(not (isinstance(v, ir.Name) and v.id == function) for v in returned) and not inner:
        return not returned
    return all(_calls(one, function) for one in inner)


def _returned_functions(node: ir.FunctionDef) -> list[ir.FunctionDef]:
    """The functions that a function defines and gives back."""
    names = {last_name(r.value) for r in _own(node.body) if isinstance(r, ir.Return) and r.value is not None}
    return [s for s in _own(node.body) if isinstance(s, ir.FunctionDef) and s.name in names]


def _calls(node: ir.FunctionDef, function: str) -> bool:
    """Whether a wrapper gives what the function gives, called with what the wrapper is called with."""
    own = list(_own(node.body))
    bound = [(t.id, s.value) for s in own if isinstance(s, ir.Assign) for t in s.targets if isinstance(t, ir.Name)]
    changed = {name for name, value in bound if value is None or not _is_call(value, function)}
    results = {name for name, _ in bound} - changed
    if changed & {p.name for p in node.params}:
        return False
    returned = [s.value for s in own if isinstance(s, ir.Return)]
    return all(
        v is not None and (_is_call(v, function) or (isinstance(v, ir.Name) and v.id in results)) for v in returned
    )


def _is_call(node: ir.Expr, function: str) -> bool:
    return isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == function


def _own(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements of a body, without those of functions and classes in it."""
    for statement in body:
        yield statement
        if not isinstance(statement, ir.FunctionDef | ir.ClassDef):
            for block in blocks(statement):
                yield from _own(block)
