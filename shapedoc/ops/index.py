"""Indexing: integers, slices, new axes, other tensors and masks, and assignment to what they select."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.value import (
    Bool,
    EllipsisValue,
    Int,
    NoneValue,
    Opaque,
    Seq,
    SliceValue,
    Tensor,
    Value,
)
from shapedoc.core.verdict import Lost
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.measuring.extents import whole
from shapedoc.ops.measuring.slicing import sliced
from shapedoc.ops.meeting.broadcast import broadcast, broadcast_into
from shapedoc.ops.registry import op

__all__ = ["getitem", "indexed", "setitem"]


@op("operator.getitem", "torch.Tensor.__getitem__", "numpy.ndarray.__getitem__")
def getitem(at: OpContext, input: Tensor, index: Value) -> Value:
    """Select by position.

    An integer drops its axis, a slice keeps a part of it, None adds an axis of size 1, tensors of whole numbers are
    broadcast and take the place of the axes they index (the front, where they do not stand together), a mask takes
    the place of its axes with one of unknown size.
    Conflict: more indices than axes ("wrong-rank"); an integer beyond the end ("index-out-of-range"); tensors that do
    not broadcast, a mask of another size ("elementwise").
    Source: NumPy user guide, Indexing on ndarrays.
    """
    return at.tensor(indexed(at, input, index), input)


@op("operator.setitem", "torch.Tensor.__setitem__", "numpy.ndarray.__setitem__")
def setitem(at: OpContext, input: Tensor, index: Value, value: Value) -> Value:
    """Assign to what an index selects; the value must broadcast to it. Gives the whole tensor.

    input (*), index as of `getitem`, value that broadcasts to ``input[index]`` -> input (*)
    Conflict: as of `getitem`; the value does not broadcast ("elementwise").
    Source: NumPy user guide, Assigning values to indexed arrays.
    """
    try:
        place = indexed(at, input, index)
    except Lost:
        place = Shape.unknown()  # the place is not known; the tensor is what it was
    if isinstance(value, Tensor):
        broadcast_into(at, place, at.shape(value), input, value)
    return at.tensor(at.shape(input), input, order=input.order)


@dataclass(slots=True)
class _Selection:
    """What an index makes, from left to right. spots: where in `items` an index tensor stood."""

    items: list[Axis | Run] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    masks: list[Axis] = field(default_factory=list)
    spots: list[int] = field(default_factory=list)
    apart: bool = False
    numbers: int = 0


def indexed(at: OpContext, input: Tensor, index: Value) -> Shape:
    """The shape of ``input[index]``."""
    parts = _parts(at, index)
    dots = [i for i, p in enumerate(parts) if isinstance(p, EllipsisValue)]
    if len(dots) > 1:
        at.fail("wrong-rank", [input], why="two ellipses")
    before = parts[: dots[0]] if dots else parts
    after = parts[dots[0] + 1 :] if dots else []
    head, tail = sum(_width(at, p) for p in before), sum(_width(at, p) for p in after)
    rank = at.shape(input).rank
    if rank is not None and head + tail > rank:
        at.fail("wrong-rank", [input], wanted=f"at least {head + tail}", got=str(rank), why="indices")
    if tail:
        at.suffix(input, tail)
    if head:
        try:
            at.prefix(input, head)
        except Lost:
            if dots:
                raise
            return _indexed_loosely(at, input, before)
    items = at.shape(input).items
    if dots and at.shape(input).run is not None and len(items) - 1 < head + tail:
        at.lost("rank unknown")
    middle = items[head : len(items) - tail]
    chosen = _Selection()
    _select(at, input, before, items[:head], 0, chosen)
    if chosen.tensors and dots and middle and any(isinstance(p, Tensor | Seq) for p in after):
        chosen.apart = True
    chosen.items.extend(middle)
    _select(at, input, after, items[len(items) - tail :], len(items) - tail, chosen)
    return _assembled(at, input, chosen)


def _indexed_loosely(at: OpContext, input: Tensor, parts: Sequence[Value]) -> Shape:
    """Indices of which some fall on axes that are not known: (*r, d) indexed from the left.

    What is known: the axes before the run, each with its index; the axes at the end that the last indices take
    whole; how many axes are left.
    """
    if not all(isinstance(p, Int | SliceValue | NoneValue) for p in parts):
        at.lost("rank unknown")
    shape = _long_enough(at, input, sum(not isinstance(p, NoneValue) for p in parts))
    chosen = _Selection()
    places = [i for i, p in enumerate(parts) if not isinstance(p, NoneValue)][: len(shape.prefix)]
    _select(at, input, parts[: places[-1] + 1] if places else (), shape.prefix, 0, chosen)
    untouched = 0
    for part in reversed(parts):
        if not _takes_all(part):
            break
        untouched += 1
    kept = shape.suffix[len(shape.suffix) - min(untouched, len(shape.suffix)) :]
    change = sum(isinstance(p, NoneValue) for p in parts) - sum(isinstance(p, Int) for p in parts)
    rest = Run()
    position = shape.run
    run = shape.items[position] if position is not None else None
    assert isinstance(run, Run)
    more = len(shape.axes) + change - len(chosen.items) - len(kept)
    at.sizes.relate_ranks(rest, run, more)
    return Shape((*chosen.items, rest, *kept))


def _long_enough(at: OpContext, input: Tensor, count: int) -> Shape:
    """The shape of a tensor of unknown rank that has `count` axes at least, which is learnt."""
    shape = at.shape(input)
    run = shape.items[shape.run] if shape.run is not None else None
    missing = count - len(shape.axes)
    if missing > 0 and isinstance(run, Run):
        at.sizes.bind_run(run, (*(Axis(at.sizes.fresh(line=at.line)) for _ in range(missing)), Run(run.name)))
        return at.shape(input)
    return shape


def _takes_all(part: Value) -> bool:
    return isinstance(part, SliceValue) and all(isinstance(v, NoneValue) for v in (part.lower, part.upper, part.step))


def _parts(at: OpContext, index: Value) -> list[Value]:
    match index:
        case Seq(kind="tuple", rest=None):
            return [_part(at, v) for v in index.items]
        case _:
            return [_part(at, index)]


def _part(at: OpContext, value: Value) -> Value:
    """An index as an integer, a slice, None, an ellipsis or a tensor; lost where it is none of these for certain."""
    if isinstance(value, Opaque):
        value = value.as_int() or at.lost("an index is not known")
    match value:
        case Int() | SliceValue() | NoneValue() | EllipsisValue():
            return value
        case Tensor(kind=kind):
            if kind != "":
                return value
            if at.shape(value).rank != 1:
                at.lost("an index tensor may be a mask")
            return at.tensor((at.fresh(),), kind="int")  # of a row of numbers, or of one of truth values: some elements
        case Seq(items=items, rest=None):
            kinds = {type(v) for v in items}
            if kinds <= {Int}:
                return at.tensor((at.axis(len(items)),), kind="int")
            if kinds == {Bool}:
                return at.tensor((at.axis(len(items)),), kind="bool")
        case Seq(items=items, rest=Int(), kind="list") if {type(v) for v in items} <= {Int}:
            count = at.fresh() if value.length is None else at.axis(value.length)
            return at.tensor((count,), kind="int")
    at.lost("an index is not known")


def _width(at: OpContext, part: Value) -> int:
    """How many axes an index takes up."""
    match part:
        case NoneValue():
            return 0
        case Tensor(kind="bool"):
            rank = at.shape(part).rank
            if rank is None:
                at.lost("the rank of a mask is not known")
            return rank
        case _:
            return 1


def _select(
    at: OpContext, input: Tensor, parts: Sequence[Value], items: Sequence[Axis | Run], start: int, chosen: _Selection
) -> None:
    """Apply indices to the axes that they take up, the first of which stands at `start`."""
    axes = [i for i in items if isinstance(i, Axis)]
    at_axis = 0
    for part in parts:
        width = _width(at, part)
        mine = axes[at_axis : at_axis + width]
        place = start + at_axis
        at_axis += width
        match part:
            case NoneValue():
                chosen.items.append(Axis.one())
            case SliceValue():
                chosen.items.append(sliced(at, mine[0], part))
            case Int():
                _check_number(at, input, part, mine[0], place)
                chosen.numbers += 1
                if input.library == "numpy":
                    _note(chosen)
            case Tensor(kind="bool"):
                _check_mask(at, input, part, mine, place)
                _note(chosen)
                chosen.masks.append(at.fresh())
            case Tensor():
                _note(chosen)
                chosen.tensors.append(part)
            case _:
                at.lost("an index is not known")


def _note(chosen: _Selection) -> None:
    """Remember where an index tensor (for NumPy, an integer too) stands."""
    if chosen.spots and chosen.spots[-1] != len(chosen.items):
        chosen.apart = True
    chosen.spots.append(len(chosen.items))


def _check_number(at: OpContext, input: Tensor, number: Int, axis: Axis, place: int) -> None:
    dim, size = whole(at, number), axis.dim.value
    if dim is not None and dim.value is not None and size is not None and not -size <= dim.value < size:
        at.conflict("index-out-of-range", [input], axes=(place,), dims=(dim, axis.dim))


def _check_mask(at: OpContext, input: Tensor, mask: Tensor, axes: Sequence[Axis], start: int) -> None:
    for i, (ours, theirs) in enumerate(zip(axes, at.axes(mask), strict=True)):
        sameness = at.meet(ours, theirs)
        if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
            at.conflict(
                "elementwise",
                [input, mask],
                axes=(start + i, i),
                dims=(ours.dim, theirs.dim),
                sameness=sameness,
                loud=sameness.kind is Kind.NEVER,
                why="index",
            )


def _assembled(at: OpContext, input: Tensor, chosen: _Selection) -> Shape:
    """Put what the index tensors select where it belongs."""
    if not chosen.tensors and not chosen.masks:
        return Shape(tuple(chosen.items))
    found: list[Tensor] = [*chosen.tensors, *(at.tensor((a,), kind="int") for a in chosen.masks)]
    _tell_rows_apart(at, chosen.tensors)
    made = broadcast(at, *found)
    if len(found) == 1:
        made = at.shape(found[0])
    spot = 0 if chosen.apart else chosen.spots[0]
    items = [*chosen.items[:spot], *made.items, *chosen.items[spot:]]
    if sum(isinstance(i, Run) for i in items) > 1:
        at.lost("rank unknown")
    return Shape(tuple(items))


def _tell_rows_apart(at: OpContext, indices: Sequence[Tensor]) -> None:
    """``x[arange(B), places]`` with places (B, k): the row numbers would lie along k, which is another quantity."""
    shapes = [shape for tensor in indices if (shape := at.shape(tensor)).rank is not None]
    for rows in (s.axes[0].dim for s in shapes if s.rank == 1):
        for first, last in ((s.axes[0].dim, s.axes[-1].dim) for s in shapes if s.rank == 2):
            if rows == first and rows.named and last.sym is not None and last != rows:
                at.sizes.apart(rows, last)
