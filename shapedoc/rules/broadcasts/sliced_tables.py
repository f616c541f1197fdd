"""A table of positions, (n, d), cut along its features where its positions were meant.

``pe[:, :x.size(1)]`` is right of a table with an axis of size 1 before its positions, (1, n, d).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import Dim
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, SliceValue, Value
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.encoders import index_parts, is_whole
from shapedoc.rules.reading.flow import SHAPING, Graph, events_of, graph, shape_at
from shapedoc.rules.reading.positions import table_cut

__all__ = ["Cut", "cut_features"]


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A table that is cut: where, which table, and what its features are cut to."""

    event: Event
    table: Operand
    made: Event
    size: Dim


def cut_features(trace: Trace) -> Iterator[Cut]:
    """Where the features of a table of sines are cut to a length that is none of theirs."""
    g = graph(trace)
    for event in events_of(trace, ("getitem",)):
        operands, sizes = tensor_operands(event), event.sizes
        parts = index_parts(event.value("index")) or ()
        shape = shape_at(event, operands[0]) if operands else None
        if shape is None or shape.rank != 2 or sizes is None or len(parts) != 2 or event.doubtful or event.spoilt:
            continue
        made = g.producer(operands[0].value)
        table = table_cut(g, made) if made is not None and is_whole(parts[0]) else None
        if table is None or table.short != "setitem" or any(e.short in SHAPING - {"phi"} for e in _way(g, made, table)):
            continue
        rows, features = (sizes.resolve(a.dim) for a in shape.axes)
        size = next((d for d in _limits(parts[1]) if _counts_steps(sizes.resolve(d), rows, features)), None)
        if size is not None:
            yield Cut(event, operands[0], table, sizes.resolve(size))


def _way(g: Graph, event: Event | None, table: Event) -> Iterator[Event]:
    """What the table went through until it is cut."""
    while event is not None and event is not table:
        yield event
        event = g.main_source(event)


def _limits(part: Value) -> list[Dim]:
    """Where a slice starts and ends, as far as it says."""
    bounds = (part.lower, part.upper) if isinstance(part, SliceValue) else ()
    return [b.dim for b in bounds if isinstance(b, Int) and b.dim.const is None]


def _counts_steps(size: Dim, rows: Dim, features: Dim) -> bool:
    """Whether a limit is made of what the rows are made of, or is some tensor's size, and none of the features'."""
    if not size.syms.isdisjoint(features.syms):
        return False
    asked = all(s.flexible and not s.origin.startswith("parameter") for s in size.syms)
    return asked or not size.syms.isdisjoint(rows.syms)
