"""Outer broadcasts: an axis that meets itself twice, once against a 1 of the other operand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.flow import Graph, graph, result_shape, shape_at

__all__ = ["Outer", "leftover", "outers", "who_made"]


@dataclass(frozen=True, slots=True, eq=False)
class Outer:
    """`low` (B, ...) meets `high` (B, 1, ...): the result has the axis twice.

    axis: the one that is doubled. back: where it stands in `low`, from the right. one: the axis of size 1 of `high`.
    """

    event: Event
    low: Operand
    high: Operand
    axis: Axis
    back: int
    one: Axis


def outers(event: Event) -> Iterator[Outer]:
    """The axes that an elementwise operation doubles, in the tensor of lower rank."""
    if event.doubtful:
        return
    operands = [o for o in tensor_operands(event) if o.name not in ("value", "out")]
    for low in operands:
        for high in operands:
            a, b = shape_at(event, low), shape_at(event, high)
            if low is high or a is None or b is None or a.rank is None or b.rank is None or a.rank >= b.rank:
                continue
            back = -a.rank
            if a.rank == 0 or a.axes[0].dim == ONE or b.axes[back].dim != ONE:
                continue
            if _is_at(event, b, back - 1, a.axes[0]) and all(_lines_up(a, b, p) for p in range(back + 1, 0)):
                yield Outer(event, low, high, a.axes[0], back, b.axes[back])


def leftover(event: Event) -> Outer | None:
    """``(T, B, 1)`` that meets ``(T, B)``: the axis of size 1 was to be dropped, and every axis meets its neighbour.

    All axes of the one of lower rank stand before that 1, by identity: nobody inserts an axis for that.
    """
    operands = [o for o in tensor_operands(event) if o.name not in ("value", "out")]
    for low in operands:
        for high in operands:
            a, b = shape_at(event, low), shape_at(event, high)
            if low is high or a is None or b is None or a.rank is None or b.rank != a.rank + 1 or a.rank < 2:
                continue
            if b.axes[-1].dim != ONE or any(x.dim == ONE for x in a.axes):
                continue
            apart = not any(x.same(y) for i, x in enumerate(a.axes) for y in a.axes[:i])
            if (
                apart
                and all(_stems(event, x, y) for x, y in zip(a.axes, b.axes, strict=False))
                and a.axes[-1].same(b.axes[-2])
            ):
                return Outer(event, low, high, a.axes[-1], -1, b.axes[-1])
    return None


def _stems(event: Event, one: Axis, other: Axis) -> bool:
    """Whether two axes are as long for sure: one size of the program's, not a number that both happen to have."""
    sizes = event.sizes
    return sizes is not None and bool(one.dim.syms) and sizes.resolve(one.dim) == sizes.resolve(other.dim)


def _is_at(event: Event, shape: Shape, place: int, axis: Axis) -> bool:
    """Whether an axis stands at a place, by identity or by its size."""
    if -place > len(shape.axes):
        return False
    other = shape.axes[place]
    if other.same(axis):
        return True
    known = axis.dim.named or (axis.dim.value or 0) > 1
    return known and event.sizes is not None and event.sizes.compare(axis.dim, other.dim).kind is Kind.ALWAYS


def _lines_up(a: Shape, b: Shape, place: int) -> bool:
    return a.axes[place].dim == b.axes[place].dim or a.axes[place].same(b.axes[place])


def who_made(trace: Trace, operand: Operand, axis: Axis) -> Event | None:
    """The event that brought an axis in, walking back from an operand."""
    g: Graph = graph(trace)
    event = g.producer(operand.value)
    for _ in range(100):
        if event is None:
            return None
        sources = [g.producer(o.value) for o in event.operands if isinstance(o.value, Tensor)]
        earlier = [s for s in sources if s is not None and _has(s, axis)]
        if not earlier:
            return event
        event = earlier[0]
    return event


def _has(event: Event, axis: Axis) -> bool:
    shape = result_shape(event)
    return shape is not None and any(a.ids <= axis.ids for a in shape.axes)
