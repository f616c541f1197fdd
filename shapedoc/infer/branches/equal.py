"""What is built where a test has found two sizes to be one: it has that size, under whichever name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from shapedoc.core.sizes import Kind
from shapedoc.core.value import Int, Value
from shapedoc.infer.machine import Machine
from shapedoc.infer.values import Instance, Symbolic
from shapedoc.source import ir

__all__ = ["as_one_size"]


@contextmanager
def as_one_size(m: Machine, test: ir.Expr, holds: bool) -> Iterator[None]:
    """Let the names that a test finds equal, ``if d_in == d_out:``, stand for either size in its branch."""
    kept: list[tuple[ir.Expr, Value, Value]] = []
    for left, right in _equal(test, holds):
        old = [_size(m, part) for part in (left, right)]
        one, other = old
        if one is None or other is None or m.sizes.compare(one.dim, other.dim).kind is not Kind.ONLY_IF:
            continue
        for part, size in ((left, one), (right, other)):
            new = Int(m.sizes.either(one.dim, other.dim), size.name)
            kept.append((part, size, new))
            _put(m, part, new)
    try:
        yield
    finally:
        for part, before, meant in kept:
            if _read(m, part) is meant:
                _put(m, part, before)


def _equal(test: ir.Expr, holds: bool) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """The pairs of names that are equal where a test holds, or does not."""
    match test:
        case ir.UnaryOp(op="not", operand=operand):
            yield from _equal(operand, not holds)
        case ir.BoolOp(op=op, values=parts) if (op == "and") == holds:
            for part in parts:
                yield from _equal(part, holds)
        case ir.Compare(left=left, ops=[op], comparators=[right]) if op == ("==" if holds else "!="):
            yield left, right


def _size(m: Machine, node: ir.Expr) -> Int | None:
    """The size that a variable or an attribute of ``self`` holds, if it is no number."""
    value = _read(m, node)
    value = value.as_int() if isinstance(value, Symbolic) and value.size else value
    return value if isinstance(value, Int) and m.sizes.resolve(value.dim).syms else None


def _read(m: Machine, node: ir.Expr) -> Value | None:
    match node:
        case ir.Name(id=name):
            return m.frame.variables.get(name)
        case ir.Attribute(value=ir.Name(id=owner), attr=attribute):
            receiver = m.frame.variables.get(owner)
            return receiver.attributes.get(attribute) if isinstance(receiver, Instance) else None
    return None


def _put(m: Machine, node: ir.Expr, value: Value) -> None:
    match node:
        case ir.Name(id=name):
            m.frame.variables[name] = value
        case ir.Attribute(value=ir.Name(id=owner), attr=attribute):
            receiver = m.frame.variables.get(owner)
            if isinstance(receiver, Instance):
                m.set_attribute(receiver, attribute, value)
