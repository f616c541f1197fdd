"""Query, key and value of an attention, however it is written, and what each of them is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor, Value
from shapedoc.rules.reading.attention import score_of
from shapedoc.rules.reading.contractions import PRODUCTS, names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, graph
from shapedoc.rules.reading.softmaxes import both_ways, holds, softmaxes
from shapedoc.rules.reading.weights import uses

__all__ = ["Roles", "ancestry", "called_at", "leaves", "mixed", "mixed_events", "projection", "roles"]

_CALLS = names("MultiheadAttention.forward scaled_dot_product_attention")
_MAPS = names("Linear.forward linear")
_PASSES = SHAPING | names(
    "Linear.forward linear LayerNorm.forward layer_norm Dropout.forward dropout add mul div RMSNorm.forward"
)


@dataclass(frozen=True, slots=True, eq=False)
class Roles:
    """One attention: where the scores are made, where the context is, and the three operands.

    sure: which of query and key is which is known.
    """

    scores: Event
    context: Event
    query: Operand
    key: Operand
    value: Operand
    sure: bool = True


def roles(trace: Trace) -> Iterator[Roles]:
    """Every attention by product of a trace: modules, torch's own function, and those written out."""
    g = graph(trace)
    for event in trace.events:
        if event.short in _CALLS:
            parts = [event.operand(n) for n in ("query", "key", "value")]
            query, key, value = parts
            if query is not None and key is not None and value is not None:
                yield Roles(event, event, query, key, value)
    for softmax in softmaxes(trace):
        score = score_of(g, softmax)
        if score is None or score.form != "multiplicative" or len(score.query) != 1 or len(score.memory) != 1:
            continue
        if both_ways(g, softmax):
            continue
        axis = softmax.axis
        for use in uses(g, softmax):
            if axis is None or not any(holds(s, axis) for s in use.summed):
                continue
            yield Roles(score.event, use.event, score.query[0], score.memory[0], use.values, score.sure)


def projection(g: Graph, value: Value | None) -> Event | None:
    """The learned map whose output a tensor is, laid out anew at most."""
    event = g.producer(value)
    made = g.origin(event, SHAPING) if event is not None else None
    return made if made is not None and made.short in _MAPS else None


def _passes(event: Event) -> bool:
    """Whether a tensor is mapped or laid out by an event: also by a product with a matrix of the model's own."""
    if event.short in PRODUCTS:
        learned = [isinstance(o.value, Tensor) and o.value.learned for o in tensor_operands(event)]
        return len(learned) == 2 and any(learned)
    return event.short in _PASSES


def leaves(g: Graph, value: Value | None) -> frozenset[int]:
    """The tensors that a sequence is made of by maps, norms and sums: indices of events, inputs by negative uid."""
    found: set[int] = set()
    seen: set[int] = set()
    stack = [value]
    while stack:
        current = stack.pop()
        if not isinstance(current, Tensor) or current.learned or current.uid in seen:
            continue
        seen.add(current.uid)
        event = g.producer(current)
        inner = tensor_operands(event) if event is not None and _passes(event) else []
        if event is None:
            found.add(-current.uid)
        elif inner:
            stack.extend(o.value for o in inner)
        else:
            found.add(event.index)
    return frozenset(found)


def ancestry(g: Graph, value: Value | None) -> frozenset[int]:
    """Everything that a tensor is made of, through any operation: indices of events, inputs by negative uid."""
    found: set[int] = {-value.uid} if isinstance(value, Tensor) and value.event < 0 else set()
    for made in g.producers(value):
        for event in g.back(made, lambda e: True):
            found.add(event.index)
            found.update(
                -o.value.uid for o in tensor_operands(event) if isinstance(o.value, Tensor) and o.value.event < 0
            )
    return frozenset(found)


def _is_mixed(g: Graph, found: Roles) -> bool:
    query, key, value = (leaves(g, o.value) for o in (found.query, found.key, found.value))
    if not query or not key or not value or key & value or key & query or not value & query:
        return False
    return not (key & ancestry(g, found.value.value) or value & ancestry(g, found.key.value))


@lru_cache(maxsize=2)
def mixed_events(trace: Trace) -> frozenset[int]:
    g = graph(trace)
    return frozenset(found.context.index for found in roles(trace) if found.sure and _is_mixed(g, found))


@lru_cache(maxsize=2)
def mixed(trace: Trace) -> frozenset[tuple[Span, ...]]:
    """The products of weights with values of another sequence: whatever else is wrong with them follows from that."""
    return frozenset(called_at(trace.events[index]) for index in mixed_events(trace))


def called_at(event: Event) -> tuple[Span, ...]:
    """An operation, and the last two calls that led to it."""
    return (event.span, *(call.span for call in event.calls[-2:]))
