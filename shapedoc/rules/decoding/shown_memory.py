"""LSTM steps that show their memory: the cell state goes on to the output, the hidden state only to the next step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Seq, Tensor
from shapedoc.rules.reading.attention import LINEAR
from shapedoc.rules.reading.cells import Cell, cells
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import Graph, graph

__all__ = ["Shown", "shown_memories"]

_HANDS_ON = names("phi dropout Dropout.forward contiguous clone detach to float half")
_SHOWS = LINEAR | {"cat"}


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A step of an LSTM, and the first map or join that its cell state goes into."""

    cell: Cell
    event: Event
    operand: Operand


def shown_memories(trace: Trace) -> Iterator[Shown]:
    """Every step whose cell state is mapped or joined while nothing but the next step reads its hidden state."""
    g = graph(trace)
    for cell in cells(trace):
        result = cell.event.result
        if not cell.is_lstm or not cell.is_step or not isinstance(result, Seq) or len(result.items) != 2:
            continue
        hidden, memory = result.items
        if not isinstance(hidden, Tensor) or not isinstance(memory, Tensor) or hidden.uid in trace.returned:
            continue
        read = list(_readers(g, cell.event, hidden))
        if not read or not all(_is_next(e, o, cell) for e, o in read):
            continue
        shown = next(((e, o) for e, o in _readers(g, cell.event, memory) if e.short in _SHOWS), None)
        if shown is not None:
            yield Shown(cell, *shown)


def _readers(g: Graph, made: Event, value: Tensor) -> Iterator[tuple[Event, Operand]]:
    """What reads a tensor, handed on or dropped out at most, and as what."""
    for event in g.users[made.index]:
        for operand in tensor_operands(event):
            if operand.value is value:
                if event.short in _HANDS_ON and isinstance(event.result, Tensor):
                    yield from _readers(g, event, event.result)
                else:
                    yield event, operand


def _is_next(event: Event, operand: Operand, cell: Cell) -> bool:
    """Whether a state goes into the next step of its cell."""
    return event.value("self") is cell.layer and operand.name.startswith("hx")
