"""The states of recurrent modules: what they must be, and what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind, Sameness
from shapedoc.core.value import Layer, NoneValue, Seq, Tensor, Unknown, Value
from shapedoc.ops.calling.bind import as_tensor
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.settings import flag, size

__all__ = ["Stack", "check_state", "crossed", "one_state", "stack_of", "two_states"]


@dataclass(frozen=True, slots=True)
class Stack:
    """What a recurrent module was built as; `directions` is None where it is not known."""

    input: Dim
    hidden: Dim
    layers: Dim
    directions: int | None
    projected: Dim | None = None

    @property
    def out(self) -> Dim:
        """The size of one direction's output."""
        return self.hidden if self.projected is None else self.projected

    def last_axis(self, at: OpContext) -> Axis:
        """The last axis of the output: the directions beside each other."""
        if self.directions is None:
            axis = at.fresh()
        elif self.directions == 1:
            axis = at.axis(self.out)
        else:
            inner = at.axis(self.out)
            at.sizes.mark(inner, "feature", at.line)
            axis = Axis(2 * self.out, factors=(at.axis(2), inner))
        at.sizes.mark(axis, "feature", at.line)
        return axis

    def first_axis(self, at: OpContext) -> Axis:
        """The first axis of a state: every layer with its directions inside."""
        axis = at.fresh()
        if self.directions == 1:
            axis = at.axis(self.layers)
        elif self.directions == 2:
            axis = Axis(2 * self.layers, factors=(at.axis(self.layers), at.axis(2)))
        at.sizes.mark(axis, "layers", at.line)
        return axis


def stack_of(at: OpContext, layer: Layer) -> Stack:
    """What the module was built as."""
    bidirectional = flag(layer, "bidirectional")
    projected = size(at, layer, "proj_size") if "proj_size" in layer.config else None
    if projected is not None and projected == 0:
        projected = None
    return Stack(
        size(at, layer, "input_size"),
        size(at, layer, "hidden_size"),
        size(at, layer, "num_layers"),
        None if bidirectional is None else 1 + bidirectional,
        projected,
    )


def one_state(at: OpContext, hx: Value | None) -> Tensor | None:
    """The initial state of an RNN or a GRU; None where there is none or nothing is known of it.

    Conflict "mismatched-recurrent-state": a tuple, as an LSTM has.
    """
    match hx:
        case None | NoneValue() | Unknown():
            return None
        case Seq():
            at.conflict("mismatched-recurrent-state", ["hx"], why="tuple", wanted="one tensor", got="a tuple")
            return None
        case _:
            return as_tensor(hx)


def two_states(at: OpContext, hx: Value | None) -> tuple[Tensor, Tensor] | None:
    """The initial hidden and cell state of an LSTM; None where there is none or nothing is known of it.

    Conflict "mismatched-recurrent-state": one tensor, or another number of them.
    """
    match hx:
        case Seq(rest=None) if len(hx.items) == 2:
            return as_tensor(hx.items[0]), as_tensor(hx.items[1])
        case Seq(rest=None):
            got = f"{len(hx.items)} values"
            at.conflict("mismatched-recurrent-state", ["hx"], why="tuple", wanted="a tuple (h, c)", got=got)
        case Tensor() if at.shape(hx).rank is not None:
            at.conflict("mismatched-recurrent-state", ["hx"], why="tuple", wanted="a tuple (h, c)", got="one tensor")
        case _:
            pass
    return None


def check_state(
    at: OpContext, state: Tensor, which: str, wanted: tuple[Axis | Run, ...], parts: tuple[str, ...]
) -> None:
    """Require a state to have these axes; `parts` says what each is: layers, batch, hidden."""
    shape = at.shape(state)
    if any(isinstance(w, Run) for w in wanted):
        at.suffix(state, 1)
        compare_axis(at, state, which, -1, wanted[-1], parts[-1])
        if shape.prefix and isinstance(wanted[0], Axis):
            compare_axis(at, state, which, 0, wanted[0], parts[0])
        return
    if shape.run is not None and len(shape.axes) <= len(wanted):
        at.need_rank(state, len(wanted))
    if at.shape(state).rank != len(wanted):
        got = str(at.shape(state).rank or len(shape.axes))
        rank, right = str(len(wanted)), at.sizes.show_shape(Shape(wanted))
        at.conflict("mismatched-recurrent-state", [state], why="rank", wanted=rank, got=got, which=which, right=right)
        return
    for i, (axis, part) in enumerate(zip(wanted, parts, strict=True)):
        compare_axis(at, state, which, i, axis, part, at.sizes.show_shape(Shape(wanted)))


def crossed(at: OpContext, layer: Layer, input: Tensor, states: Sequence[Tensor]) -> bool:
    """Whether a state has as many rows as the input has steps, by the same size: ``zeros(1, x.size(0), d)``.

    Reports "crossed-layout" where nothing says how many examples there are: the axes are the other way round.
    """
    shape, first = at.shape(input), flag(layer, "batch_first")
    if shape.rank != 3 or first is None or input.source.startswith("packed sequence"):
        return False
    batch, time = shape.axes[:2] if first else shape.axes[1::-1]
    for state in states:
        own = at.shape(state)
        rows = own.axes[1].dim if own.rank == 3 else None
        if rows is not None and rows.syms and rows == time.dim and rows != batch.dim and batch.dim.const in (None, 1):
            at.conflict("crossed-layout", [input, state], axes=(int(first), 1), loud=False)
            return True
    return False


def compare_axis(
    at: OpContext, state: Tensor, which: str, position: int, wanted: Axis | Run, part: str, right: str = ""
) -> None:
    """Require one axis of a state to have the size that the module or its input gives; `right`: the whole shape."""
    axis = at.shape(state).items[position]
    if not isinstance(axis, Axis) or not isinstance(wanted, Axis):
        return
    sameness: Sameness = at.meet(axis, wanted)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            "mismatched-recurrent-state",
            [state],
            axes=(position,),
            dims=(axis.dim, wanted.dim),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
            why="size",
            part=part,
            which=which,
            right=right,
        )
