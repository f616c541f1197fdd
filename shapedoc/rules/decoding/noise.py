"""Noise that is one number: added to all scores alike, it cancels in the softmax, and no maximum moves."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Float, Tensor
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import SHAPING, Graph, graph, shape_at

__all__ = ["one_number_for_all"]

_RANDOM = names(
    "gumbel normal uniform laplace logistic standard_normal exponential random rand randn random_sample sample gauss "
    "standard_gumbel"
)
_NORMALISES = names("softmax Softmax.forward log_softmax LogSoftmax.forward")


def one_number_for_all(trace: Trace) -> Iterator[tuple[Event, Operand, Event]]:
    """Sums of scores and a single random number, with the number and the softmax that takes nothing but the sum."""
    g = graph(trace)
    drawn = {e.span for e in trace.events if e.short in _RANDOM and not isinstance(e.result, Tensor)}
    seen = set()
    for event in trace.events:
        if event.short not in ("add", "sub") or event.span in seen or event.span.path:
            continue
        noise = next((o for o in event.operands if _is_one(g, event, o, drawn)), None)
        users = list(g.forward(event, lambda e: e.short in SHAPING)) if noise is not None else []
        softmax = next((e for e in users if e.short in _NORMALISES), None)
        if noise is not None and softmax is not None and all(e.short in SHAPING | _NORMALISES for e in users):
            seen.add(event.span)
            yield event, noise, softmax


def _is_one(g: Graph, event: Event, operand: Operand, drawn: set[Span]) -> bool:
    """Whether an operand is one random number, as such or as a tensor of one element."""
    if isinstance(operand.value, Float):
        return operand.span in drawn
    made = g.producer(operand.value)
    if made is None or made.short not in _RANDOM:
        return False
    shape = shape_at(event, operand)
    return shape is not None and shape.rank is not None and shape.rank < 2 and all(a.dim == ONE for a in shape.axes)
