"""Which tensors hold positions: tables of sines, learned tables, and what an embedding looks up for an `arange`."""

from __future__ import annotations

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Seq, Tensor, Value
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import SHAPING, Graph, graph

__all__ = ["counting", "from_zero", "is_positions", "starts_at_zero", "table_cut"]

_LOOKUPS = names("Embedding.forward embedding")
_CREATES = names("zeros randn empty ones rand normal zeros_like")
_PARTS = names("getitem select narrow chunk split unbind phi")
_WAVES = names("sin cos")
_PASSES = SHAPING | names("add sub mul div pow cat concat exp Linear.forward")


def is_positions(trace: Trace, operand: Operand) -> bool:
    """Whether an operand is made of positions and of nothing that the input says."""
    g = graph(trace)
    made = g.producer(operand.value)
    return made is not None and (counting(g, made) is not None or table_cut(g, made) is not None)


def counting(g: Graph, event: Event) -> Event | None:
    """The `arange` that was looked up in an embedding, or went into a sine."""
    origin = g.origin(event, SHAPING)
    if origin.short in _LOOKUPS:
        index = g.producer(origin.value("input"))
        source = g.origin(index, SHAPING) if index is not None else None
        return source if source is not None and source.short == "arange" else None
    return None


def from_zero(g: Graph, event: Event) -> Event | None:
    """The `arange` from 0 that an embedding looks up as it is, no part of it taken."""
    if event.short not in _LOOKUPS:
        return None
    source = g.producer(event.value("input"))
    while source is not None and source.short in SHAPING - _PARTS:
        source = g.main_source(source)
    return source if source is not None and starts_at_zero(g, source) else None


def starts_at_zero(g: Graph, event: Event) -> bool:
    """Whether an event is an `arange` that starts at 0 in every call of the model."""
    if event.short != "arange" or _is_built(event):
        return False
    limits = event.value("limits")
    items = limits.items if isinstance(limits, Seq) else ()
    return bool(items) and (len(items) < 2 or _is_zero(g, event, items[0]))


def _is_zero(g: Graph, event: Event, start: Value) -> bool:
    """Whether a range starts at a 0 that is written there or assigned; a default is what a caller may change."""
    if not isinstance(start, Int) or start.value != 0:
        return False
    operand = event.operand("limits")
    written = operand.parts[0].span if operand is not None and operand.parts else None
    return start.place is not None or (written is not None and g.trace.source(written) == "0")


def table_cut(g: Graph, event: Event) -> Event | None:
    """The event that made a table of positions, a constant or a parameter of the model, that a tensor is a part of."""
    origin = event
    for _ in range(100):
        if origin.short == "setitem" and any(_is_wave(g, e) for e in g.producers(origin.value("value"))):
            return origin
        if origin.short not in SHAPING and origin.short not in ("setitem", "dropout", "Dropout.forward"):
            break
        source = g.main_source(origin)
        if source is None:
            break
        origin = source
    result = origin.result
    if not isinstance(result, Tensor) or not _is_built(origin):
        return origin if _is_wave(g, origin) else None
    return origin if result.learned or origin.short in _CREATES or _is_wave(g, origin) else None


def _is_built(event: Event) -> bool:
    """Whether an event happens while a model is built."""
    return any(f.endswith("__init__") for f in (event.function, *(c.function for c in event.calls)))


def _is_wave(g: Graph, event: Event) -> bool:
    """Whether a tensor is joined of sines and cosines of positions."""
    found = list(g.back(event, lambda e: e.short in _PASSES or e.short in _WAVES))
    return any(e.short in _WAVES for e in found) and any(e.short == "arange" for e in found)
