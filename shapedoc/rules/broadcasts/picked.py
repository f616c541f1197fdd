"""One entry of an axis, taken of a tensor whose rank nobody knows, beside that tensor itself.

``x[:, -1]`` has an axis fewer than ``x``. Lined up from the right, no axis of the two belongs together, whatever the
rank: (B,) lies under the features of (B, d), and (B, d) under the (T, d) of (B, T, d).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Seq, Tensor
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.elementwise import ELEMENTWISE
from shapedoc.rules.reading.encoders import index_parts, is_whole
from shapedoc.rules.reading.flow import Graph, graph, shape_at

__all__ = ["Picked", "picked_entries"]

# What gives the elements of a tensor in another order or number, along its last axis if no other is named.
_ORDERED = names("topk sort cummax cummin")


@dataclass(frozen=True, slots=True, eq=False)
class Picked:
    """An elementwise operation on a tensor and an entry of it: the entry, the tensor, and the axis it was taken of."""

    event: Event
    entry: Operand
    whole: Operand
    axis: int


def picked_entries(trace: Trace) -> Iterator[Picked]:
    """Where a tensor of unknown rank meets one entry of an axis behind its first, which was not kept as a 1."""
    g = graph(trace)
    for event in trace.events:
        operands = tensor_operands(event) if event.short in ELEMENTWISE and not event.doubtful else []
        if len(operands) != 2:
            continue
        for entry, whole in (operands, operands[::-1]):
            shape, axis = shape_at(event, whole), _axis_of(g, entry, whole)
            if axis is not None and shape is not None and shape.rank is None:
                yield Picked(event, entry, whole, axis)


def _axis_of(g: Graph, entry: Operand, whole: Operand) -> int | None:
    """The axis of `whole` that `entry` was taken of."""
    made = g.producer(entry.value)
    if made is None or made.short != "getitem":
        return None
    parts, source = index_parts(made.value("index")), tensor_operands(made)[:1]
    if not parts or len(parts) < 2 or not isinstance(parts[-1], Int) or not all(is_whole(p) for p in parts[:-1]):
        return None
    return len(parts) - 1 if source and _is_of(g, source[0].value, whole) else None


def _is_of(g: Graph, value: object, whole: Operand) -> bool:
    """Whether a value is the tensor itself, or what was sorted of it."""
    if value is whole.value:
        return True
    made = g.producer(value) if isinstance(value, Tensor) else None
    if made is None or made.short not in _ORDERED or not isinstance(made.result, Seq):
        return False
    source = tensor_operands(made)[:1]
    return bool(source) and made.result.items[0] is value and source[0].value is whole.value
