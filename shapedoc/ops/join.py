"""Tensors put together along an axis, old or new; padding; grids."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ZERO, Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.value import NoneValue, Seq, Tensor, Value
from shapedoc.core.verdict import Lost
from shapedoc.ops.calling.bind import as_tensor
from shapedoc.ops.calling.context import OpContext, seen_twice
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.kinds import promote
from shapedoc.ops.measuring.axes import axis_at, position
from shapedoc.ops.measuring.extents import axes_of
from shapedoc.ops.measuring.regroup import product
from shapedoc.ops.meeting.beside import features_beside
from shapedoc.ops.registry import op

__all__ = ["cat", "stack"]


def _elements(at: OpContext, value: Value) -> tuple[list[Tensor], Seq | None]:
    """The tensors of a list, and the list itself where it goes on with an unknown number of them."""
    match value:
        case Seq(items=items, rest=rest):
            found = [as_tensor(v) for v in items]
            if rest is not None:
                found.append(as_tensor(rest))
            if not found:
                at.lost("an empty list")
            return found, value if rest is not None else None
        case Tensor():
            # A tensor is a list of its slices.
            shape = at.shape(value)
            if not shape.prefix:
                at.lost("not a list of tensors")
            part = at.tensor(shape.items[1:], value)
            return [part], Seq((), rest=part, length=shape.prefix[0].dim)
        case _:
            at.lost("not a list of tensors")


def _length(value: Seq) -> Dim | None:
    """How many elements an open list has, where that is known."""
    return value.length


@op("torch.cat", "torch.concat", "torch.concatenate", "numpy.concatenate", "numpy.concat")
def cat(at: OpContext, tensors: Value, dim: Value = NONE) -> Value:
    """Join tensors along an axis; all other sizes must agree.

    tensors (*, n, *), (*, m, *) -> (*, n + m, *)
    Conflict: ranks differ, sizes off the joined axis differ ("mismatched-join"); the axis does not exist.
    Source: PyTorch documentation, torch.cat.
    """
    found, open_ = _elements(at, tensors)
    if isinstance(dim, NoneValue) and "dim" in at.bound:
        return _flat(at, found)
    try:
        number = 0 if isinstance(dim, NoneValue) else (axes_of(at, dim) or (0,))[0]
    except Lost:
        return at.unknown(_longest(at, found), kind=promote(found)[0], more=0)
    # torch leaves out empty tensors of one axis, as old code starts a join with.
    kept = [t for t in found if not _is_empty(at, t)] or found
    return _joined(at, kept, number, open_)


def _flat(at: OpContext, tensors: Sequence[Tensor]) -> Tensor:
    total = ZERO
    for tensor in tensors:
        total = total + product(at.axes(tensor))
    return at.tensor((at.axis(total),), tensors[0])


def _is_empty(at: OpContext, tensor: Tensor) -> bool:
    shape = at.shape(tensor)
    return tensor.library == "torch" and shape.rank == 1 and shape.axes[0].dim == ZERO


def _joined(at: OpContext, tensors: Sequence[Tensor], dim: int, open_: Seq | None) -> Tensor:
    kind, _ = promote(tensors)
    like = _longest(at, tensors)
    rank = at.shape(like).rank
    if rank == 0:
        at.fail("mismatched-join", [like], why="rank", wanted="at least 1", got="0")
    if rank is not None:
        _need_rank(at, tensors, like, rank)
    else:
        for tensor in tensors:
            _need_as_many(at, tensor, like)
    if dim == 0 and at.shape(like).run == 0:
        return at.unknown(like, kind=kind, more=0)  # the first axis may be the last one too: vectors are joined so
    place = position(at, like, dim)
    if place is None:
        return at.unknown(like, kind=kind, more=0)
    for tensor in tensors:
        position(at, tensor, dim)
    shapes = [at.shape(t) for t in tensors]
    if not all(_alike(shapes[0], s) for s in shapes):
        return _joined_loosely(at, tensors, dim, open_)
    items: list[Axis | Run] = []
    for i, item in enumerate(shapes[0].items):
        column = [axis for s in shapes if isinstance(axis := s.items[i], Axis)]
        if isinstance(item, Run):
            items.append(item)  # the same in all of them
        else:
            items.append(_sum_of(at, column, open_) if i == place else _common(at, tensors, i, column))
    return at.tensor(items, like, kind=kind)


def _need_rank(at: OpContext, tensors: Sequence[Tensor], like: Tensor, rank: int) -> None:
    """The parts of a join have as many axes each; where that is not known, it is learnt.

    Parts that disagree teach nothing of the others.
    """
    for tensor in tensors:
        shape = at.shape(tensor)
        known = len(shape.items) - (shape.run is not None)
        if known > rank or (shape.run is None and known < rank):
            if seen_twice(shape, rank):
                at.lost("rank unknown")
            got = str(known) if shape.run is None else f"{known} or more"
            at.fail("mismatched-join", [tensor, like], why="rank", wanted=str(rank), got=got)
    if any(_may_have_a_batch(at, tensor, rank) for tensor in tensors):
        at.lost("rank unknown")
    for tensor in tensors:
        at.need_rank(tensor, rank)


def _may_have_a_batch(at: OpContext, tensor: Tensor, rank: int) -> bool:
    """Whether what a module made may have one axis more: the batch, without which hardly anybody calls it."""
    shape = at.shape(tensor)
    run = shape.items[shape.run] if shape.run is not None else None
    return isinstance(run, Run) and run.most is not None and len(shape.axes) + run.most > rank


def _need_as_many(at: OpContext, tensor: Tensor, like: Tensor) -> None:
    """Two parts of a join that have the same unknown axes, have as many known ones: ``(B, *x)`` and ``(B, 1, *x)``."""
    shape, longest = at.shape(tensor), at.shape(like)
    if shape.run is None or longest.run is None or shape.items[shape.run] is not longest.items[longest.run]:
        return
    known, wanted = len(shape.axes), len(longest.axes)
    if known != wanted:
        run = longest.items[longest.run]
        rest = f"those of {run}" if isinstance(run, Run) and run.name else "those that are not known"
        at.fail("mismatched-join", [tensor, like], why="rank", wanted=f"{wanted} besides {rest}", got=str(known))


def _alike(a: Shape, b: Shape) -> bool:
    """Whether two shapes have as many axes, and the same run where there is one."""
    same = a.run is None or a.items[a.run] in b.items
    return len(a.items) == len(b.items) and a.run == b.run and same


def _longest(at: OpContext, tensors: Sequence[Tensor]) -> Tensor:
    """The tensor of which most is known."""
    return max(tensors, key=lambda t: (at.shape(t).rank is not None, len(at.shape(t).axes)))


def _joined_loosely(at: OpContext, tensors: Sequence[Tensor], dim: int, open_: Seq | None) -> Tensor:
    """A join of tensors of unknown rank: only the joined axis is known."""
    axes = [axis_at(at, t, dim) for t in tensors]
    whole_axes = [a for a in axes if a is not None]
    shape = at.shape(tensors[0])
    place = position(at, tensors[0], dim)
    result = at.tensor(shape, tensors[0])
    if len(whole_axes) < len(axes) or place is None:
        return at.unknown(tensors[0], more=0)
    items: list[Axis | Run] = [i if isinstance(i, Run) else at.fresh() for i in shape.items]
    items[place] = _sum_of(at, whole_axes, open_)
    result.shape = Shape(tuple(items))
    return result


def _sum_of(at: OpContext, axes: Sequence[Axis], open_: Seq | None) -> Axis:
    """The joined axis: it is made of the others and answers to their names."""
    if len(axes) == 1 and open_ is None:
        return axes[0]
    if open_ is not None:
        count = _length(open_)
        sizes = {a.dim for a in axes}
        if count is None or len(sizes) > 1 or _counts_itself(at, count, axes[0].dim):
            axis = at.fresh()
        else:
            axis = at.axis(count * axes[0].dim)
    else:
        total = ZERO
        for a in axes:
            total = total + a.dim
        axis = at.axis(total)
    at.sizes.mark(axis, "joined", at.line)
    return axis


def _counts_itself(at: OpContext, count: Dim, size: Dim) -> bool:
    """Whether a list holds as many tensors as each is long, as where one example at a time has several beams.

    The list began with one entry for each row of the batch, which is a single one: the size says no more.
    """
    return not at.sizes.resolve(count).syms.isdisjoint(at.sizes.resolve(size).syms)


def _common(at: OpContext, tensors: Sequence[Tensor], place: int, axes: Sequence[Axis]) -> Axis:
    """The axis that all tensors share off the joined one."""
    result = axes[0]
    for tensor, axis in zip(tensors[1:], axes[1:], strict=True):
        own = at.shape(tensor).axes
        sameness = features_beside(at, own, axis, result.dim) or at.meet(result, axis)
        if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
            at.conflict(
                "mismatched-join",
                [tensors[0], tensor],
                axes=(place, place),
                dims=(result.dim, axis.dim),
                sameness=sameness,
                loud=sameness.kind is Kind.NEVER,
                why="size",
            )
        result = result.merged(axis)
    return result


@op("torch.stack", "numpy.stack")
def stack(at: OpContext, tensors: Value, dim: int = 0) -> Value:
    """Put tensors side by side along a new axis; all sizes must agree.

    n tensors (*, *) -> (*, n, *)
    Conflict: ranks or sizes differ ("mismatched-join"); there is no such place.
    Source: PyTorch documentation, torch.stack.
    """
    found, open_ = _elements(at, tensors)
    kind, _ = promote(found)
    like = _longest(at, found)
    rank = at.shape(like).rank
    if rank is not None:
        _need_rank(at, found, like, rank)
    if open_ is None:
        count = at.axis(len(found))
    else:
        length = _length(open_)
        count = at.fresh() if length is None else at.axis(length)
    if rank is None:
        base = like
    else:
        columns = zip(*(at.shape(t).axes for t in found), strict=True)
        base = at.tensor([_common(at, found, i, column) for i, column in enumerate(columns)], like)
    place = position(at, base, dim, new=True)
    if place is None:
        return at.unknown(like, kind=kind, more=1)
    items = at.shape(base).items
    return at.tensor((*items[:place], count, *items[place:]), like, kind=kind)


@op("torch.column_stack", "numpy.column_stack")
def column_stack(at: OpContext, tensors: Value) -> Value:
    """Join along the second axis, vectors as columns.

    tensors (n,), (n, a) -> (n, 1 + a)
    Conflict: ranks differ, sizes off the joined axis differ.
    Source: PyTorch documentation, torch.column_stack.
    """
    found, open_ = _elements(at, tensors)
    columns = []
    for tensor in found:
        shape = at.shape(tensor)
        if shape.run is not None and len(shape.axes) < 2:
            at.lost("rank unknown")
        missing = 2 - len(shape.items)
        one = tuple(Axis.one() for _ in range(missing))
        columns.append(at.tensor((*shape.items, *one), tensor) if missing > 0 else tensor)
    return _joined(at, columns, 1, open_)


@op("torch.hstack", "numpy.hstack")
def hstack(at: OpContext, tensors: Value) -> Value:
    """Join along the second axis, vectors along their only one.

    tensors (n, a, *), (n, b, *) -> (n, a + b, *); (a,), (b,) -> (a + b,)
    Conflict: ranks differ, sizes off the joined axis differ.
    Source: PyTorch documentation, torch.hstack.
    """
    found, open_ = _elements(at, tensors)
    if at.shape(found[0]).run is not None and len(at.shape(found[0]).axes) < 2:
        at.lost("rank unknown")
    found = [at.tensor((Axis.one(),), t) if at.shape(t).rank == 0 else t for t in found]
    return _joined(at, found, 0 if at.shape(found[0]).rank == 1 else 1, open_)


@op("torch.vstack", "numpy.vstack", "torch.row_stack")
def vstack(at: OpContext, tensors: Value) -> Value:
    """Join along the first axis, vectors as rows.

    tensors (a, n), (b, n) -> (a + b, n); (n,), (n,) -> (2, n)
    Conflict: ranks differ, sizes off the joined axis differ.
    Source: PyTorch documentation, torch.vstack.
    """
    found, open_ = _elements(at, tensors)
    rows = []
    for tensor in found:
        shape = at.shape(tensor)
        if shape.run is not None and len(shape.axes) < 2:
            at.lost("rank unknown")
        missing = 2 - len(shape.items)
        rows.append(at.tensor((*(Axis.one() for _ in range(missing)), *shape.items), tensor) if missing > 0 else tensor)
    return _joined(at, rows, 0, open_)


@op("torch.dstack", "numpy.dstack")
def dstack(at: OpContext, tensors: Value) -> Value:
    """Join along the third axis.

    tensors (n, m, a), (n, m, b) -> (n, m, a + b); (n, m) counts as (n, m, 1), (n,) as (1, n, 1)
    Conflict: ranks differ, sizes off the joined axis differ.
    Source: PyTorch documentation, torch.dstack.
    """
    found, open_ = _elements(at, tensors)
    deep = []
    for tensor in found:
        axes: tuple[Axis | Run, ...] = at.axes(tensor)
        if len(axes) < 2:
            axes = (Axis.one(), *(axes or (Axis.one(),)))
        deep.append(at.tensor((*axes, Axis.one()) if len(axes) == 2 else axes, tensor))
    return _joined(at, deep, 2, open_)


@op("numpy.append")
def append(at: OpContext, arr: Tensor, values: Tensor, dim: int | None = None) -> Value:
    """Join two arrays along an axis; without one, flattened.

    arr (*, n, *), values (*, m, *) -> (*, n + m, *)
    Conflict: ranks differ, sizes off the joined axis differ.
    Source: NumPy reference, numpy.append.
    """
    return _flat(at, [arr, values]) if dim is None else _joined(at, [arr, values], dim, None)
