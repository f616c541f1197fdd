"""A step of every row, with an axis of size 1 for the time, that is joined to others as if it were further rows."""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event, Operand
from shapedoc.core.value import Seq, SliceValue
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import Graph
from shapedoc.rules.shapes.joins.joined import Join

__all__ = ["RowsFound", "step_as_rows"]


@dataclass(frozen=True, slots=True)
class RowsFound:
    """The axis of the join, the one that holds the step, and what speaks against the join."""

    place: int
    step: int
    why: str


def step_as_rows(g: Graph, event: Event, join: Join) -> RowsFound | None:
    """What speaks for a join of a step behind others, of which one of two written parts is one."""
    tensors = event.operand("tensors")
    if tensors is None or len(tensors.parts) != 2 or len(join.shapes) != 2:
        return None
    place = join.back + len(join.shapes[0].items)
    return _in_a_loop(g, event, join, place) or _of_one_batch(event, tensors.parts, join, place)


def _in_a_loop(g: Graph, event: Event, join: Join, place: int) -> RowsFound | None:
    """What a round makes of all steps so far, and puts behind them."""
    tensors = event.operand("tensors")
    before, step = join.shapes
    ones = [k for k, axis in enumerate(step.axes) if axis.dim == ONE and k != place]
    if place and ones == [0] and before.axes[0].dim == ONE:
        return None  # a batch of one
    if not event.loops or not ones or tensors is None:
        return None
    if not _is_carried(g, event, tensors.parts[0]):
        return None
    rows = before.axes[place]
    if rows.dim != ONE and (rows.same(step.axes[place]) or _has_its_rows(g, event, rows, step.axes[place])):
        why = "the step has as many rows as what it is joined to, and was made of it: there are more in every round"
        return RowsFound(place, ones[-1], why)
    if place == 0 and ones == [1] and len(step.axes) == 2 and _is_last_of_axis_1(g, event, tensors.parts[1]):
        return RowsFound(place, 1, "what the step was made of was the last along axis 1: that is where the steps are")
    return None


def _has_its_rows(g: Graph, event: Event, rows: Axis, more: Axis) -> bool:
    """Whether a step has the rows, by their name, of what it is put behind, and something not followed made it of that.

    What a loop collects of its batches has rows of this name, too: none of it is made of what is collected already.
    """
    tensors, sizes = event.operand("tensors"), event.sizes
    if tensors is None or sizes is None or not sizes.resolve(rows.dim).named:
        return False
    made, before = (g.producer(part.value) for part in reversed(tensors.parts))
    if made is None or before is None or sizes.resolve(rows.dim) != sizes.resolve(more.dim):
        return False
    return any(e is before for e in g.back(made, lambda e: e.loops == event.loops))


def _is_carried(g: Graph, event: Event, operand: Operand) -> bool:
    """Whether a part is what an earlier round of the same join made."""
    made = g.producer(operand.value)
    if made is None:
        return False
    if event.target and event.target == g.trace.source(operand.span or event.span):
        return True  # the first round of it
    behind = g.inputs(made) if made.short == "phi" else ()
    return any(e.span == event.span for e in (made, *behind))


def _is_last_of_axis_1(g: Graph, event: Event, operand: Operand) -> bool:
    """Whether the last element along axis 1 of something, ``logits[:, -1]``, went into a step in the same round."""
    made = g.producer(operand.value)
    if made is None:
        return False
    return any(_takes_last(e) for e in g.back(made, lambda e: e.loops == event.loops) if e.loops == event.loops)


def _takes_last(event: Event) -> bool:
    index = event.value("index") if event.short == "getitem" else None
    if not isinstance(index, Seq) or len(index.items) < 2:
        return False
    return isinstance(index.items[0], SliceValue) and literal(index.items[1]) == -1


def _of_one_batch(event: Event, parts: tuple[Operand, ...], join: Join, place: int) -> RowsFound | None:
    """A step and a sequence with the same rows: along the rows, the sequence could only have one step."""
    sizes = event.sizes
    if place != 0 or sizes is None or len(join.shapes[0].items) != 3:
        return None
    rows = [sizes.resolve(s.axes[0].dim) for s in join.shapes]
    if rows[0] != rows[1] or not rows[0].named or rows[0].const is not None:
        return None
    # As they were before the join: what it takes for 1 is seen as the size that it is called.
    before = [part.shape for part in parts if part.shape is not None and part.shape.rank == 3]
    if len(before) != 2:
        return None
    mine, theirs = before[0].axes[1], before[1].axes[1]
    if _is_one(mine) == _is_one(theirs) or ONE in (a.dim for a in (mine, theirs) if not _is_one(a)):
        return None
    name = sizes.show(rows[0])
    return RowsFound(0, 1, f"both have the same `{name}` rows; along them, the other part could only have one step")


def _is_one(axis: Axis) -> bool:
    return axis.dim == ONE and axis.visible
