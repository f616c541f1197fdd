"""Copies along axes: `expand`, `repeat`, `tile` and their kin; a repeated axis remembers its factors."""

from __future__ import annotations

from shapedoc.core.dim import ONE, ZERO, Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.measuring.axes import position, replaced
from shapedoc.ops.measuring.extents import extents, is_number, surpasses, whole
from shapedoc.ops.measuring.regroup import product
from shapedoc.ops.registry import op

__all__ = ["expand", "repeat"]


@op("torch.Tensor.expand", "torch.Tensor.broadcast_to")
def expand(at: OpContext, input: Tensor, *size: Value, **settings: Value) -> Value:
    """Repeat axes of size 1 without copying; -1 keeps a size, and new axes may stand before.

    input (1, m), size (n, m) -> (n, m)
    Conflict: a size that is not 1 differs ("elementwise"); fewer sizes than axes.
    Source: PyTorch documentation, torch.Tensor.expand.
    """
    return _expanded(at, input, extents(at, size[0]))


@op("torch.broadcast_to", "numpy.broadcast_to")
def broadcast_to(at: OpContext, input: Tensor, shape: Value, **settings: Value) -> Value:
    """Repeat axes of size 1 without copying.

    input (1, m), shape (n, m) -> (n, m)
    Conflict: a size that is not 1 differs ("elementwise"); fewer sizes than axes.
    Source: PyTorch documentation, torch.broadcast_to.
    """
    return _expanded(at, input, extents(at, shape))


@op("torch.Tensor.expand_as")
def expand_as(at: OpContext, input: Tensor, other: Tensor) -> Value:
    """Repeat axes of size 1 without copying, to the sizes of another tensor.

    input (1, m), other (n, m) -> (n, m)
    Conflict: as of `expand`.
    Source: PyTorch documentation, torch.Tensor.expand_as.
    """
    return _expanded(at, input, at.shape(other).items)


def _expanded(at: OpContext, input: Tensor, wanted: tuple[Axis | Run, ...]) -> Tensor:
    old, new = at.shape(input), Shape(wanted)
    if old.run is None and new.run is None and len(old.items) > len(wanted):
        at.fail("wrong-rank", [input], wanted=f"at most {len(wanted)}", got=str(len(old.items)))
    if new.run is not None and old.run is not None and old.items[old.run] is not new.items[new.run]:
        return at.tensor(new, input)
    tail = old.suffix
    out: list[Axis | Run] = list(wanted)
    for k in range(1, len(wanted) + 1):
        item = wanted[-k]
        if not isinstance(item, Axis):
            break
        if k <= len(tail):
            out[-k] = _stretched(at, input, tail[-k], item, len(old.items) - k)
        elif item.dim.const == -1:
            if old.run is None:
                rank = str(len(old.items))
                at.fail("impossible-view", [input], why="-1 for a new axis", wanted=str(len(wanted)), got=rank)
            out[-k] = at.fresh()
    return at.tensor(out, input)


def _stretched(at: OpContext, input: Tensor, old: Axis, new: Axis, place: int) -> Axis:
    if new.dim.const == -1 or new.dim == old.dim:
        return old
    if old.dim.const == 1:
        return Axis(new.dim)
    if not (old.dim.const is not None or old.dim.named):
        return Axis(new.dim)
    sameness = at.meet(old, new)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        loud = sameness.kind is Kind.NEVER
        at.conflict("elementwise", [input], axes=(place,), dims=(old.dim, new.dim), sameness=sameness, loud=loud)
    return old.sized(new.dim)


@op("torch.Tensor.repeat")
def repeat(at: OpContext, input: Tensor, *repeats: Value) -> Value:
    """Copy the tensor along its axes; new axes may stand before.

    input (n, m), repeats (r, s) -> (r*n, s*m)
    Conflict: fewer numbers than axes.
    Source: PyTorch documentation, torch.Tensor.repeat.
    """
    return _repeated(at, input, extents(at, repeats[0]), strict=True)


@op("torch.tile", "torch.Tensor.tile", "numpy.tile")
def tile(at: OpContext, input: Tensor, *dims: Value) -> Value:
    """Copy the tensor along its last axes, or put new ones before.

    input (n, m), dims (s,) -> (n, s*m)
    Source: PyTorch documentation, torch.tile.
    """
    return _repeated(at, input, extents(at, dims[0]), strict=False)


def _repeated(at: OpContext, input: Tensor, counts: tuple[Axis | Run, ...], *, strict: bool) -> Tensor:
    if any(isinstance(c, Run) for c in counts):
        at.lost("rank unknown")
    repeats = [at.fresh() if surpasses(ZERO, c.dim) else c for c in counts if isinstance(c, Axis)]
    shape = at.shape(input)
    if strict and repeats and repeats[0].dim == ONE and shape.run is not None and len(shape.axes) <= len(repeats):
        # Nobody copies once along an axis that is not there.
        at.need_rank(input, len(repeats))
        shape = at.shape(input)
    if strict and shape.run is None and len(shape.items) > len(repeats):
        at.fail("wrong-rank", [input], wanted=f"at most {len(repeats)}", got=str(len(shape.items)))
    if shape.run is not None and not strict and len(shape.suffix) < len(repeats):
        at.lost("rank unknown")
    if strict:
        _place_copies(at, input, shape, repeats)
    rank = len(repeats) if strict else max(len(repeats), len(shape.items))
    out: list[Axis | Run] = []
    for k in range(rank, 0, -1):
        count = repeats[-k] if k <= len(repeats) else Axis(ONE)
        if k <= len(shape.suffix):
            out.append(times(count.dim, shape.suffix[-k]))
        elif shape.run is None:
            out.append(Axis(count.dim, visible=count.dim == ONE))
        elif strict:
            # An axis that is there, or none, which is as one of size 1.
            out.append(times(count.dim, at.fresh()))
        else:
            out.append(shape.items[-k])
    return at.tensor(out, input)


def _place_copies(at: OpContext, input: Tensor, shape: Shape, repeats: list[Axis]) -> None:
    """Report ``x.repeat(1, n, 1)`` of (B, d): the 1 falls on no axis of it, and the rows are what is copied."""
    if shape.rank is None or shape.rank < 2 or len(repeats) != shape.rank + 1 or repeats[0].dim != ONE:
        return
    if repeats[1].dim == ONE or shape.axes[0].dim.value == 1 or any(r.dim != ONE for r in repeats[2:]):
        return
    wanted, got = str(len(repeats)), str(shape.rank)
    at.conflict(
        "misplaced-copies", [input], axes=(0,), dims=(repeats[1].dim,), loud=False, why="rank", wanted=wanted, got=got
    )


def times(count: Dim, axis: Axis) -> Axis:
    """An axis that is copied `count` times: the copies are its outer factor."""
    if count == ONE:
        return axis
    if axis.dim == ONE:
        return Axis(count)
    return Axis(count * axis.dim, factors=(Axis(count), *(axis.factors or (axis,))))


@op("torch.repeat_interleave", "torch.Tensor.repeat_interleave", "numpy.repeat", "numpy.ndarray.repeat")
def repeat_interleave(
    at: OpContext, input: Tensor, repeats: Value = NONE, dim: int | None = None, *,
    output_size: Value = NONE
) -> Value:  # fmt: skip
    """Copy every element along an axis; without one, of the flattened tensor.

    input (*, n, *), repeats r -> (*, n*r, *); the copies are the inner factor
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.repeat_interleave.
    """
    count = whole(at, repeats) if is_number(repeats) else None
    if count is not None and surpasses(ZERO, count):
        count = None  # a -1 stands for a number that the author puts in later
    if dim is None:
        shape = at.shape(input)
        if shape.run is not None or count is None:
            return at.tensor((at.fresh(),), input)
        return at.tensor((at.axis(product(shape.axes) * count),), input)
    place = position(at, input, dim)
    items = at.shape(input).items
    if place is None:
        return at.unknown(input, more=0)
    if place >= len(items):
        return at.tensor((at.fresh(),) if count is None else (at.axis(count),), input)
    axis = items[place]
    if not isinstance(axis, Axis):
        at.lost("rank unknown")
    return at.tensor(replaced(items, place, _interleaved(at, axis, count)), input)


def _interleaved(at: OpContext, axis: Axis, count: Dim | None) -> Axis:
    if count is None:
        return at.fresh()
    if count == ONE:
        return axis
    if axis.dim == ONE:
        return Axis(count)
    return Axis(axis.dim * count, factors=(*(axis.factors or (axis,)), Axis(count)))
