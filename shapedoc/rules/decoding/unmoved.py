"""Attention in a decoding loop that asks with the state from before the loop in every round, while the cell goes on."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.span import Span
from shapedoc.core.trace import Trace
from shapedoc.rules.decoding.timing import Attention
from shapedoc.rules.reading.cells import Cell, cells, overlap

__all__ = ["asks_with_the_first", "place_in_loop"]


def asks_with_the_first(trace: Trace, attention: Attention) -> Iterator[Cell]:
    """The cells of the second round that an attention feeds, and whose first state it still asks with."""
    loops = attention.softmax.event.loops
    if not loops or loops[-1][1] != 1 or not attention.query or any(s.kind != "input" for s in attention.query):
        return
    first = (*loops[:-1], (loops[-1][0], 0))
    for cell in attention.fed:
        if cell.event.loops != loops or not cell.given or cell.is_by_hand:
            continue
        for before in cells(trace):
            goes_on = cell.hidden and all(s.kind == "cell" and s.key == before.event.index for s in cell.hidden)
            same = before.layer is cell.layer and before.event.span == cell.event.span
            if goes_on and same and before.event.loops == first and overlap(attention.query, before.hidden):
                yield cell


def place_in_loop(attention: Attention, cell: Cell) -> Span | None:
    """The call of the attention that the loop makes; where the scores are made if they are made in it."""
    around = {call.id for call in cell.event.calls}
    outer = next((c.span for c in attention.softmax.event.calls if c.id not in around), None)
    return outer or attention.score.query[0].span
