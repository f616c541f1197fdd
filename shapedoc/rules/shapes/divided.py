"""Indices that went through a true division: the number of a beam is a whole one, ``/`` makes it a real one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Seq, Tensor
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import Graph, events_of, graph

__all__ = ["DividedIndex", "divided_indices"]

_INDEXES = names(
    "getitem setitem index_select gather scatter scatter_add index_add index_fill index_copy take take_along_dim "
    "take_along_axis"
) | {"real index"}
# What hands on elements without making whole numbers of them.
_HANDS_ON = names(
    "view reshape squeeze unsqueeze expand expand_as repeat transpose permute t flatten contiguous getitem select "
    "clone detach cuda cpu repeat_interleave"
)


@dataclass(frozen=True, slots=True, eq=False)
class DividedIndex:
    """The division, and where its result stands as an index."""

    division: Event
    event: Event
    index: Operand


def divided_indices(trace: Trace) -> Iterator[DividedIndex]:
    """Every true division whose result is an index, where it first is."""
    g = graph(trace)
    seen: set[Span] = set()
    for event in events_of(trace, _INDEXES):
        index = event.operand("index") or event.operand("indices")
        if index is None:
            continue
        parts = index.value.items if isinstance(index.value, Seq) else (index.value,)
        for part in parts:
            division = _division(g, part) if isinstance(part, Tensor) and part.kind == "float" else None
            if division is not None and division.span not in seen and not division.span.path:
                seen.add(division.span)
                yield DividedIndex(division, event, index)


def _division(g: Graph, tensor: Tensor) -> Event | None:
    event = g.producer(tensor)
    while event is not None and event.short in _HANDS_ON:
        event = g.main_source(event)
    rounded = event is not None and event.value("rounding_mode") is not None
    return event if event is not None and event.short in ("div", "true_divide") and not rounded else None
