"""Axes of size 1 under a softmax, and who asked for them."""

from __future__ import annotations

import re

from shapedoc.core.dim import ONE
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Layer, Seq
from shapedoc.rules.reading.contractions import PRODUCTS, literal, names, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, Graph, axis_at, result_shape
from shapedoc.rules.reading.softmaxes import Softmax, made_axis

__all__ = ["maker_of_one"]

# What puts an axis of size 1 where the author says it.
_ASKED = names("unsqueeze expand_dims getitem sum mean max amax view reshape")
_LITERAL_ONE = re.compile(r"[(,\[]\s*1\s*[,)\]]")
_CREATED = names("randn rand zeros ones empty normal standard_normal uniform random")
_JOINS = names("cat concat concatenate")
_MAPS = names("Linear.forward linear Conv1d.forward Conv2d.forward")


def maker_of_one(g: Graph, softmax: Softmax) -> Event | None:
    """The event that made the axis with size 1 on purpose, in the function of the softmax or one that it calls.

    A batch or a length that happens to be 1, and a single key that a caller passes, are none.
    """
    event = made_axis(g, softmax)
    if _joined_of_one(g, softmax) or (event is not None and _of_a_branch(event, softmax)):
        return None
    if event is not None and _of_a_parameter(g.trace, event):
        return event
    if event is None or event.calls[: softmax.depth] != softmax.event.calls[: softmax.depth]:
        return None
    shape = result_shape(event)
    last = axis_at(shape, -1)
    if event.short in _MAPS:
        layer = event.value("self")
        wanted = (
            layer.config.get("out_features", layer.config.get("out_channels")) if isinstance(layer, Layer) else None
        )
        sure = literal(wanted) == 1 and _written_as_one(g.trace, layer)
        return event if sure and last is not None and last.dim == ONE else None
    if event.short in _ASKED and _asks(event, softmax):
        sized = event.short in ("view", "reshape")
        return event if not sized or _LITERAL_ONE.search(g.trace.source(event.span)) else None
    return event if _stated_as_one(g, event, softmax) else None


def _of_a_branch(event: Event, softmax: Softmax) -> bool:
    """Whether a branch gave an axis to what has none, and the softmax is one for all: ``if k.dim() == 2``."""
    together = event.function == softmax.event.function and len(event.calls) == len(softmax.event.calls)
    return together and not set(event.branch) <= set(softmax.event.branch)


def _joined_of_one(g: Graph, softmax: Softmax) -> bool:
    """Whether the scores were joined of a list that holds one part: as many as a setting says, here one."""
    event = g.producer(softmax.scores.value)
    for source in g.back(event, lambda e: e.short in KEEPS or e.short in _JOINS) if event is not None else ():
        parts = source.value("tensors") if source.short in _JOINS else None
        if isinstance(parts, Seq) and parts.rest is None and len(parts.items) == 1:
            return True
    return False


def _asks(event: Event, softmax: Softmax) -> bool:
    """Whether the event itself asked for the axis, whatever it was joined with later."""
    axis, made = softmax.axis, result_shape(event)
    return axis is not None and made is not None and any(a.visible and a.ids <= axis.ids for a in made.axes)


def _stated_as_one(g: Graph, event: Event, softmax: Softmax) -> bool:
    """Whether the axis is one of a parameter that is stated as 1: a scorer's vector as a column, ``v: (d, 1)``."""
    axis = softmax.axis
    if axis is None or not axis.visible or event.short not in PRODUCTS:
        return False
    inputs = [o for o in tensor_operands(event) if g.producer(o.value) is None]
    return any(a.visible and a.ids <= axis.ids for o in inputs if o.shape is not None for a in o.shape.axes)


def _of_a_parameter(trace: Trace, event: Event) -> bool:
    """Whether a constructor draws a vector of scores, (d, 1), so that what it multiplies has one score a row."""
    drawn = event.short in _CREATED and event.function.endswith("__init__")
    return drawn and _LITERAL_ONE.search(trace.source(event.span)) is not None


def _written_as_one(trace: Trace, layer: object) -> bool:
    """Whether the layer's size is a 1 in the source and no parameter that happens to be 1."""
    if not isinstance(layer, Layer) or not 0 <= layer.event < len(trace.events):
        return False
    built = trace.events[layer.event]
    operand = built.operand("out_features") or built.operand("out_channels")
    return operand is not None and operand.span is not None and trace.source(operand.span).strip() == "1"
