"""Products of an attention that are the other way round, where nothing is known of the sizes.

``k.transpose(-2, -1) @ q`` compares features where ``q @ k.transpose(-2, -1)`` compares queries with keys, and
``v @ softmax(q @ k.transpose(-2, -1))`` sums the queries where the softmax made shares of the keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, events_of, graph, shape_at
from shapedoc.rules.reading.softmaxes import Softmax, both_ways, softmaxes
from shapedoc.rules.reading.wording import severity_of, text_of

__all__ = ["Turned", "turned_scores", "weights_behind"]

_MATRICES = names("matmul bmm mm __matmul__")
# What hands on scores or weights with their axes where they are.
_STAYS = (KEEPS - SHAPING) | names("phi contiguous clone to float half double type type_as cuda log exp")
_QUERY = frozenset(("q", "query", "queries"))
_KEY = frozenset(("k", "key", "keys"))


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """An attention with a product the other way round.

    weights: the event that normalises. scores: the product that it normalises, of `left` and `right`. context: the
    product of weights and values.
    """

    weights: Event
    scores: Event
    left: Operand
    right: Operand
    context: Event
    values: Operand


def turned_scores(trace: Trace) -> Iterator[Turned]:
    """Attentions whose scores are ``key^T query``, by what both are called, and whose weights stand before the values.

    With rows of features such scores compare features. With the features first they would have the keys in their rows,
    and the values would be summed over the places of the queries.
    """
    g = graph(trace)
    for found in _attentions(g, 0):
        before = _turned_from(g, found.left)
        if before is None or _turned_from(g, found.right) is not None or _turned_from(g, found.values) is not None:
            continue
        if _role(trace, found.left, before) == "key" and _role(trace, found.right) == "query":
            yield found


def weights_behind(trace: Trace) -> Iterator[tuple[Softmax, Turned]]:
    """Attentions ``v @ softmax(q @ k^T)`` of which not even the ranks are known."""
    g = graph(trace)
    known = {s.event.index: s for s in softmaxes(trace)}
    for found in _attentions(g, 1):
        softmax = known.get(found.weights.index)
        if softmax is None or not _of_last(softmax) or both_ways(g, softmax):
            continue
        if _turned_from(g, found.right) is None or _turned_from(g, found.left) is not None or _moved(g, found.values):
            continue
        shape = shape_at(found.context, found.context.operands[1])
        if shape is None or len(shape.suffix) < 2:
            yield softmax, found


def _of_last(softmax: Softmax) -> bool:
    """Whether a softmax normalises the last axis."""
    rank = softmax.shape.rank if softmax.shape is not None else None
    return softmax.number == -1 or (softmax.number is not None and softmax.number + 1 == rank)


def _attentions(g: Graph, side: int) -> Iterator[Turned]:
    """Products of values with weights that are a softmax of a product of two activations; side: of the weights."""
    for context in events_of(g.trace, _MATRICES):
        operands = context.operands
        if len(operands) != 2 or any(severity_of(p.sameness) in ("error", "warning") for p in context.problems):
            continue
        weights, values = operands[side], operands[1 - side]
        chain = [e for made in g.producers(weights.value) for e in g.back(made, _hands_on)]
        shares = next((e for e in chain if _is_softmax(e)), None)
        if shares is None or not isinstance(values.value, Tensor) or values.value.learned:
            continue
        for scores in chain:
            parts = tensor_operands(scores) if scores.short in _MATRICES and not scores.problems else []
            if len(parts) == 2 and not any(isinstance(o.value, Tensor) and o.value.learned for o in parts):
                yield Turned(shares, scores, parts[0], parts[1], context, values)


def _is_softmax(event: Event) -> bool:
    """Whether an event normalises, or is a call of a function that is read nowhere and is called a softmax."""
    return "softmax" in event.op.lower()


def _hands_on(event: Event) -> bool:
    return event.short in _STAYS or _is_softmax(event)


def _turned_from(g: Graph, operand: Operand) -> Operand | None:
    """What an operand was before its last two axes changed places, if they did at the last."""
    event = g.producer(operand.value)
    while event is not None and event.short in ("contiguous", "clone", "to"):
        event = g.main_source(event)
    given = tensor_operands(event) if event is not None and event.short in SHAPING else []
    if event is None or not given or event.shape is None or event.sizes is None:
        return None
    before, after = shape_at(event, given[0]), event.sizes.shape(event.shape)
    if before is None:
        return None
    old, new = before.suffix[-2:], after.suffix[-2:]
    if len(old) < 2 and len(before.prefix) > 2:
        old, new = before.prefix[-2:], after.prefix[len(before.prefix) - 2 : len(before.prefix)]
    swapped = len(old) == len(new) == 2 and old[0].same(new[1]) and old[1].same(new[0])
    return given[0] if swapped and not old[0].same(old[1]) else None


def _moved(g: Graph, operand: Operand) -> bool:
    """Whether the axes of an operand may have been moved since it was made, or given."""
    event = g.producer(operand.value)
    return event is not None and any(e.short in _MOVES for e in g.back(event, lambda e: e.short in SHAPING))


_MOVES = names("transpose permute t T mT swapaxes swapdims movedim rearrange transpose_ view reshape")


def _role(trace: Trace, *operands: Operand) -> str:
    """What an operand is by what it is called, here or before it was turned: "query", "key", or "" for neither."""
    found = set()
    for operand in operands:
        text = text_of(trace, operand).lower()
        words = re.split(r"[\W_\d]+", text) if re.fullmatch(r"[\w.]+", text) else []
        role = next(("query" if w in _QUERY else "key" for w in words if w in _QUERY | _KEY), "")
        found.update([role] if role else [])
    return found.pop() if len(found) == 1 else ""
