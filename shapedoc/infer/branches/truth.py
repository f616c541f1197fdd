"""Whether a condition holds, where that can be known."""

from __future__ import annotations

from shapedoc.core.value import Bool, DictValue, Float, Int, Layer, NoneValue, Seq, Str, Tensor, Value
from shapedoc.infer.machine import Machine
from shapedoc.infer.values import Choice, Class, Container, Function, Instance
from shapedoc.source import ir

__all__ = ["condition", "has_one_element", "truth"]


def condition(m: Machine, test: ir.Expr) -> Value:
    """The value of what is asked; what is compared there with a number is one number, no tensor of many."""
    parts = [test]
    while parts:
        match parts.pop():
            case ir.BoolOp(values=values):
                parts += values
            case ir.UnaryOp(op="not", operand=operand):
                parts.append(operand)
            case ir.Compare(span=span):
                m.conditions.add((m.path, span))
    return _asked(m, test)


def _asked(m: Machine, test: ir.Expr) -> Value:
    """Something that is true where a test is: one part of ``unknown and False`` says that it is not."""
    if isinstance(test, ir.UnaryOp) and test.op == "not":
        known = truth(m, _asked(m, test.operand))
        return Bool(None if known is None else not known)
    if not isinstance(test, ir.BoolOp):
        return m.eval(test)
    value: Value = Bool(test.op == "and")
    undecided, sizes = False, m.sizes
    for part in test.values:
        if undecided:
            m.sizes = sizes.fork()  # what may not be evaluated teaches nothing
        try:
            value = _asked(m, part)
        finally:
            m.sizes = sizes
        known = truth(m, value)
        if known == (test.op == "or"):
            return value
        undecided = undecided or known is None
    return Bool() if undecided else value


def truth(m: Machine, value: Value, *, learn: bool = True) -> bool | None:
    """True or False where it is certain, else None.

    learn: what is asked this way has one element; ``a and b or c`` as a way to choose does not say that of ``b``.
    """
    match value:
        case Bool():
            return value.value
        case NoneValue():
            return False
        case Int():
            size = m.sizes.resolve(value.dim).value
            return None if size is None else bool(size)
        case Float(value=number, powers=(), known=True):
            return bool(number)
        case Str():
            return None if value.value is None else bool(value.value)
        case Seq(rest=None):
            return bool(value.items)
        case DictValue(complete=True):
            return bool(value.items)
        case Layer() | Instance() | Function() | Class():
            return True
        case Choice(values=values):
            return None if any(isinstance(v, NoneValue) for v in values) else True
        case Container():
            return True if value.items.items else None
        case Tensor() if learn:
            has_one_element(m, value)
    return None


def has_one_element(m: Machine, tensor: Tensor) -> None:
    """Remember that a tensor is used as one number: it has one element along every axis."""
    for axis in m.sizes.shape(tensor.shape).suffix:
        m.sizes.mark(axis, "one", m.trace.events[tensor.event].span.line if tensor.event >= 0 else 0)
