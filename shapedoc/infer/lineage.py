"""What an event hands on to those that use its result: whether it was wrong, or rests on what is not certain."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.trace import Operand, Problem, Trace
from shapedoc.core.value import DictValue, Seq, Tensor, Unknown, Value

__all__ = ["all_among", "among", "holds_tensor", "is_join", "spoils", "touches"]

_HARMLESS = frozenset(
    (
        "scrambled-view",
        "squeeze-unknown",
        "implicit-softmax-axis",
        "view-after-transpose",
        "loss-broadcast",
        "crossed-layout",
    )
)


def spoils(problem: Problem) -> bool:
    """Whether what comes of a problem says nothing any more: the operands certainly do not fit."""
    if problem.kind in _HARMLESS:
        return False
    if problem.kind == "reversed-axes":
        return True
    return problem.sameness.wrong if problem.sameness is not None else problem.loud


def is_join(trace: Trace, value: Value) -> bool:
    """Whether a value is what branches left, itself."""
    return isinstance(value, Tensor) and value.event >= 0 and trace.events[value.event].op == "phi"


def touches(operands: Sequence[Operand], events: set[int]) -> bool:
    """Whether an operand came of one of these events."""
    for operand in operands:
        value = operand.value
        if value.event in events if isinstance(value, Tensor) else among(value, events):
            return True
    return False


def all_among(operands: Sequence[Operand], events: set[int]) -> bool:
    """Whether there are tensors among the operands, and all of them came of these events."""
    tensors = [o.value for o in operands if isinstance(o.value, Tensor)]
    return bool(tensors) and all(t.event in events for t in tensors)


def among(value: Value, events: set[int]) -> bool:
    """Whether a value came of one of these events."""
    match value:
        case Tensor():
            return value.event in events
        case Unknown():
            return any(e in events for e in value.events)
        case Seq():
            return any(among(v, events) for v in value.items)
    return False


def holds_tensor(value: Value) -> bool:
    match value:
        case Tensor():
            return True
        case Seq():
            return any(holds_tensor(v) for v in value.items) or (value.rest is not None and holds_tensor(value.rest))
        case DictValue():
            return any(holds_tensor(v) for v in value.items.values())
        case Unknown():
            return bool(value.events)
    return bool(getattr(value, "used_as_tensor", False))
