"""A recurrent state of several layers that asks as if it had one: its layers lie beside the memory's time steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Opaque, Tensor
from shapedoc.rules.reading.cells import Cell, cells
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import Graph, graph, shape_at
from shapedoc.rules.reading.softmaxes import softmaxes

__all__ = ["Layered", "layered_queries"]

_LAYERED = names("GRU.forward LSTM.forward RNN.forward")
_SCORED = names(
    "Linear.forward linear tanh Tanh.forward relu ReLU.forward squeeze unsqueeze masked_fill where phi dropout "
    "Dropout.forward transpose permute"
)


@dataclass(frozen=True, slots=True, eq=False)
class Layered:
    """The sum in which the state meets the memory, both operands, and the cell that the state goes into."""

    event: Event
    state: Operand
    memory: Operand
    layers: Axis
    cell: Cell


def layered_queries(trace: Trace) -> Iterator[Layered]:
    """Sums of a whole state and a memory whose first axis a softmax normalises."""
    g = graph(trace)
    states = [(cell, axis) for cell in cells(trace) if (axis := _layers(cell)) is not None]
    for softmax in softmaxes(trace) if states else ():
        made = g.producer(softmax.scores.value)
        added = _added(g, made) if made is not None else None
        if added is None or softmax.axis is None:
            continue
        for cell, layers in states:
            if softmax.axis.ids.isdisjoint(layers.ids) or cell.event.function != added.function:
                continue
            operands = tensor_operands(added)
            state = [o for o in operands if _first(added, o, layers)]
            memory = [o for o in operands if o not in state]
            if len(state) == 1 and len(memory) == 1:
                yield Layered(added, state[0], memory[0], layers, cell)


def _layers(cell: Cell) -> Axis | None:
    """The axis of layers of a state that is given whole, where there may be several."""
    operand, count = cell.event.operand("hx"), cell.layer.config.get("num_layers")
    if cell.event.short not in _LAYERED or operand is None or not isinstance(count, Int | Opaque):
        return None
    number = count if isinstance(count, Int) else count.as_int()
    if not isinstance(operand.value, Tensor) or operand.value.event >= 0 or number is None or number.value is not None:
        return None
    shape = shape_at(cell.event, operand)
    return shape.axes[0] if shape is not None and shape.rank == 3 else None


def _added(g: Graph, event: Event) -> Event | None:
    """The sum that scores are made of."""
    for current in g.back(event, lambda e: e.short in _SCORED):
        if current.short == "add" and len(tensor_operands(current)) == 2:
            return current
    return None


def _first(event: Event, operand: Operand, layers: Axis) -> bool:
    shape = shape_at(event, operand)
    return shape is not None and shape.rank == 3 and shape.axes[0].ids <= layers.ids
