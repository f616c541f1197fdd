"""Rows that are picked by a column of indices, (n, 1): what is picked has that axis too.

``x[order]`` with the order of ``lengths.sort(dim=0)``, lengths being (B, 1), is (B, 1, T) for x of (B, T).
"""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Tensor
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import events_of, graph, shape_at

__all__ = ["picked_by_column"]

_KEEPS = names("to cuda cpu detach long")
_MENDS = names("squeeze view reshape flatten squeeze_ view_as ravel sum mean")


def picked_by_column(trace: Trace) -> Iterator[tuple[Event, Operand, Event]]:
    """Where rows are picked first by what sorted a column, and the axis is not dropped."""
    g, seen = graph(trace), set[Span]()
    for event in events_of(trace, ("getitem",)):
        index = event.operand("index")
        if index is None or not isinstance(index.value, Tensor) or event.spoilt:
            continue
        shape, made = shape_at(event, index), g.producer(index.value)
        while made is not None and made.short in _KEEPS:
            made = g.main_source(made)
        if shape is None or shape.rank != 2 or shape.axes[1].dim.const != 1 or shape.axes[0].dim.const is not None:
            continue
        if (
            made is None
            or made.span in seen
            or not _orders_rows(made)
            or any(e.short in _MENDS for e in g.users[event.index])
        ):
            continue
        seen.add(made.span)
        yield event, index, made


def _orders_rows(event: Event) -> bool:
    """Whether an event gives the order of rows; what finds the places of some in a vector may give a column."""
    dim = event.value("dim")
    along = isinstance(dim, Int) and dim.value == 0
    return event.short in ("sort", "argsort") and along
