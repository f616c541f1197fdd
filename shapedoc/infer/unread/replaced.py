"""Attributes that a method finds changed: what the constructor set need not be what another method left there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shapedoc.core.value import Bool, DictValue, NoneValue, Seq, Tensor, Value
from shapedoc.infer.values import Class, Function
from shapedoc.source import ir
from shapedoc.source.walk import blocks

__all__ = ["is_set_by_a_method", "replaced"]

# Where a module keeps its buffers: what is written there under a name that is worked out may be any of them.
_BUFFERS = "_buffers"


def replaced(cls: Class, attributes: dict[str, Value], method: Function, built: set[int]) -> list[str]:
    """The attributes whose value is not certain when `method` is called on a finished object.

    built: the nodes of the functions that the constructor has run, by id. What `method` itself assigns is as the
    constructor left it when it is called first, except that a None which it replaces is there only once.
    """
    others: set[str] = set()
    own: set[str] = set()
    for member in _methods(cls):
        if id(member.node) not in built and isinstance(member.node, ir.FunctionDef):
            names = own if member.node is method.node else others
            names.update(_assigned_by(member, member.node))
    found = [n for n in others if isinstance(attributes.get(n), Tensor | NoneValue | Seq | DictValue | Bool)]
    if _BUFFERS in others:
        found += [n for n, value in attributes.items() if isinstance(value, Tensor) and not value.learned]
    return sorted({*found, *(n for n in own if isinstance(attributes.get(n), NoneValue))})


def is_set_by_a_method(cls: Class, name: str) -> bool:
    """Whether a method of a class assigns an attribute that its constructor does not."""
    setters = {
        m.node.name for m in _methods(cls) if isinstance(m.node, ir.FunctionDef) and name in _assigned_by(m, m.node)
    }
    return bool(setters) and "__init__" not in setters


def _methods(cls: Class) -> Iterator[Function]:
    for owner in (cls, *(b for b in cls.ancestors() if isinstance(b, Class))):
        for member in owner.members.values():
            if isinstance(member, Function) and member.role != "static":
                yield member


def _assigned_by(method: Function, node: ir.FunctionDef) -> frozenset[str]:
    """The names of the attributes that a method assigns to its receiver, found once."""
    if method.assigned is None:
        method.assigned = frozenset(_assigned(node.body, node.params[0].name if node.params else ""))
    return method.assigned


def _assigned(body: Sequence[ir.Stmt], receiver: str) -> Iterator[str]:
    """The names of the attributes that statements assign to the receiver."""
    for statement in body:
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                yield from _attributes(target, receiver)
        for block in blocks(statement):
            yield from _assigned(block, receiver)


def _attributes(target: ir.Expr, receiver: str) -> Iterator[str]:
    match target:
        case ir.Attribute(value=ir.Name(id=name), attr=attr) if name == receiver:
            yield attr
        case ir.Subscript(value=ir.Attribute(value=ir.Name(id=name), attr="_buffers"), index=ir.Const(value=str(key))):
            yield from (key,) if name == receiver else ()
        case ir.Subscript(value=inner):
            yield from _attributes(inner, receiver)
        case ir.Sequence(items=items):
            for item in items:
                yield from _attributes(item, receiver)
        case _:
            pass
