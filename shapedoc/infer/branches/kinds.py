"""What kind of thing a value is, and what a branch that asks it knows of a layer that a setting chose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from shapedoc.core.value import Bool, Int, Layer, NoneValue, Seq, Str, Tensor, Value
from shapedoc.infer.machine import Machine
from shapedoc.infer.values import Choice, Class, Instance
from shapedoc.ops.registry import find_layer
from shapedoc.source import ir

__all__ = ["is_of", "of_kind"]


def is_of(value: Value, cls: Value) -> Bool:
    """``isinstance(value, cls)``."""
    names = list(cls.items) if isinstance(cls, Seq) else [cls]
    labels = [getattr(n, "qualified", getattr(n, "name", "")) for n in names]
    match value:
        case Tensor():
            if any(x in ("torch.Tensor", "numpy.ndarray", "torch.nn.Parameter") for x in labels):
                return _is_of_library(value, labels)
            return (
                Bool(False)
                if all(x in ("int", "float", "str", "list", "tuple", "dict", "bool") for x in labels)
                else Bool()
            )
        case Seq():
            if any(x in ("list", "tuple") for x in labels):
                return Bool(True) if set(labels) >= {"list", "tuple"} or value.kind in labels else Bool(False)
            return Bool(False) if all(x in ("torch.Tensor", "int", "float", "str") for x in labels) else Bool()
        case Int() | Str() if all(x in ("int", "float", "str", "list", "tuple", "dict") for x in labels):
            return Bool(("int" if isinstance(value, Int) else "str") in labels)
        case Layer() if value.kind in labels or all(find_layer(x) is not None for x in labels):
            return Bool(value.kind in labels)
        case Instance():
            if any(isinstance(n, Class) and (n is value.cls or n in value.cls.ancestors()) for n in names):
                return Bool(True)
        case Choice():
            answers = {is_of(v, cls).value for v in value.values}
            return Bool(answers.pop()) if len(answers) == 1 else Bool()
        case NoneValue() if all(find_layer(x) is not None for x in labels):
            return Bool(False)
    return Bool()


def _is_of_library(value: Tensor, labels: Sequence[str]) -> Bool:
    """Whether a tensor is a torch tensor, or a NumPy array; a parameter that nobody describes may be either."""
    tensor, array = any(x.endswith("Tensor") for x in labels), "numpy.ndarray" in labels
    if tensor and array:
        return Bool(True)
    if value.library == "numpy":
        return Bool(True if array else False if tensor else None)
    return Bool(True if tensor else False if array and value.event >= 0 else None)


@contextmanager
def of_kind(m: Machine, test: ir.Expr, holds: bool) -> Iterator[None]:
    """Inside ``if isinstance(self.rnn, nn.LSTM)`` the one of several layers is an LSTM; behind it, it may be any."""
    narrowed = list(_narrowed(m, test, holds))
    for place, few, _ in narrowed:
        _put(m, place, few)
    try:
        yield
    finally:
        for place, few, several in reversed(narrowed):
            if m.eval(place) is few:
                _put(m, place, several)


def _narrowed(m: Machine, test: ir.Expr, holds: bool) -> Iterator[tuple[ir.Name | ir.Attribute, Value, Choice]]:
    """What a test asks the kind of: the things that it can be there, and those that it can be at all."""
    match test:
        case ir.UnaryOp(op="not", operand=operand):
            yield from _narrowed(m, operand, not holds)
        case ir.BoolOp(op=op, values=parts) if (op == "and") == holds:
            for part in parts:
                yield from _narrowed(m, part, holds)
        case ir.Call(func=ir.Name(id="isinstance"), args=[ir.Name() | ir.Attribute() as place, kinds]):
            value = m.eval(place)
            if isinstance(value, Choice):
                cls = m.eval(kinds)
                left = tuple(v for v in value.values if is_of(v, cls).value in (holds, None))
                if 0 < len(left) < len(value.values):
                    yield place, left[0] if len(left) == 1 else Choice(left), value


def _put(m: Machine, place: ir.Name | ir.Attribute, value: Value) -> None:
    if isinstance(place, ir.Name):
        m.frame.variables[place.id] = value
    elif isinstance(owner := m.eval(place.value), Instance):
        m.set_attribute(owner, place.attr, value)
