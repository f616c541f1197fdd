"""What recurrent encoders return, and which part of it is taken: layers and directions of a state, steps of outputs.

Source: PyTorch documentation, torch.nn.LSTM: h_n is (layers * directions, batch, hidden), a layer's two directions
beside each other; output holds the directions beside each other on its last axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Bool, EllipsisValue, Int, NoneValue, Seq, SliceValue, Tensor, Value
from shapedoc.rules.reading.cells import Cell, cells
from shapedoc.rules.reading.contractions import literal, tensor_operands
from shapedoc.rules.reading.flow import Graph

__all__ = ["Taken", "index_parts", "is_bidirectional", "is_whole", "layers_of", "spelled", "taken"]


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """A result of a recurrent module, and all events that use it directly.

    part: "h" or "c", a state; "out", the outputs. tensor: the result.
    """

    cell: Cell
    part: Literal["h", "c", "out"]
    tensor: Tensor
    users: tuple[Event, ...]


def taken(trace: Trace, g: Graph) -> Iterator[Taken]:
    """Every result of a recurrent module (not of a cell) with what uses it."""
    for cell in cells(trace):
        if cell.is_step or not isinstance(cell.event.result, Seq):
            continue
        for part, tensor in _results(cell.event.result):
            users = [e for e in g.users[cell.event.index] if any(o.value is tensor for o in tensor_operands(e))]
            yield Taken(cell, part, tensor, tuple(users))


def _results(result: Seq) -> Iterator[tuple[Literal["h", "c", "out"], Tensor]]:
    if len(result.items) != 2:
        return
    output, state = result.items
    if isinstance(output, Tensor):
        yield "out", output
    if isinstance(state, Tensor):
        yield "h", state
    elif isinstance(state, Seq) and len(state.items) == 2:
        hidden, memory = state.items
        if isinstance(hidden, Tensor):
            yield "h", hidden
        if isinstance(memory, Tensor):
            yield "c", memory


def is_bidirectional(cell: Cell) -> bool:
    """Whether the module runs in both directions, for certain."""
    value = cell.layer.config.get("bidirectional")
    return isinstance(value, Bool) and value.value is True


def layers_of(cell: Cell) -> int | None:
    """The number of layers, if it is known."""
    return literal(cell.layer.config.get("num_layers"))


def index_parts(value: Value | None) -> tuple[Value, ...] | None:
    """An index, axis by axis; None where it has an ellipsis, a new axis or a tensor in it."""
    parts = value.items if isinstance(value, Seq) and value.kind == "tuple" else (value,) if value is not None else ()
    if any(not isinstance(p, Int | SliceValue) for p in parts):
        return None
    return tuple(parts)


def is_whole(value: Value) -> bool:
    """Whether a part of an index is ``:``."""
    if isinstance(value, EllipsisValue):
        return True
    return isinstance(value, SliceValue) and all(
        isinstance(b, NoneValue) for b in (value.lower, value.upper, value.step)
    )


def spelled(index: Value | None) -> str:
    """An index in a form that can be compared: equal texts are equal indices."""
    match index:
        case Int():
            syms = "".join(f" {s.uid}" for s in sorted(index.dim.syms))
            return f"{index.dim.value if index.dim.value is not None else index.dim!r}{syms}"
        case Seq():
            return ",".join(spelled(i) for i in index.items)
        case SliceValue():
            return ":".join(spelled(i) for i in (index.lower, index.upper, index.step))
        case NoneValue():
            return ""
        case Tensor():
            return f"tensor {index.uid}"
    return f"{type(index).__name__} {id(index)}"
