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
    return m.eval(test)


def truth(m: Machine, value: Value) -> bool | None:
    """True or False where it is certain, else None."""
    match value:
        case Bool():
            return value.value
        case NoneValue():
            return False
        case Int():
            number = m.sizes.resolve(value.dim).value
            return None if number is None else bool(number)
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
        case Tensor():
            has_one_element(m, value)
    return None


def has_one_element(m: Machine, tensor: Tensor) -> None:
    """Remember that a tensor is used as one number: it has one element along every axis."""
    for axis in m.sizes.shape(tensor.shape).suffix:
        m.sizes.mark(axis, "one", m.trace.events[tensor.event].span.line if tensor.event >= 0 else 0)
