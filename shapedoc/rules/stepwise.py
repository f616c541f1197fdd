"""Recurrent modules of two directions that are given one step at a time, with the state of the step before."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.trace import Trace
from shapedoc.core.value import Bool, Tensor
from shapedoc.rules.cells import Cell, cells
from shapedoc.rules.encoders import is_bidirectional
from shapedoc.rules.flow import axis_at, shape_at

__all__ = ["stepwise"]


def stepwise(trace: Trace) -> Iterator[Cell]:
    """Each such call, one for each place."""
    every = cells(trace)
    seen = set()
    for cell in every:
        if cell.is_step or not is_bidirectional(cell) or cell.event.span in seen or cell.event.span.path:
            continue
        if _one_step(cell) and _carries(cell, every):
            seen.add(cell.event.span)
            yield cell


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
