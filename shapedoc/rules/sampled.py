"""Probabilities that are drawn from: ``multinomial`` takes them along the last axis."""

from __future__ import annotations

from shapedoc.core.trace import Event
from shapedoc.rules.flow import Graph
from shapedoc.rules.softmaxes import Softmax, is_axis

__all__ = ["drawn_from"]

# What leaves the axes of probabilities where they are.
_PLAIN = frozenset(
    ("clone", "detach", "float", "double", "to", "cpu", "cuda", "clamp", "masked_fill", "phi", "contiguous")
)


def drawn_from(g: Graph, softmax: Softmax) -> Event | None:
    """The drawing along the last axis of probabilities that were normalised along another one."""
    axis, shape = softmax.axis, softmax.shape
    if axis is None or shape is None or shape.rank is None or shape.rank < 2 or is_axis(axis, shape.axes[-1]):
        return None
    if axis.same(shape.axes[-1]):
        return None
    uses = g.forward(softmax.event, lambda e: e.short in _PLAIN)
    return next((e for e in uses if e.short == "multinomial"), None)
