"""Joins (``cat``, ``stack``): what was joined along which axis, and along which it would fit."""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Int, Opaque, Seq, Tensor
from shapedoc.rules.reading.blame import axis_of, layer_of
from shapedoc.rules.reading.flow import SHAPING, graph
from shapedoc.rules.reading.sized import equal

__all__ = ["Join", "doubled", "join_of", "misjoined"]

_JOINS = frozenset(("cat", "hstack", "vstack"))
_THROUGH = (SHAPING - {"stack"}) | {"tanh", "relu", "dropout", "Dropout.forward"}


# What scores go through between the states that were joined and the weights.
_MAPPED = ("Linear.forward", "linear", "softmax", "Softmax.forward", "Tanh.forward")
_SCORED = _THROUGH | frozenset((*_MAPPED, "masked_fill", "matmul", "mul", "div", "add"))


@dataclass(frozen=True, slots=True)
class Join:
    """A join along one axis: the shapes of its parts, the axis (from the right), where that was written."""

    event: Event
    shapes: tuple[Shape, ...]
    back: int
    span: Span

    def along(self, back: int, *, surely: bool = True) -> Dim | None:
        """The size of the joined axis had it been this one; None where the other axes do not agree.

        surely: they must certainly agree; else it is enough that nothing speaks against it.
        """
        total = Dim.of(0)
        first = self.shapes[0]
        for shape in self.shapes:
            for place in range(-len(first.items), 0):
                if place != back and not self._agree(shape.axes[place], first.axes[place], surely):
                    return None
            total = total + shape.axes[back].dim
        return total

    def _agree(self, one: Axis, other: Axis, surely: bool) -> bool:
        if surely:
            return equal(self.event, one, other)
        return self.event.sizes is not None and self.event.sizes.compare(one.dim, other.dim).ok


def join_of(event: Event) -> Join | None:
    """What a `cat` joined; None where a part of it is not known."""
    if event.short not in _JOINS or event.sizes is None:
        return None
    value = event.value("tensors")
    if not isinstance(value, Seq) or value.rest is not None or len(value.items) < 2:
        return None
    parts = [v.as_tensor() if isinstance(v, Opaque) else v for v in value.items]
    shapes = tuple(event.sizes.shape(v.shape) for v in parts if isinstance(v, Tensor))
    rank = shapes[0].rank if shapes else None
    if rank is None or len(shapes) != len(parts) or any(s.rank != rank for s in shapes):
        return None
    operand = event.operand("dim")
    number = _number(operand)
    if number is None or not -rank <= number < rank:
        return None
    span = operand.span if operand is not None and operand.span is not None else event.span
    return Join(event, shapes, number - rank if number >= 0 else number, span)


def _number(operand: Operand | None) -> int | None:
    if operand is None:
        return 0
    return operand.value.value if isinstance(operand.value, Int) else None


def misjoined(trace: Trace, event: Event, problem: Problem) -> tuple[Join, int] | None:
    """The join along the wrong axis that a module's input comes from, and the axis that would give the right size."""
    layer, operand = layer_of(event), event.operand(problem.operands[0]) if problem.operands else None
    config = layer.config.get(problem.detail.get("setting", "")) if layer is not None else None
    if operand is None or not isinstance(config, Int) or event.sizes is None or not problem.axes:
        return None
    g = graph(trace)
    made = g.producer(operand.value)
    made = g.origin(made, frozenset(_THROUGH)) if made is not None else None
    join = join_of(made) if made is not None else None
    axis = axis_of(event, operand, problem.axes[0])
    if join is None or axis is None:
        return None
    number = event.sizes.resolve(axis.dim).value
    if number is not None and number == config.dim.value:
        return None  # two sizes that are called otherwise: as they were joined, they fit
    wanted = Axis(event.sizes.resolve(config.dim))
    for back in range(-1, -len(join.shapes[0].items) - 1, -1):
        total = join.along(back, surely=False) if back != join.back else None
        if total is not None and equal(event, total, wanted):
            return join, back
    return None


def doubled(trace: Trace, event: Event, problem: Problem) -> tuple[Join, int] | None:
    """The join along time that made an axis longer than the one it meets in a product, and the last axis instead.

    Scores of query and memory joined behind each other are as many as both have steps: the weights fit no memory.
    """
    sizes = event.sizes
    if problem.kind != "mismatched-product" or len(problem.axes) != 2 or sizes is None:
        return None
    g = graph(trace)
    for (name, place), other in zip(
        zip(problem.operands, problem.axes, strict=True),
        zip(problem.operands[::-1], problem.axes[::-1], strict=True),
        strict=True,
    ):
        operand = event.operand(name)
        axis, wanted = axis_of(event, operand, place), axis_of(event, event.operand(other[0]), other[1])
        made = g.producer(operand.value) if operand is not None else None
        if axis is None or wanted is None or made is None:
            continue
        for source in g.back(made, lambda e: e.short in _SCORED):
            join = join_of(source)
            if join is None or join.back == -1 or source.shape is None:
                continue
            joined = sizes.shape(source.shape).axes[join.back]
            if equal(event, joined, axis) and any(equal(event, s.axes[join.back], wanted) for s in join.shapes):
                return join, -1
    return None
