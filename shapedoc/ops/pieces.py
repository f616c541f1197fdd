"""A tensor cut along an axis: chunks, sections, slices, diagonals and triangles."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ZERO, Dim
from shapedoc.core.shape import Axis, Run
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Int, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.measuring.axes import position, positions, replaced
from shapedoc.ops.measuring.extents import extents, whole
from shapedoc.ops.measuring.slicing import strided
from shapedoc.ops.registry import named, op

__all__ = ["chunk", "split", "unbind"]

# More pieces than this are given as a list of unknown length.
_MANY = 64


def _cut(at: OpContext, input: Tensor, dim: int) -> tuple[int, Axis]:
    """The place of the axis that is cut, and the axis."""
    if at.shape(input).rank == 0:
        at.fail("wrong-rank", [input], wanted="at least 1", got="0")
    place = position(at, input, dim)
    axis = at.shape(input).items[place] if place is not None else None
    if place is None or not isinstance(axis, Axis):
        at.lost("rank unknown")
    return place, axis


def _pieces(at: OpContext, input: Tensor, place: int, axis: Axis, sizes: Sequence[Dim]) -> Seq:
    """The tensors that come of cutting an axis into these sizes: each is a part of it."""
    items = at.shape(input).items
    parts = [axis if s == axis.dim else Axis(s, axis.ids) for s in sizes]
    return Seq(tuple(at.tensor(replaced(items, place, part), input, order=input.order) for part in parts))


@op("torch.chunk", "torch.Tensor.chunk")
def chunk(at: OpContext, input: Tensor, chunks: Dim, dim: int = 0) -> Value:
    """Cut an axis into so many pieces (fewer where it does not divide), all but the last of one size.

    input (*, n, *) -> (*, ceil(n/chunks), *) each
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.chunk.
    """
    place, axis = _cut(at, input, dim)
    count, size = chunks.value, axis.dim.const
    if size is not None and count:
        return _pieces(at, input, place, axis, _even(size, -(-size // count)))
    each = strided(at, axis.dim, chunks)
    if count is None or count > _MANY:
        rest = _pieces(at, input, place, axis, [each]).items[0]
        return Seq((), rest=rest, length=chunks)
    number, one = axis.dim.value, each.value
    if number is not None and one and number % one:
        whole_ones = number // one
        return _pieces(at, input, place, axis, [*[each] * whole_ones, axis.dim - each * whole_ones])
    return _pieces(at, input, place, axis, [each] * (count if number is None or not one else number // one))


def _even(size: int, each: int) -> list[Dim]:
    """Pieces of one size, the last one smaller."""
    if each == 0:
        return [ZERO]
    return [Dim.of(min(each, size - start)) for start in range(0, max(size, 1), each)]


@op("torch.split")
def split(at: OpContext, tensor: Tensor, split_size_or_sections: Value, dim: int = 0) -> Value:
    """Cut an axis into pieces of one size, or of the sizes in a list, which must add up.

    tensor (*, n, *), size k -> (*, k, *) each, the last one smaller
    Conflict: the axis does not exist; the sizes do not add up ("impossible-view").
    Source: PyTorch documentation, torch.split.
    """
    return _split(at, tensor, split_size_or_sections, dim)


@op("torch.Tensor.split")
def split_of_tensor(at: OpContext, input: Tensor, split_size: Value, dim: int = 0) -> Value:
    """Cut an axis into pieces of one size, or of the sizes in a list, as torch.split does.

    input (*, n, *), size k -> (*, k, *) each, the last one smaller
    Conflict: the axis does not exist; the sizes do not add up ("impossible-view").
    Source: PyTorch documentation, torch.Tensor.split.
    """
    return _split(at, input, split_size, dim)


def _split(at: OpContext, tensor: Tensor, sections: Value, dim: int) -> Value:
    place, axis = _cut(at, tensor, dim)
    size = whole(at, sections)
    if size is None:
        return _sections(at, tensor, place, axis, sections)
    if axis.dim.const is not None and size.const:
        pieces = _even(axis.dim.const, size.const)
        if len(pieces) <= _MANY:
            return _pieces(at, tensor, place, axis, pieces)
    count = axis.dim.divide(size)
    if count is not None and count.const is not None and count.const <= _MANY:
        return _pieces(at, tensor, place, axis, [size] * count.const)
    rest = _pieces(at, tensor, place, axis, [size if count is not None else at.fresh().dim]).items[0]
    return Seq((), rest=rest, length=count)


def _sections(at: OpContext, tensor: Tensor, place: int, axis: Axis, sections: Value) -> Seq:
    found = extents(at, sections)
    sizes = [a.dim for a in found if isinstance(a, Axis)]
    if len(sizes) < len(found):
        at.lost("the sizes are not known")
    total = ZERO
    for size in sizes:
        total = total + size
    sameness = at.meet(axis.dim, total)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        loud = sameness.kind is Kind.NEVER
        dims = (axis.dim, total)
        at.conflict("impossible-view", [tensor], axes=(place,), dims=dims, sameness=sameness, loud=loud, why="split")
    return _pieces(at, tensor, place, axis, sizes)


@op("torch.tensor_split", "torch.Tensor.tensor_split", "numpy.array_split", "numpy.split")
def tensor_split(at: OpContext, input: Tensor, indices_or_sections: Value, dim: int = 0) -> Value:
    """Cut an axis into so many pieces, or at these places.

    input (*, n, *), places (i, j) -> (*, i, *), (*, j - i, *), (*, n - j, *)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.tensor_split.
    """
    place, axis = _cut(at, input, dim)
    count = whole(at, indices_or_sections)
    if count is None:
        if not isinstance(indices_or_sections, Seq):
            at.lost("the places are not known")
        ends = [a.dim for a in extents(at, indices_or_sections) if isinstance(a, Axis)]
        sizes = [end - start for start, end in zip([ZERO, *ends], [*ends, axis.dim], strict=True)]
        if any(s.value is not None and s.value < 0 for s in sizes):
            at.lost("a place beyond the end")
        return _pieces(at, input, place, axis, sizes)
    if count.const is None or count.const > _MANY or count.const < 1:
        at.lost("the number of pieces is not known")
    number = axis.dim.value
    if axis.dim.const is not None or (number is not None and number % count.const):
        each, more = divmod(number or 0, count.const)
        return _pieces(at, input, place, axis, [Dim.of(each + (i < more)) for i in range(count.const)])
    size = at.sizes.floordiv(axis.dim, count, line=at.line)
    return _pieces(at, input, place, axis, [size] * count.const)


@op("torch.unbind", "torch.Tensor.unbind")
def unbind(at: OpContext, input: Tensor, dim: int = 0) -> Value:
    """All slices along an axis, which is dropped.

    input (n, *) -> n tensors (*)
    Conflict: the axis does not exist.
    Source: PyTorch documentation, torch.unbind.
    """
    place, axis = _cut(at, input, dim)
    items = at.shape(input).items
    size = axis.dim.const
    if size is None or size > _MANY:
        return Seq((), rest=at.tensor(replaced(items, place), input), length=axis.dim)
    return Seq(tuple(at.tensor(replaced(items, place), input) for _ in range(size)))


@op("torch.narrow", "torch.Tensor.narrow")
def narrow(at: OpContext, input: Tensor, dim: int, start: Value, length: Dim) -> Value:
    """A part of an axis.

    input (*, n, *), length k -> (*, k, *)
    Conflict: the axis does not exist; the part reaches beyond it ("index-out-of-range").
    Source: PyTorch documentation, torch.narrow.
    """
    place, axis = _cut(at, input, dim)
    first = whole(at, start)
    number, count = axis.dim.value, length.value
    if first is not None and first.value is not None and number is not None and count is not None:
        begin = first.value + (number if first.value < 0 else 0)
        if begin < 0 or count < 0 or begin + count > number:
            dims = (first, length, axis.dim)
            at.conflict("index-out-of-range", [input], axes=(place,), dims=dims)
    piece = _pieces(at, input, place, axis, [length]).items[0]
    assert isinstance(piece, Tensor)
    return piece


@op("torch.select", "torch.Tensor.select")
def select(at: OpContext, input: Tensor, dim: int, index: Value) -> Value:
    """One slice along an axis, which is dropped.

    input (*, n, *) -> (*, *)
    Conflict: the axis does not exist; the slice does not.
    Source: PyTorch documentation, torch.select.
    """
    place, axis = _cut(at, input, dim)
    number, size = whole(at, index), axis.dim.value
    if number is not None and number.value is not None and size is not None and not -size <= number.value < size:
        at.conflict("index-out-of-range", [input], axes=(place,), dims=(number, axis.dim))
    return at.tensor(replaced(at.shape(input).items, place), input)


@op(*named("tril triu", "torch", "torch.Tensor", "numpy"))
def triangle(at: OpContext, input: Tensor, diagonal: Value = NONE) -> Value:
    """Put zeros on one side of a diagonal of the last two axes.

    input (*, n, m) -> (*, n, m)
    Conflict: fewer than two axes.
    Source: PyTorch documentation, torch.tril.
    """
    at.suffix(input, 1 if input.library == "numpy" else 2)
    shape = at.shape(input)
    if shape.rank == 1:
        return at.tensor((shape.axes[0], shape.axes[0]), input)
    return at.tensor(shape, input)


@op("torch.diag", "torch.Tensor.diag", "numpy.diag")
def diag(at: OpContext, input: Tensor, diagonal: int = 0) -> Value:
    """The diagonal of a matrix, or a matrix with a diagonal.

    input (n, n) -> (n - |k|,); input (n,) -> (n + |k|, n + |k|)
    Conflict: the rank is neither 1 nor 2.
    Source: PyTorch documentation, torch.diag.
    """
    axes = at.need_rank(input, 1, 2)
    if len(axes) == 1:
        side = axes[0] if diagonal == 0 else at.axis(axes[0].dim + abs(diagonal))
        return at.tensor((side, side), input)
    return at.tensor((_diagonal(at, axes[0], axes[1], diagonal),), input)


def _diagonal(at: OpContext, rows: Axis, columns: Axis, offset: int) -> Axis:
    n = rows.dim + min(offset, 0)
    m = columns.dim - max(offset, 0)
    if n == m:
        return rows.merged(columns) if offset == 0 else at.axis(n)
    if n.const is not None and m.const is not None:
        return at.axis(max(min(n.const, m.const), 0))
    if rows.dim == columns.dim:
        return at.axis(rows.dim - abs(offset))
    return at.fresh()


@op(*named("diagonal", "torch", "torch.Tensor", "numpy", "numpy.ndarray"))
def diagonal(at: OpContext, input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """The diagonal of two axes, which are dropped; it comes last.

    input (n, n, *) -> (*, n - |k|)
    Conflict: an axis does not exist, or is named twice.
    Source: PyTorch documentation, torch.diagonal.
    """
    places = positions(at, input, Seq((Int(Dim.of(dim1)), Int(Dim.of(dim2)))))
    if places is None:
        at.lost("rank unknown")
    items = at.shape(input).items
    one, other = items[places[0]], items[places[1]]
    if not isinstance(one, Axis) or not isinstance(other, Axis):
        at.lost("rank unknown")
    kept: list[Axis | Run] = [item for i, item in enumerate(items) if i not in places]
    return at.tensor((*kept, _diagonal(at, one, other, offset)), input)


@op("torch.diag_embed", "torch.Tensor.diag_embed")
def diag_embed(at: OpContext, input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Value:
    """Matrices with the last axis on their diagonals.

    input (*, n) -> (*, n + |k|, n + |k|)
    Conflict: an axis does not exist.
    Source: PyTorch documentation, torch.diag_embed.
    """
    (n,) = at.suffix(input, 1)
    items = at.shape(input).items
    if (dim1, dim2) not in ((-2, -1), (-1, -2)):
        at.lost("the diagonal of other axes")
    side = n if offset == 0 else at.axis(n.dim + abs(offset))
    return at.tensor((*items[:-1], side, side), input)


@op("torch.Tensor.unfold")
def unfold(at: OpContext, input: Tensor, dimension: int, size: Dim, step: Dim) -> Value:
    """Windows along an axis; they come last.

    input (*, n, *) -> (*, (n - size) // step + 1, *, size)
    Conflict: the axis does not exist; the window is larger than it.
    Source: PyTorch documentation, torch.Tensor.unfold.
    """
    place, axis = _cut(at, input, dimension)
    left = axis.dim - size
    if left.value is not None and left.value < 0:
        at.fail("index-out-of-range", [input], axes=(place,), dims=(size, axis.dim))
    if size.const is None and len(axis.dim.terms) > 1:
        # Padded by half of a size: whether that is odd decides by how much the axis shrinks.
        count = at.sizes.fresh(line=at.line)
    else:
        count = at.sizes.floordiv(left, step, line=at.line) + 1 if step.const != 1 else left + 1
    return at.tensor((*replaced(at.shape(input).items, place, at.axis(count)).items, at.axis(size)), input)
