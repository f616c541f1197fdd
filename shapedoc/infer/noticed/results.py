"""Calls whose results are taken apart into another number of names than there are."""

from __future__ import annotations

from shapedoc.core.trace import Operand, Problem
from shapedoc.core.value import Bound, Layer, Seq, Tensor, Unknown, Value
from shapedoc.infer.machine import Machine, span_of
from shapedoc.infer.values import BoundMethod, Instance
from shapedoc.source import ir
from shapedoc.source.walk import last_name

__all__ = ["note_results"]


def note_results(m: Machine, target: ir.Sequence, value: Value, source: ir.Expr | None) -> Value:
    """What is taken apart. Record a call that gives more or fewer results than there are names; Python raises there.

    A module that gives one tensor is taken apart along its first axis: that fits batches of one size, and where
    another module is called what it gives has nothing to do with such rows.
    """
    if not isinstance(source, ir.Call) or any(isinstance(t, ir.Starred) for t in target.items):
        return value
    match value:
        case Seq(rest=None, kind="tuple", items=items) if len(items) != len(target.items):
            _note(m, target, source, next((i for i in items if isinstance(i, Tensor)), None), len(items))
        case Tensor() if _is_of_module(m, value, source) and _first_is_open(m, value):
            if not m.patched:
                _note(m, target, source, value, 1)
            return Unknown("one tensor, taken apart as several", (value.event,))
    return value


def _note(m: Machine, target: ir.Sequence, source: ir.Call, first: Tensor | None, got: int) -> None:
    if m.path or m.watched or first is None or not _is_known(m, source.func):
        return
    operand = Operand("input", first, shape=first.shape)
    event = m.emit("unpack", target, (operand,), Unknown("unpacking of another length"))
    detail = {
        "wanted": str(len(target.items)),
        "got": str(got),
        "why": "results",
        "called": last_name(source.func) or "the call",
    }
    event.problems = (Problem("wrong-rank", ("input",), detail=detail),)


def _is_of_module(m: Machine, tensor: Tensor, source: ir.Call) -> bool:
    """Whether a library's module gave the tensor, in this very call."""
    event = m.trace.events[tensor.event] if 0 <= tensor.event < len(m.trace.events) else None
    return event is not None and event.short.endswith(".forward") and event.span == span_of(source, m.path)


def _first_is_open(m: Machine, tensor: Tensor) -> bool:
    """Whether the first axis may have any size."""
    shape = m.sizes.shape(tensor.shape)
    return bool(shape.prefix) and len(shape.prefix) > 1 and shape.prefix[0].dim.value is None


def _is_known(m: Machine, func: ir.Expr) -> bool:
    """Whether what is called is what runs: no module that a parameter is taken for because of its name."""
    value = m.eval(func) if isinstance(func, ir.Name | ir.Attribute) else None
    if isinstance(value, Bound) and not isinstance(value.owner, Layer):
        # Of a value that nobody describes, a method of this name may be anything.
        return isinstance(value.owner, Tensor) and m.sizes.shape(value.owner.shape).rank is not None
    receiver = value.receiver if isinstance(value, BoundMethod) else value
    return not (isinstance(receiver, Instance) and receiver.open and receiver.name != "")
