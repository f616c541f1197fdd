"""Whether a condition holds, where that can be known."""

from __future__ import annotations

from shapedoc.core.value import Bool, DictValue, Float, Int, Layer, NoneValue, Seq, Str, Value
from shapedoc.infer.machine import Machine
from shapedoc.infer.values import Choice, Class, Container, Function, Instance

__all__ = ["truth"]


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
    return None
