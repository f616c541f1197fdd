"""Cells of a decoding step that are given no state, found by what goes into them alone.

Nothing need be known of shapes: the context of an attention is given an axis of one step, is joined with the token
and goes into the cell; the attention asks with an input that goes nowhere else. That input is the state.
"""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Opaque, Tensor
from shapedoc.rules.decoding.steps import is_one_step
from shapedoc.rules.reading.cells import Cell, cells, outputs_in
from shapedoc.rules.reading.contractions import PRODUCTS, names, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, Graph, graph

__all__ = ["above_without_state", "without_state"]

_SOFTMAX = names("softmax Softmax.forward")
_SINGLE = names("unsqueeze expand_dims")
_INTO = KEEPS | PRODUCTS | names("sum cat concat Linear.forward linear tanh Tanh.forward Embedding.forward")


def without_state(trace: Trace) -> Iterator[tuple[Cell, Event]]:
    """The cells that step without a state, and the softmax of the attention whose context goes into them."""
    g = graph(trace)
    for cell in cells(trace):
        if cell.given or cell.event.loops or cell.event.span.path:
            continue
        joined = g.producer(cell.event.value("input"))
        if joined is None or joined.short not in ("cat", "concat"):
            continue
        for part in g.inputs(joined):
            softmax = _behind(g, part) if part.short in _SINGLE else None
            if softmax is not None and _asks_alone(g, cell, part, softmax):
                yield cell, softmax
                break


def above_without_state(trace: Trace) -> Iterator[tuple[Cell, Cell]]:
    """The cells of a step that are given no state, above one that is given the state of the step before."""
    g = graph(trace)
    seen = set()
    steps = [c for c in cells(trace) if not c.event.span.path and is_one_step(c)]
    below = {c.event.index: c for c in steps if c.given}
    for cell in steps:
        if cell.given or cell.event.span in seen:
            continue
        for source in outputs_in(g, cell.event.value("input")):
            fed = below.get(source.key) if source.kind == "cell" and isinstance(source.key, int) else None
            together = fed is not None and set(cell.event.branch) <= set(fed.event.branch)
            if (
                fed is not None
                and together
                and (fed.event.calls, fed.layer.kind) == (cell.event.calls, cell.layer.kind)
            ):
                seen.add(cell.event.span)
                yield cell, fed
                break


def _behind(g: Graph, context: Event) -> Event | None:
    """The softmax whose weights made a context."""
    behind = g.back(context, lambda e: e.short in KEEPS or e.short in PRODUCTS or e.short == "sum")
    return next((e for e in behind if e.short in _SOFTMAX), None)


def _asks_alone(g: Graph, cell: Cell, context: Event, softmax: Event) -> bool:
    """Whether two inputs meet in the scores, and the one that is no memory goes into the cell in no other way."""
    asked = _inputs(g, softmax, None)
    besides = _inputs(g, cell.event, softmax)
    memory = _inputs(g, context, softmax)
    query = asked - memory
    return bool(query) and bool(memory & asked) and not query & besides


def _inputs(g: Graph, event: Event, stop: Event | None) -> frozenset[str]:
    """The inputs that an event depends on, not counting what goes through `stop`."""
    found: set[str] = set()
    for current in g.back(event, lambda e: e is not stop and (e is event or e.short in _INTO)):
        if current is stop:
            continue
        for operand in tensor_operands(current):
            value = operand.value.as_tensor() if isinstance(operand.value, Opaque) else operand.value
            if isinstance(value, Tensor) and value.event < 0 and value.source and not value.learned:
                found.add(value.source)
    return frozenset(found)
