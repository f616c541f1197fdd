"""Padding, grids and combinations."""

from __future__ import annotations

from shapedoc.core.dim import ZERO, Dim
from shapedoc.core.shape import Axis
from shapedoc.core.value import NoneValue, Seq, Str, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.measuring.extents import whole
from shapedoc.ops.measuring.regroup import product
from shapedoc.ops.meeting.broadcast import broadcast
from shapedoc.ops.registry import op

__all__ = ["meshgrid", "pad"]


@op("torch.nn.functional.pad")
def pad(at: OpContext, input: Tensor, pad: Value, mode: Value = NONE, value: Value = NONE) -> Value:
    """Lengthen the last axes: two numbers for each, from the last one on.

    input (*, n), pad (a, b) -> (*, n + a + b)
    Conflict: more pairs than axes.
    Source: PyTorch documentation, torch.nn.functional.pad.
    """
    if not isinstance(pad, Seq) or pad.rest is not None or len(pad.items) % 2:
        at.lost("`pad` is not known")
    counts = [whole(at, v) for v in pad.items]
    pairs = [(counts[i], counts[i + 1]) for i in range(0, len(counts), 2)]
    axes = at.suffix(input, len(pairs))
    items = at.shape(input).items
    new: list[Axis] = []
    for axis, (before, after) in zip(axes, reversed(pairs), strict=True):
        new.append(axis if before == ZERO and after == ZERO else _padded(at, axis, before, after))
    return at.tensor((*items[: len(items) - len(new)], *new), input)


def _padded(at: OpContext, axis: Axis, before: Dim | None, after: Dim | None) -> Axis:
    if before is None or after is None:
        return Axis(at.fresh().dim, axis.ids)
    longer = Axis(axis.dim + before + after, axis.ids)
    at.sizes.mark(longer, "joined", at.line)
    return longer


@op("numpy.pad")
def numpy_pad(at: OpContext, array: Tensor, pad_width: Value, mode: Value = NONE, **settings: Value) -> Value:
    """Lengthen axes: one number for all ends, a pair for all axes, or a pair for each.

    array (n, m), pad_width ((a, b), (c, d)) -> (n + a + b, m + c + d)
    Source: NumPy reference, numpy.pad.
    """
    axes = at.axes(array)
    count = whole(at, pad_width)
    if count is not None:
        pairs = [(count, count)] * len(axes)
    elif isinstance(pad_width, Seq) and len(pad_width.items) == len(axes) and len(axes) > 0:
        pairs = [_pair(at, v) for v in pad_width.items]
    else:
        at.lost("`pad_width` is not known")
    return at.tensor([a if p == (ZERO, ZERO) else _padded(at, a, *p) for a, p in zip(axes, pairs, strict=True)], array)


def _pair(at: OpContext, value: Value) -> tuple[Dim, Dim]:
    if isinstance(value, Seq) and len(value.items) == 2:
        before, after = (whole(at, v) for v in value.items)
        if before is not None and after is not None:
            return before, after
    at.lost("`pad_width` is not known")


@op("torch.broadcast_tensors", "numpy.broadcast_arrays")
def broadcast_tensors(at: OpContext, *tensors: Tensor) -> Value:
    """Broadcast tensors to one shape.

    tensors (*), (*) -> their broadcast, for each
    Conflict: two sizes meet that differ, and neither is 1.
    Source: PyTorch documentation, torch.broadcast_tensors.
    """
    shape = broadcast(at, *tensors)
    return Seq(tuple(at.tensor(shape, t) for t in tensors))


@op("torch.meshgrid", "numpy.meshgrid")
def meshgrid(at: OpContext, *tensors: Tensor, indexing: Value = NONE, **settings: Value) -> Value:
    """Grids of coordinates: one for each vector.

    tensors (n,), (m,) -> (n, m) twice; with indexing "xy" (NumPy's default) -> (m, n)
    Conflict: more than one axis.
    Source: PyTorch documentation, torch.meshgrid.
    """
    axes = []
    for tensor in tensors:
        known = at.shape(tensor).rank is not None
        own = at.need_rank(tensor, 0, 1) if known else at.need_rank(tensor, 1)
        axes.append(own[0] if own else at.axis(1))
    numpy = any(t.library == "numpy" for t in tensors)
    if not isinstance(indexing, Str | NoneValue):
        at.lost("`indexing` is not known")
    order = indexing.value if isinstance(indexing, Str) else ("xy" if numpy else "ij")
    if order == "xy" and len(axes) > 1:
        axes[0], axes[1] = axes[1], axes[0]
    return Seq(tuple(at.tensor(axes, t) for t in tensors))


@op("torch.cartesian_prod")
def cartesian_prod(at: OpContext, *tensors: Tensor) -> Value:
    """All combinations of the elements of vectors.

    tensors (n,), (m,) -> (n*m, 2); one alone as it is
    Conflict: a rank is not 1.
    Source: PyTorch documentation, torch.cartesian_prod.
    """
    axes = [at.need_rank(t, 1)[0] for t in tensors]
    if len(axes) == 1:
        return at.tensor(axes, tensors[0])
    return at.tensor((at.axis(product(axes)), at.axis(len(axes))), tensors[0])


@op("torch.block_diag")
def block_diag(at: OpContext, *tensors: Tensor) -> Value:
    """Matrices along a diagonal.

    tensors (n, m), (p, q) -> (n + p, m + q)
    Conflict: more than two axes.
    Source: PyTorch documentation, torch.block_diag.
    """
    rows, columns = ZERO, ZERO
    for tensor in tensors:
        axes = at.need_rank(tensor, 0, 1, 2)
        rows = rows + (axes[0].dim if len(axes) == 2 else 1)
        columns = columns + (axes[-1].dim if axes else 1)
    return at.tensor((at.axis(rows), at.axis(columns)), tensors[0])
