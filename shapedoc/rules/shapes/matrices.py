"""Maps that are plain matrices of numbers: which one gave an operand its features, and which size is wanted of it.

``k = H @ U.T`` has its last axis from U, wherever U was made; ``scores = np.tanh(k + q) @ v`` wants the size of v.
"""

from __future__ import annotations

from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.rules.reading.blame import layer_of
from shapedoc.rules.reading.contractions import PRODUCTS, contraction, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, graph, result_shape
from shapedoc.rules.reading.scores import CREATES, source_of

__all__ = ["features_from", "wanted_after"]

_STEPS = SHAPING | {"tanh", "relu", "sigmoid", "add", "maximum"}


def features_from(trace: Trace, operand: Operand, axis: Axis) -> Event | None:
    """The event that made the matrix which gave an operand this axis: a map of its own, with a name.

    None where the operand is no product, or the axis came from elsewhere.
    """
    product = source_of(trace, operand)
    if product is None or product.short not in PRODUCTS:
        return None
    for factor in tensor_operands(product):
        made = source_of(trace, factor)
        shape = result_shape(made) if made is not None else None
        if made is None or shape is None or made.short not in CREATES or not made.target or shape.rank != 2:
            continue
        if any(own.same(axis) for own in shape.axes):
            return made
    return None


def wanted_after(trace: Trace, event: Event) -> Axis | None:
    """The axis of another tensor that the features of what an event makes are summed with next."""
    for user in graph(trace).forward(event, lambda e: e.short in _STEPS):
        if user.short not in PRODUCTS or layer_of(user) is not None:
            continue
        for operand in tensor_operands(user):
            made = graph(trace).producer(operand.value)
            product = contraction(user, operand) if made is event or _is_after(trace, event, made) else None
            if product is not None and len(product.other_summed) == 1:
                return product.other_summed[0]
    return None


def _is_after(trace: Trace, event: Event, made: Event | None) -> bool:
    if made is None:
        return False
    return any(e is event for e in graph(trace).back(made, lambda e: e is not event and e.short in _STEPS))
