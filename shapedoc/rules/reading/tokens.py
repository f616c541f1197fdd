"""Which tensors hold token ids: what an embedding looks up."""

from __future__ import annotations

from functools import lru_cache

from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Int, Layer, Tensor, Value
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import SHAPING, graph

__all__ = ["is_padding", "is_tokens"]

_LOOKUPS = names("Embedding.forward embedding EmbeddingBag.forward")
_Key = tuple[int, str]


def is_tokens(trace: Trace, event: Event, value: Value | None) -> bool:
    """Whether a tensor's elements, or those of the tensor that it is a part of, are looked up in an embedding."""
    if not isinstance(value, Tensor):
        return False
    return not _keys(trace, event, value).isdisjoint(_looked_up(trace))


def is_padding(trace: Trace, event: Event, value: Value | None, number: float) -> bool:
    """Whether a number is the `padding_idx` of an embedding that looks a tensor's elements up."""
    if not isinstance(value, Tensor):
        return False
    keys = _keys(trace, event, value)
    return any(index == number and not keys.isdisjoint(looked) for looked, index in _padded(trace))


@lru_cache(maxsize=2)
def _padded(trace: Trace) -> tuple[tuple[frozenset[_Key], int], ...]:
    found: list[tuple[frozenset[_Key], int]] = []
    for event in trace.events:
        layer, value = event.value("self"), event.value("input")
        index = layer.config.get("padding_idx") if isinstance(layer, Layer) else None
        if event.short in _LOOKUPS and isinstance(value, Tensor) and isinstance(index, Int):
            number = index.dim.const
            if number is not None:
                found.append((_keys(trace, event, value), number))
    return tuple(found)


@lru_cache(maxsize=2)
def _looked_up(trace: Trace) -> frozenset[_Key]:
    found: set[_Key] = set()
    for event in trace.events:
        if event.short in _LOOKUPS:
            value = event.value("input")
            if isinstance(value, Tensor):
                found |= _keys(trace, event, value)
    return frozenset(found)


def _keys(trace: Trace, event: Event, value: Tensor) -> frozenset[_Key]:
    """The tensor itself and all that it is a part of: an event's result, or an input by the entry it belongs to."""
    g = graph(trace)
    keys: set[_Key] = set()
    current = value
    for _ in range(50):
        made = g.producer(current)
        if made is None:
            keys.add((-1 - _entry(trace, event), current.source or current.name or str(current.uid)))
            break
        keys.add((made.index, ""))
        source = next((o.value for o in made.operands if isinstance(o.value, Tensor)), None)
        if made.short not in SHAPING or source is None:
            break
        current = source
    return frozenset(keys)


def _entry(trace: Trace, event: Event) -> int:
    for number, (_, start, stop, _sizes) in enumerate(trace.entries):
        if start <= event.index < stop:
            return number
    return 0
