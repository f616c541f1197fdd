"""Attention that asks with one layer of a decoder's state, or with some of them, and which."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, NoneValue, SliceValue
from shapedoc.rules.decoding.timing import attentions
from shapedoc.rules.reading.attention import LINEAR
from shapedoc.rules.reading.cells import Cell, Source, cells, overlap, states_of
from shapedoc.rules.reading.contractions import literal, tensor_operands
from shapedoc.rules.reading.encoders import index_parts, is_bidirectional, layers_of
from shapedoc.rules.reading.flow import SHAPING, Graph

__all__ = ["asked", "number_taken"]


def asked(trace: Trace, g: Graph) -> Iterator[tuple[Event, Cell, Operand]]:
    """Where the lowest layer of a state is taken, or all but the last, to ask with; whose state, and what it is."""
    modules = [c for c in cells(trace) if not c.is_step and layers_of(c) != 1 and not is_bidirectional(c)]
    stacked = [c for c in modules if (layers_of(c) or 1) > 1]
    for attention in attentions(trace) if modules else ():
        for operand in attention.score.query:
            event = _picked(g, operand)
            source = next(iter(tensor_operands(event)), None) if event is not None else None
            if event is None or source is None:
                continue
            states = states_of(g, source.value)
            among = modules if number_taken(event) is None else stacked
            cell = next((c for c in among if overlap(states, c.hidden) or _made(states, c)), None)
            if cell is not None:
                yield event, cell, source


def _picked(g: Graph, operand: Operand) -> Event | None:
    """The index that takes entry 0 of a state, or all but the last, between a query and the state."""
    event = g.producer(operand.value)
    for _ in range(20):
        if event is None or event.short not in SHAPING | LINEAR:
            return None
        if event.short in ("getitem", "select"):
            return event if number_taken(event) == 0 or _but_last(event) else None
        event = g.main_source(event)
    return None


def _but_last(event: Event) -> bool:
    """Whether an index is ``[:-1]``."""
    parts = index_parts(event.value("index")) if event.short == "getitem" else None
    first = parts[0] if parts else None
    return isinstance(first, SliceValue) and isinstance(first.lower, NoneValue) and literal(first.upper) == -1


def _made(states: frozenset[Source], cell: Cell) -> bool:
    return any(s.kind == "cell" and s.key == cell.event.index and s.part == "h" for s in states)


def number_taken(event: Event) -> int | None:
    """Which layer and direction of a state an index takes."""
    if event.short == "select":
        return literal(event.value("index")) if literal(event.value("dim")) == 0 else None
    if event.short != "getitem":
        return None
    parts = index_parts(event.value("index"))
    first = parts[0] if parts else None
    return literal(first) if isinstance(first, Int) else None
