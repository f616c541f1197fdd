"""Which attention is scaled dot-product attention, so that its scores need a scale."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Int, NoneValue, Tensor, Unknown
from shapedoc.rules.attention.leftovers import is_width_left_over, says_how, scale_left_over
from shapedoc.rules.reading.claims import claims, claims_of
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph
from shapedoc.rules.reading.roles import ancestry
from shapedoc.rules.reading.scales import Scaled
from shapedoc.rules.reading.softmaxes import Softmax
from shapedoc.rules.reading.weights import uses
from shapedoc.rules.reading.wording import text_of

__all__ = ["is_scaled_dot_product", "unread_softmaxes"]

_MAPS = names("Linear.forward linear")


def unread_softmaxes(trace: Trace) -> Iterator[Softmax]:
    """Calls of functions that are read nowhere and are called a softmax, with nothing that could be a scale."""
    for event in trace.events:
        name = event.op.rpartition(".")[2].lower()
        if not event.lost or "softmax" not in name or "scale" in name or not event.operands:
            continue
        scores, *others = event.operands
        plain = all(isinstance(o.value, _NO_SCALES) or _HIDES.search(text_of(trace, o)) for o in others)
        if isinstance(scores.value, Tensor) and plain:
            yield Softmax(event, scores, None, event.span, len(event.calls), "call")


_NO_SCALES = (Tensor, Int, Bool, NoneValue)
_HIDES = re.compile(r"mask|len", re.IGNORECASE)


def is_scaled_dot_product(trace: Trace, g: Graph, softmax: Softmax, scaled: Scaled, *, like: bool = False) -> bool:
    """Whether scores are those of scaled dot-product attention, by what they are made of.

    Query, key and value come from linear maps of their own, or from one for all three, and heads were split or the
    code says what it is, by its formula or by what it keeps of a scale; nothing is added to the scores but masks and
    what is made of the query too, as for relative positions (T5 has a bias and no scale). like: other scores of the
    same class are scaled.
    """
    said = claims(trace, softmax.event)
    if len(scaled.sides) != 2 or "luong" in said:
        return False
    if "transformer" in said and is_width_left_over(trace, scaled.product.event):
        return True
    if scaled.lost or any(not _is_mask(trace, o) and not _is_asked(g, scaled, o) for o in scaled.added):
        return False
    if "scaled-dot" in claims_of(trace, softmax.event.function) or scale_left_over(trace, scaled.product.event, scaled):
        return True
    if like or says_how(trace, scaled.product.event):
        return True
    left, right = (s.root for s in scaled.sides)
    values = [_root(g, u.values) for u in uses(g, softmax) if u.how == "product"]
    key = _root(g, scaled.product.theirs)
    own = bool(values) and ((left is right and left is not None) or all(v != key for v in values))
    if own and all(s.split for s in scaled.sides):
        return True
    if own and any(s.split and s.root is not None and s.root.short in _MAPS for s in scaled.sides):
        return True
    if left is right and left is not None and left.short in _MAPS and values == [key]:
        return _keeps_width(scaled, left)
    maps = all(e is not None and e.short in _MAPS for e in (left, right))
    return own and maps and left is not right and "transformer" in said


def _keeps_width(scaled: Scaled, made: Event) -> bool:
    """Whether the product sums over features that a linear map made, not over what they were made of."""
    shape = made.shape
    ids = shape.suffix[-1].ids if shape is not None and shape.suffix else frozenset()
    return len(scaled.product.summed) == 1 and not ids.isdisjoint(scaled.product.summed[0].ids)


def _root(g: Graph, operand: Operand) -> int:
    """Which tensor an operand is made of by layouts: the event that made it, or the input."""
    event = g.producer(operand.value)
    if event is None:
        return -operand.value.uid if isinstance(operand.value, Tensor) else 0
    event = g.origin(event, SHAPING)
    source = next((o for o in tensor_operands(event)), None)
    if event.short in SHAPING and source is not None and isinstance(source.value, Tensor) and source.value.event < 0:
        return -source.value.uid
    return event.index


def _is_asked(g: Graph, scaled: Scaled, operand: Operand) -> bool:
    """Whether a query or key of the product went into what is added to the scores."""
    made = ancestry(g, operand.value)
    return any(side.root is not None and side.root.index in made for side in scaled.sides)


def _is_mask(trace: Trace, operand: Operand) -> bool:
    value = operand.value
    if not isinstance(value, Tensor | Unknown):
        return isinstance(value, NoneValue)
    name = value.name if isinstance(value, Tensor) else ""
    return "mask" in f"{text_of(trace, operand)} {name}".lower()
