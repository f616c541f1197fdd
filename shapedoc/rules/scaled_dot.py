"""Which attention is scaled dot-product attention, so that its scores need a scale."""

from __future__ import annotations

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import NoneValue, Tensor
from shapedoc.rules.claims import claims, claims_of
from shapedoc.rules.contractions import names, tensor_operands
from shapedoc.rules.flow import SHAPING, Graph
from shapedoc.rules.leftovers import says_how, scale_left_over
from shapedoc.rules.scales import Scaled
from shapedoc.rules.softmaxes import Softmax
from shapedoc.rules.weights import uses
from shapedoc.rules.wording import text_of

__all__ = ["is_scaled_dot_product"]

_MAPS = names("Linear.forward linear")


def is_scaled_dot_product(trace: Trace, g: Graph, softmax: Softmax, scaled: Scaled, *, like: bool = False) -> bool:
    """Whether scores are those of scaled dot-product attention, by what they are made of.

    Query, key and value come from linear maps of their own, or from one for all three, and heads were split or the
    code says what it is, by its formula or by what it keeps of a scale; nothing but masks is added to the scores (T5
    has a bias and no scale). like: other scores of the same class are scaled.
    """
    if any(not _is_mask(trace, o) for o in scaled.added) or len(scaled.sides) != 2:
        return False
    said = claims(trace, softmax.event)
    if "luong" in said:
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


def _is_mask(trace: Trace, operand: Operand) -> bool:
    if not isinstance(operand.value, Tensor):
        return isinstance(operand.value, NoneValue)
    return "mask" in f"{text_of(trace, operand)} {operand.value.name}".lower()
