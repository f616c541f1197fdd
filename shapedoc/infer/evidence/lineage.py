"""What an event hands on to those that use its result: whether it was wrong, or rests on what is not certain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shapedoc.core.sizes import Sizes
from shapedoc.core.trace import Operand, Problem, Trace
from shapedoc.core.value import DictValue, Seq, Tensor, Unknown, Value

__all__ = [
    "among",
    "holds_tensor",
    "is_join",
    "least_rank",
    "rests_on",
    "spoils",
    "takers_of_stated",
    "takes_rank_of",
    "touches",
    "uids_of",
]

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

# What has as many axes as any of its operands at least, and what has as many as its input.
_MEET = frozenset(("add", "sub", "mul", "div", "where", "masked_fill", "maximum", "minimum"))
_KEEP = frozenset(
    (
        *("Linear.forward", "linear", "LayerNorm.forward", "layer_norm", "Dropout.forward", "dropout", "softmax"),
        *("tanh", "Tanh.forward", "sigmoid", "Sigmoid.forward", "relu", "ReLU.forward", "gelu", "GELU.forward"),
        *("log_softmax", "exp", "neg", "float", "to", "contiguous", "clone"),
    )
)
_DEPTH = 12


def spoils(problem: Problem) -> bool:
    """Whether what comes of a problem says nothing any more: the operands certainly do not fit."""
    if problem.kind in _HARMLESS:
        return problem.detail.get("left") == "mixed"
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


def uids_of(operands: Sequence[Operand]) -> set[int]:
    """The tensors among operands, by their uid."""
    return {o.value.uid for o in operands if isinstance(o.value, Tensor)}


def takes_rank_of(operands: Sequence[Operand], events: set[int], result: Value, sizes: Sizes) -> bool:
    """Whether a result has the rank of an operand that came of these events, or all its operands came of them."""
    tensors = [o.value for o in operands if isinstance(o.value, Tensor)]
    marked = [t for t in tensors if t.event in events]
    if not marked or len(marked) == len(tensors):
        return bool(marked)
    rank = sizes.shape(result.shape).rank if isinstance(result, Tensor) else None
    return rank is None or any(sizes.shape(t.shape).rank == rank for t in marked)


def among(value: Value, events: set[int]) -> bool:
    """Whether a value came of one of these events."""
    match value:
        case Tensor():
            return value.event in events
        case Unknown():
            return any(e in events for e in value.events)
        case Seq():
            return any(among(v, events) for v in value.items) or (value.rest is not None and among(value.rest, events))
    return False


def rests_on(trace: Trace, value: Tensor, tentative: set[int], stated: set[int], sure: set[int]) -> bool:
    """Whether the rank of a tensor comes of one that is stated, otherwise than through those that are sure.

    tentative: the events of such ranks. stated, sure: tensors (their uid).
    """
    if value.event not in tentative:
        return False
    seen, todo = {value.uid}, [value]
    while todo:
        tensor = todo.pop()
        if tensor.uid in sure:
            continue
        if tensor.uid in stated or tensor.event not in tentative:
            return True
        operands = (o.value for o in trace.events[tensor.event].operands)
        parts = [p for v in operands for p in (v.items if isinstance(v, Seq) else (v,)) if isinstance(p, Tensor)]
        behind = [p for p in parts if p.event in tentative or p.uid in stated or p.uid in sure]
        if not behind:
            return True
        todo.extend(p for p in behind if p.uid not in seen)
        seen.update(p.uid for p in behind)
    return False


def takers_of_stated(trace: Trace, operands: Sequence[Operand], tentative: set[int], stated: set[int]) -> Iterator[str]:
    """The functions in which operands were made, whose ranks are but stated, out of what has its rank stated.

    tentative: the events of such ranks. stated: tensors (their uid).
    """
    seen: set[int] = set()
    todo = [o.value for o in operands]
    while todo:
        value = todo.pop()
        if isinstance(value, Seq):
            todo.extend(value.items)
        elif isinstance(value, Tensor) and value.event in tentative and value.event not in seen:
            seen.add(value.event)
            event = trace.events[value.event]
            if not stated.isdisjoint(uids_of(event.operands)):
                yield event.function
            todo.extend(o.value for o in event.operands)


def least_rank(trace: Trace, value: Value, doubted: set[int], described: set[int], depth: int = _DEPTH) -> int:
    """How many axes a value has at least, by what is certain.

    doubted: the events whose ranks are not. described: tensors (their uid) whose ranks are but stated.
    """
    if not isinstance(value, Tensor) or value.uid in described or not depth:
        return 0
    if value.event not in doubted:
        return len(value.shape.axes) if value.shape.run is None else len(value.shape.items) - 1
    event = trace.events[value.event]
    if event.short in ("bmm", "baddbmm"):
        return 3
    if event.short in _MEET:
        operands = [o.value for o in event.operands]
    else:
        operands = [o.value for o in event.operands if o.name == "input"] if event.short in _KEEP else []
    return max((least_rank(trace, v, doubted, described, depth - 1) for v in operands), default=0)


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
