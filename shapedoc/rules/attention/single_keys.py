"""Attention modules that are given a single key, which was made in the same function: no softmax stands in the code."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Layer
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import Graph, graph, result_shape, shape_at
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of

__all__ = ["single_keys"]

_ATTENTION = names("MultiheadAttention.forward scaled_dot_product_attention")
_ASKED = names("unsqueeze expand_dims getitem")


def single_keys(trace: Trace, code: str, name: str) -> Iterator[Finding]:
    """``attend(query, x.unsqueeze(1), x.unsqueeze(1))``: all queries get the one value that there is.

    A key of the query's own tensor is left out: a sequence that attends to itself may be one step of several.
    """
    g = graph(trace)
    for event in trace.events:
        if event.short not in _ATTENTION or event.span.path or event.spoilt:
            continue
        key, query = event.operand("key"), event.operand("query")
        axis = _keys(event, key)
        if key is None or query is None or axis is None or axis.dim != ONE or not axis.visible:
            continue
        maker = _maker(g, event, key, axis)
        asks = shape_at(event, query)
        if maker is None or asks is None or g.producer(query.value) is g.producer(key.value):
            continue
        shape = shape_text(event, key.shape)
        yield finding(
            trace,
            event,
            key.span,
            code=code,
            name=name,
            severity="error",
            message=f"{text_of(trace, key)} {shape} is a single key: every weight is 1, whatever the query is",
            tensor=text_of(trace, key),
            actual=shape,
            labels=label(maker.span, "the axis of size 1 is made here") + call_labels(event),
            why="a softmax shares 1 among the keys; one key gets all of it, so that the output does not depend on the "
            "query at all",
            notes=("no gradient reaches the query",),
            help="attend to several keys, or leave the attention out",
        )


def _keys(event: Event, key: Operand | None) -> Axis | None:
    """The axis of the keys."""
    shape = shape_at(event, key)
    if shape is None or shape.rank is None or shape.rank < 3:
        return None
    layer = event.value("self")
    if not isinstance(layer, Layer):
        return shape.axes[-2]
    first, added = layer.config.get("batch_first"), (layer.config.get(k) for k in ("add_bias_kv", "add_zero_attn"))
    if not isinstance(first, Bool) or any(isinstance(a, Bool) and a.value is not False for a in added):
        return None
    return shape.axes[1 if first.value else 0]


def _maker(g: Graph, event: Event, key: Operand, axis: Axis) -> Event | None:
    """The event that asked for the axis of size 1, in the function of the attention."""
    made = g.producer(key.value)
    for _ in range(20):
        if made is None or len(made.calls) < len(event.calls) or made.function != event.function:
            return None
        if made.branch != event.branch[: len(made.branch)]:
            return None
        shape = result_shape(made)
        here = next((a for a in shape.axes if a.ids <= axis.ids), None) if shape is not None else None
        before = [s for o in tensor_operands(made) if (s := shape_at(made, o)) is not None]
        if here is None or not here.visible:
            return None
        if not any(a.ids <= axis.ids for s in before for a in s.axes):
            return made if made.short in _ASKED else None
        made = g.main_source(made)
    return None
