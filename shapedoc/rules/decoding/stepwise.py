"""Recurrent modules of two directions that are given one step at a time, with the state of the step before."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.trace import Trace
from shapedoc.core.value import Bool, Tensor
from shapedoc.rules.reading.cells import Cell, cells
from shapedoc.rules.reading.encoders import is_bidirectional
from shapedoc.rules.reading.flow import axis_at, shape_at

__all__ = ["stepwise"]


def stepwise(trace: Trace) -> Iterator[tuple[Cell, bool]]:
    """Each such call, one for each place, and whether it is so only with an option that nobody turns on."""
    every = cells(trace)
    seen = set()
    for cell in every:
        if cell.is_step or not is_bidirectional(cell) or cell.event.span in seen or cell.event.span.path:
            continue
        if _one_step(cell) and _carries(cell, every):
            seen.add(cell.event.span)
            yield cell, _is_an_option(trace, cell, every)


def _is_an_option(trace: Trace, cell: Cell, every: tuple[Cell, ...]) -> bool:
    """Whether the module of this call runs in one direction as it is built by default and by the file's driver code."""
    here = [c for c in every if c.event.span == cell.event.span]
    driven = [range(start, end) for name, start, end, _ in trace.entries if not name]
    if any(is_bidirectional(c) and any(c.event.index in events for events in driven) for c in here):
        return False
    both = [c.layer.config.get("bidirectional") for c in here]
    return any(isinstance(value, Bool) and value.value is False for value in both)


def _one_step(cell: Cell) -> bool:
    """Whether the input has one step, as the author has asked for."""
    operand, first = cell.event.operand("input"), cell.layer.config.get("batch_first")
    shape = shape_at(cell.event, operand)
    if operand is None or not isinstance(operand.value, Tensor) or shape is None or shape.rank != 3:
        return False
    if not isinstance(first, Bool) or first.value is None:
        return False
    axis = axis_at(shape, 1 if first.value else 0)
    return axis is not None and axis.dim == ONE and axis.visible


def _carries(cell: Cell, every: tuple[Cell, ...]) -> bool:
    """Whether the state is the caller's, or what the same module has returned."""
    own = {c.event.index for c in every if c.layer.uid == cell.layer.uid}
    return any(s.kind == "input" or (s.kind == "cell" and s.key in own) for s in cell.hidden | cell.memory)
