"""Axes moved, added, dropped and reversed: every axis that stays keeps its identity."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.shape import Axis, Run
from shapedoc.core.value import ANY_ORDER, NoneValue, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.measuring.axes import position, positions
from shapedoc.ops.measuring.extents import axes_of
from shapedoc.ops.registry import named, op

__all__ = ["permuted", "squeeze", "swap", "unsqueeze"]


def permuted(at: OpContext, input: Tensor, order: Sequence[int]) -> Tensor:
    """The tensor with its axes in another order; `order` says which old axis stands at each place."""
    items = at.shape(input).items
    if input.order == ANY_ORDER:
        return at.tensor([items[i] for i in order], input, order=ANY_ORDER)
    memory = input.order or tuple(range(len(items)))
    lies = tuple(memory[i] for i in order) if len(memory) == len(items) else None
    straight = lies is None or lies == tuple(range(len(items))) or at.shape(input).rank is None
    return at.tensor([items[i] for i in order], input, order=None if straight else lies)


def swap(at: OpContext, input: Tensor, dim0: int, dim1: int) -> Tensor:
    """The tensor with two axes exchanged; of unknown rank, what can be said."""
    position(at, input, dim0)
    i, j = position(at, input, dim0), position(at, input, dim1)
    if at.shape(input).rank == 0:
        return at.tensor((), input)
    if i is None or j is None:
        return _swapped_behind(at, input, min(dim0, dim1))
    i = position(at, input, dim0) or 0
    order = list(range(len(at.shape(input).items)))
    order[i], order[j] = order[j], order[i]
    return permuted(at, input, order)


def _swapped_behind(at: OpContext, input: Tensor, first: int) -> Tensor:
    """Two axes of a tensor of unknown rank exchanged, of which one cannot be told: those before both stay."""
    shape = at.shape(input)
    before = shape.prefix[: max(first, 0)]
    run, rest = shape.items[shape.run or 0], Run()
    if not before or not isinstance(run, Run):
        return at.unknown(input, more=0)
    at.sizes.relate_ranks(rest, run, len(shape.items) - 1 - len(before))
    return at.tensor((*before, rest), input)


@op(*named("transpose swapaxes swapdims", "torch", "torch.Tensor"), "numpy.swapaxes", "numpy.ndarray.swapaxes")
def transpose(at: OpContext, input: Tensor, dim0: int, dim1: int) -> Value:
    """Exchange two axes.

    input (*, n, *, m, *) -> (*, m, *, n, *)
    Conflict: an axis does not exist.
    Source: PyTorch documentation, torch.transpose.
    """
    return swap(at, input, dim0, dim1)


@op("torch.t", "torch.Tensor.t")
def t(at: OpContext, input: Tensor) -> Value:
    """Exchange the axes of a matrix.

    input (n, m) -> (m, n); with fewer axes as it is
    Conflict: more than two axes.
    Source: PyTorch documentation, torch.t.
    """
    shape = at.shape(input)
    if shape.run is not None and len(shape.axes) < 2:
        return at.unknown(input, more=0)
    return permuted(at, input, tuple(reversed(range(len(at.need_rank(input, 0, 1, 2))))))


@op("torch.Tensor.T", "numpy.ndarray.T")
def reversed_axes(at: OpContext, input: Tensor) -> Value:
    """All axes in reverse order.

    input (a, b, c) -> (c, b, a)
    Conflict: more than two axes ("reversed-axes", which raises nothing).
    Source: PyTorch documentation, torch.Tensor.T; NumPy reference, numpy.ndarray.T.
    """
    return _reversed(at, input)


def _reversed(at: OpContext, input: Tensor) -> Tensor:
    """All axes in reverse order; of more than two, "reversed-axes" is reported, which raises nothing."""
    shape = at.shape(input)
    if len(shape.axes) > 2:
        at.conflict("reversed-axes", [input], loud=False)
    if shape.run is not None:
        if not shape.axes:
            return at.unknown(input, more=0)
        return at.tensor([Run() if isinstance(i, Run) else i for i in reversed(shape.items)], input)
    return permuted(at, input, tuple(reversed(range(len(shape.items)))))


@op("torch.Tensor.mT", "torch.adjoint", "torch.Tensor.adjoint", "torch.Tensor.mH", "numpy.ndarray.mT",
    "numpy.matrix_transpose", "numpy.linalg.matrix_transpose")  # fmt: skip
def matrix_transpose(at: OpContext, input: Tensor) -> Value:
    """Exchange the last two axes.

    input (*, n, m) -> (*, m, n)
    Conflict: fewer than two axes.
    Source: PyTorch documentation, torch.Tensor.mT.
    """
    at.suffix(input, 2)
    return swap(at, input, -2, -1)


@op("torch.Tensor.H")
def hermitian(at: OpContext, input: Tensor) -> Value:
    """A matrix, conjugated and with its axes exchanged.

    input (n, m) -> (m, n)
    Conflict: the rank is not 2 (nor 0).
    Source: PyTorch documentation, torch.Tensor.H.
    """
    shape = at.shape(input)
    if shape.rank == 0:
        return at.tensor((), input)
    at.need_rank(input, 2)
    return permuted(at, input, (1, 0))


@op("torch.permute", "torch.Tensor.permute")
def permute(at: OpContext, input: Tensor, *dims: Value) -> Value:
    """All axes in another order.

    input (a, b, c), dims (2, 0, 1) -> (c, a, b)
    Conflict: another number of axes; an axis named twice; an axis that does not exist.
    Source: PyTorch documentation, torch.permute.
    """
    return _permuted_by(at, input, dims[0])


def _permuted_by(at: OpContext, input: Tensor, dims: Value) -> Tensor:
    numbers = axes_of(at, dims) or ()
    at.need_rank(input, len(numbers))
    places = positions(at, input, dims) or []
    return permuted(at, input, places)


@op("numpy.transpose", "numpy.permute_dims")
def numpy_transpose(at: OpContext, a: Tensor, dims: Value = NONE) -> Value:
    """All axes in another order, in reverse by default.

    a (a, b, c), axes (2, 0, 1) -> (c, a, b)
    Conflict: another number of axes; an axis named twice; an axis that does not exist.
    Source: NumPy reference, numpy.transpose.
    """
    if isinstance(dims, NoneValue):
        return _reversed(at, a)
    return _permuted_by(at, a, dims)


@op("numpy.ndarray.transpose")
def array_transpose(at: OpContext, a: Tensor, *dims: Value) -> Value:
    """All axes in another order, in reverse by default.

    a (a, b, c), axes (2, 0, 1) -> (c, a, b)
    Conflict: another number of axes; an axis named twice; an axis that does not exist.
    Source: NumPy reference, numpy.ndarray.transpose.
    """
    given = dims[0]
    items = getattr(given, "items", None)
    if items == () or (isinstance(items, tuple) and len(items) == 1 and isinstance(items[0], NoneValue)):
        return _reversed(at, a)
    return _permuted_by(at, a, given)


@op("torch.movedim", "torch.Tensor.movedim", "torch.moveaxis", "torch.Tensor.moveaxis", "numpy.moveaxis")
def movedim(at: OpContext, input: Tensor, source: Value, destination: Value) -> Value:
    """Move axes to other places; the others keep their order.

    input (a, b, c), source 0, destination 2 -> (b, c, a)
    Conflict: an axis does not exist; as many sources as destinations are needed.
    Source: PyTorch documentation, torch.movedim.
    """
    ours, theirs = axes_of(at, source) or (), axes_of(at, destination) or ()
    if len(ours) != len(theirs):
        at.fail("axis-out-of-range", [input], why="numbers of axes differ")
    starts, ends = positions(at, input, source), positions(at, input, destination)
    starts = positions(at, input, source)
    if starts is None or ends is None:
        return at.unknown(input, more=0)
    rest = iter(i for i in range(len(at.shape(input).items)) if i not in starts)
    moved = dict(zip(ends, starts, strict=True))
    order = [moved[i] if i in moved else next(rest) for i in range(len(at.shape(input).items))]
    return permuted(at, input, order)


@op("torch.unsqueeze", "torch.Tensor.unsqueeze")
def unsqueeze(at: OpContext, input: Tensor, dim: int) -> Value:
    """Put in an axis of size 1.

    input (*, *) -> (*, 1, *)
    Conflict: there is no such place.
    Source: PyTorch documentation, torch.unsqueeze.
    """
    place = position(at, input, dim, new=True)
    if place is None:
        return at.unknown(input, more=1)
    items = at.shape(input).items
    order = input.order
    if order is not None and order != ANY_ORDER:
        shifted = [o + (o >= place) for o in order]
        order = (*shifted[:place], place, *shifted[place:])
    return at.tensor((*items[:place], Axis.one(), *items[place:]), input, order=order)


@op("numpy.expand_dims")
def expand_dims(at: OpContext, a: Tensor, axis: Value) -> Value:
    """Put in one or several axes of size 1; their numbers are those in the result.

    a (*, *) -> (*, 1, *)
    Conflict: there is no such place; one is named twice.
    Source: NumPy reference, numpy.expand_dims.
    """
    numbers = axes_of(at, axis) or ()
    if len(numbers) == 1:
        return unsqueeze(at, a, numbers[0])
    axes = at.axes(a)
    rank = len(axes) + len(numbers)
    if any(not -rank <= n < rank for n in numbers) or len({n % rank for n in numbers}) < len(numbers):
        at.fail("axis-out-of-range", [a], axis=", ".join(map(str, numbers)), rank=str(len(axes)))
    rest = iter(axes)
    ones = {n % rank for n in numbers}
    return at.tensor([Axis.one() if i in ones else next(rest) for i in range(rank)], a)


@op("torch.squeeze", "torch.Tensor.squeeze")
def squeeze(at: OpContext, input: Tensor, dim: Value = NONE) -> Value:
    """Drop axes of size 1: one, several, or all there are.

    input (*, 1, *) -> (*, *)
    Conflict: the axis does not exist; without `dim`, an axis may be 1 ("squeeze-unknown", which raises nothing).
    Source: PyTorch documentation, torch.squeeze.
    """
    return _squeezed(at, input, dim, strict=False)


@op("numpy.squeeze", "numpy.ndarray.squeeze")
def numpy_squeeze(at: OpContext, a: Tensor, dim: Value = NONE) -> Value:
    """Drop axes of size 1: one, several, or all there are.

    a (*, 1, *) -> (*, *)
    Conflict: the axis does not exist; it is not 1 ("impossible-view"); without `axis`, one may be 1.
    Source: NumPy reference, numpy.squeeze.
    """
    return _squeezed(at, a, dim, strict=True)


def _squeezed(at: OpContext, input: Tensor, dim: Value, *, strict: bool) -> Tensor:
    if isinstance(dim, NoneValue):
        return _squeezed_all(at, input)
    places = positions(at, input, dim)
    if places is None:
        at.lost("rank unknown")
    items = at.shape(input).items
    loose = [i for i in places if i < len(items) and (_unsure(items[i]) or _taken_for_one(at, items[i], i))]
    out: list[Axis | Run] = []
    dropped: list[int] = []
    for i, item in enumerate(items):
        if i not in places or not isinstance(item, Axis):
            out.append(item)
        elif i in loose:
            out.append(Run())
        elif item.dim.const == 1:
            dropped.append(i)
        else:
            out.append(item)
            if strict:
                at.conflict("impossible-view", [input], axes=(i,), dims=(item.dim,), loud=item.dim.value is not None)
    return at.tensor(_one_run(out), input, order=None if loose else _order_without(input, dropped))


def _one_run(items: Sequence[Axis | Run]) -> Sequence[Axis | Run]:
    """The items with everything between the first run and the last as one run."""
    runs = [i for i, item in enumerate(items) if isinstance(item, Run)]
    if len(runs) < 2:
        return items
    return (*items[: runs[0]], Run(), *items[runs[-1] + 1 :])


def _squeezed_all(at: OpContext, input: Tensor) -> Tensor:
    shape = at.shape(input)
    if shape.run is not None:
        at.lost("rank unknown")
    open_ = tuple(i for i, a in enumerate(shape.axes) if a.dim.const is None)
    if open_:
        at.conflict("squeeze-unknown", [input], axes=open_, dims=[shape.axes[i].dim for i in open_], loud=False)
    loose = [i for i in open_ if _unsure(shape.axes[i])]
    if loose:
        middle = [Run()] if len(loose) > 0 else []
        head = [a for a in shape.axes[: loose[0]] if a.dim.const != 1]
        tail = [a for a in shape.axes[loose[-1] + 1 :] if a.dim.const != 1]
        return at.tensor([*head, *middle, *tail], input)
    dropped = [i for i, a in enumerate(shape.axes) if a.dim.const == 1]
    kept = [a for a in shape.axes if a.dim.const != 1]
    return at.tensor(kept, input, order=_order_without(input, dropped))


def _unsure(item: Axis | Run) -> bool:
    """Whether an axis may be 1 and may be something else, as one that nobody named."""
    return isinstance(item, Axis) and item.dim.const is None and not item.dim.named and item.dim.value is None


def _taken_for_one(at: OpContext, item: Axis | Run, place: int) -> bool:
    """Whether another function named an axis, or it is the first: whoever drops it by its number takes it for a 1."""
    sym = item.dim.sym if isinstance(item, Axis) else None
    if sym is None or not sym.flexible or sym.value is not None:
        return False
    return not place or sym.owner not in ("", at.sizes.function)


def _order_without(input: Tensor, dropped: Sequence[int]) -> tuple[int, ...] | None:
    if input.order is None or input.order == ANY_ORDER:
        return input.order
    left = [o for i, o in enumerate(input.order) if i not in dropped]
    ranks = {o: r for r, o in enumerate(sorted(left))}
    order = tuple(ranks[o] for o in left)
    return None if order == tuple(range(len(order))) else order


@op("torch.Tensor.contiguous")
def contiguous(at: OpContext, input: Tensor, *options: Value, **settings: Value) -> Value:
    """The same elements, laid out in the order of the axes.

    input (*) -> (*)
    Source: PyTorch documentation, torch.Tensor.contiguous.
    """
    return at.tensor(at.shape(input), input)


@op("torch.as_strided", "torch.Tensor.as_strided")
def as_strided(at: OpContext, input: Tensor, size: Value, *options: Value) -> Value:
    """A view by strides, which is not followed.

    Source: PyTorch documentation, torch.as_strided.
    """
    at.lost("a view by strides")
