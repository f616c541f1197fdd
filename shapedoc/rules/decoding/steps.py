"""Rounds of a decoding loop: the calls of one cell in it, one round after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import ONE
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Tensor, Value
from shapedoc.rules.reading.cells import Cell, cells
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.encoders import spelled
from shapedoc.rules.reading.flow import SHAPING, Graph, axis_at, shape_at

__all__ = ["Pair", "depends", "is_one_step", "pairs"]


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two rounds of a loop that call one cell at one place; `fed_back`: the later input depends on the earlier call."""

    first: Cell
    second: Cell
    fed_back: bool


def pairs(trace: Trace, g: Graph) -> Iterator[Pair]:
    """Calls of one cell in two rounds of one loop that goes through time.

    Through time: what goes in depends on what came out a round before, or is another step of one sequence. A loop in
    which the cell is called by an inner loop too goes through examples.
    """
    outer = {(c.layer.uid, loop) for c in cells(trace) for loop, _ in c.event.loops[:-1]}
    earlier: dict[tuple[object, ...], Cell] = {}
    for cell in cells(trace):
        event = cell.event
        if not event.loops or not is_one_step(cell) or _one_of_many(trace, event):
            continue
        loop = event.loops[-1][0]
        if (cell.layer.uid, loop) in outer:
            continue
        spans = tuple(c.span for c in event.calls)
        key = (event.span, cell.layer.uid, spans, event.loops[:-1], loop)
        first = earlier.get(key)
        earlier[key] = cell
        if first is None or event.loops[-1][1] != first.event.loops[-1][1] + 1:
            continue
        back = depends(g, event.value("input"), first.event)
        if back or _next_step(g, first.event.value("input"), event.value("input")):
            yield Pair(first, cell, back)


def _one_of_many(trace: Trace, event: Event) -> bool:
    """Whether the loop goes through cells: the one that is called is its variable, or picked from a list."""
    if event.span.path:
        return True
    callee = trace.source(event.span).split("(")[0].strip()
    if "[" in callee:
        return True
    return callee.isidentifier() and callee in trace.written.whole().rounds


def is_one_step(cell: Cell) -> bool:
    """Whether a call takes one step: a cell, or a module on a sequence of length 1."""
    if cell.is_step:
        return True
    operand = cell.event.operand("input")
    shape = shape_at(cell.event, operand)
    first = cell.layer.config.get("batch_first")
    batch_first = getattr(first, "value", None)
    if shape is None or shape.rank != 3 or batch_first is None:
        return False
    axis = axis_at(shape, 1 if batch_first else 0)
    return axis is not None and axis.dim == ONE


def depends(g: Graph, value: Value | None, event: Event) -> bool:
    """Whether a value is made of what an event gave, through anything."""
    made = g.producers(value)
    return any(e is event for source in made for e in g.back(source, lambda e: e.index > event.index))


def _next_step(g: Graph, first: Value | None, second: Value | None) -> bool:
    """Whether two inputs take elements of one tensor by different numbers."""
    ours, theirs = _taken(g, first), _taken(g, second)
    return any(a == c and b != d for a, b in ours for c, d in theirs)


def _taken(g: Graph, value: Value | None) -> set[tuple[int, str]]:
    """The tensors that a value is cut out of, and where."""
    found: set[tuple[int, str]] = set()
    for source in g.producers(value):
        for event in g.back(source, lambda e: e.short in SHAPING or e.short in _INTO):
            if event.short in ("getitem", "select"):
                operand = next(iter(tensor_operands(event)), None)
                index = event.value("index")
                if operand is not None and isinstance(operand.value, Tensor) and index is not None:
                    made = g.producer(operand.value)
                    if made is not None and g.origin(made).short in _RANKS:
                        continue  # hypotheses of a beam, one beside the other
                    tensor = operand.value
                    found.add((tensor.event if tensor.event >= 0 else -tensor.uid, spelled(index)))
    return found


_RANKS = frozenset(("topk", "sort", "argsort"))
_INTO = frozenset(("Embedding.forward", "embedding", "Linear.forward", "cat", "relu", "Dropout.forward", "dropout"))
