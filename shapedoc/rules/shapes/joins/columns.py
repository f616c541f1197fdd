"""Columns that are put before or behind the steps of a batch: a first token, a row of zeros, what a loop collected."""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Seq, Tensor
from shapedoc.rules.reading.contractions import literal, names
from shapedoc.rules.reading.flow import SHAPING, Graph
from shapedoc.rules.shapes.joins.joined import Join

__all__ = ["ColumnFound", "column_as_rows", "unlike_the_others"]

_MADE = names("zeros ones full empty rand randn new_zeros new_ones new_full new_tensor")
# What leaves the axes of a column where they are.
_SAME = names("mul add to type type_as long int float bool cuda fill_ detach clone contiguous")


@dataclass(frozen=True, slots=True)
class ColumnFound:
    """The axis along which a column is joined, the one that it has one element of, and what speaks against it."""

    place: int
    column: int
    why: str


def column_as_rows(g: Graph, event: Event, join: Join) -> ColumnFound | None:
    """A tensor that was made with one element along an axis, and joined along an earlier one that both have.

    ``cat((torch.zeros(n, 1), ids[:, :-1]), 0)`` with ids of n rows: what was made has as many rows as the other one.
    """
    tensors = event.operand("tensors")
    if tensors is None or len(tensors.parts) != 2 or len(join.shapes) != 2 or event.sizes is None:
        return None
    place = join.back + len(join.shapes[0].items)
    for one, other in ((0, 1), (1, 0)):
        made, theirs = join.shapes[one], join.shapes[other]
        columns = [k for k, axis in enumerate(made.axes) if axis.visible and axis.dim == ONE]
        if len(columns) != 1 or columns[0] <= place or not _is_made(g, tensors.parts[one]):
            continue
        column = columns[0]
        rows, more = made.axes[place], theirs.axes[place]
        if rows.dim.const is not None or not _is_same(event, rows, more) or theirs.axes[column].visible:
            continue
        if _is_given(g, tensors.parts[other]):
            why = "it has as many rows as what it is joined to, and one element behind each: it was made to stand "
            return ColumnFound(place, column, why + "beside it, row by row")
    return None


def _is_same(event: Event, one: Axis, other: Axis) -> bool:
    return event.sizes is not None and event.sizes.resolve(one.dim) == event.sizes.resolve(other.dim)


def _is_made(g: Graph, operand: Operand) -> bool:
    """Whether a part is a tensor of one number, made for the purpose."""
    event = g.producer(operand.value)
    for _ in range(8):
        if event is None or event.short in _MADE:
            return event is not None
        if event.short not in _SAME:
            return False
        event = g.main_source(event)
    return False


def _is_given(g: Graph, operand: Operand) -> bool:
    """Whether a part is what a function was given, or a slice of it, or what it was computed from at least."""
    event = g.producer(operand.value)
    if event is None:
        return isinstance(operand.value, Tensor) or operand.shape is not None
    return g.origin(event, SHAPING).short not in _MADE


def unlike_the_others(trace: Trace) -> list[tuple[Event, Event, int]]:
    """Joins of what the rounds of a loop collected along axis 0, where the others collected there are along axis 1.

    Each with one of the others, and the axis of the others, along which every part has one element.
    """
    found: list[tuple[Event, Event, int]] = []
    before: dict[tuple[object, ...], list[tuple[Event, int, Seq]]] = {}
    for event in trace.events:
        collected = _collected(event) if event.short == "cat" else None
        if collected is not None:
            before.setdefault((event.function, event.calls, event.loops), []).append((event, *collected))
    for group in before.values():
        for event, number, parts in group if len(group) > 2 else ():
            if number == 0 and _holds_a_step(event, parts):
                others = [
                    e for e, n, more in group if n == 1 and more.length == parts.length and _holds_a_step(e, more)
                ]
                if len({e.span for e in others}) >= 2:
                    found.append((event, others[0], 1))
    return found


def _holds_a_step(event: Event, parts: Seq) -> bool:
    """Whether every part has several rows, and one element of each."""
    shape = event.sizes.shape(parts.rest.shape) if event.sizes is not None and isinstance(parts.rest, Tensor) else None
    if shape is None or shape.rank is None or shape.rank < 2:
        return False
    return shape.axes[1].dim == ONE and shape.axes[0].dim != ONE


def _collected(event: Event) -> tuple[int, Seq] | None:
    """The axis of a join of a list that a loop filled, and the list."""
    value = event.value("tensors")
    number = literal(event.value("dim")) if event.operand("dim") is not None else 0
    if number is None or not isinstance(value, Seq) or value.rest is None or value.items:
        return None
    return number, value
