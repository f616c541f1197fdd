"""Products: matrix products, batched and not, and their kin."""

from __future__ import annotations

from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind, Sameness, Strength
from shapedoc.core.value import Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE, Tensors
from shapedoc.ops.kinds import promote
from shapedoc.ops.measuring.extents import axes_of, whole
from shapedoc.ops.meeting.broadcast import broadcast, broadcast_into, broadcast_shapes
from shapedoc.ops.meeting.contracted import contract, product, same_batch, turned
from shapedoc.ops.meeting.opposed import heads_apart
from shapedoc.ops.registry import op

__all__ = ["bmm", "linear", "matmul", "mm", "mv", "outer"]


@op(
    "torch.matmul", "torch.Tensor.matmul", "operator.matmul", "torch.Tensor.__matmul__", "torch.linalg.matmul",
    "numpy.matmul",
)  # fmt: skip
def matmul(at: OpContext, input: Tensor, other: Tensor) -> Value:
    """Multiply matrices, broadcasting what stands before the last two axes; a vector counts as a row or a column.

    input (*b, n, m), other (*b, m, p) -> (*b, n, p); (m,) with (m,) -> (); (*b, n, m) with (m,) -> (*b, n)
    Conflict: m differs; a batch axis differs; an operand has no axes.
    Source: PyTorch documentation, torch.matmul.
    """
    rows, m = at.leading(input)
    right = at.shape(other)
    if right.run is not None and len(right.suffix) < 2:
        # A vector or a matrix: which axis is summed cannot be said.
        return at.tensor(Shape((Run(),)), input, kind=promote((input, other))[0])
    last = len(at.shape(input).items) - 1
    if right.rank == 1:
        if m is not None:
            contract(at, input, other, (last, 0), (m, right.axes[0]))
        return product(at, rows, input, other)
    m2, p = at.suffix(other, 2)
    if m is None:
        return product(at, (*rows, p) if right.rank == 2 else (Run(), p), input, other)
    left = at.shape(input)
    if _apart(at, input, other):
        return product(at, (*left.items[:-1], p), input, other)
    if len(left.suffix) > 2 and len(right.suffix) > 2 and turned(at, (left.suffix[-3], m), (right.suffix[-3], m2)):
        _turned(at, input, other, (len(left.items) - 3, len(right.items) - 3))
        return product(at, (*left.items[:-1], p), input, other)
    contract(at, input, other, (last, len(right.items) - 2), (m, m2))
    left = at.shape(input)
    right = at.shape(other)
    if other.learned and right.rank == 2:
        at.sizes.mark(p, "feature", at.line)
        for row in left.axes[:-1]:
            at.sizes.mark(row, "row", at.line)
    if left.rank == 1:
        return product(at, (*right.items[:-2], p), input, other)
    if right.rank == 2:
        return product(at, (*left.items[:-1], p), input, other)
    if len(left.suffix) < 2:
        return product(at, (Run(), p), input, other)
    batch = broadcast_shapes(
        at, Shape(left.items[:-2]), Shape(right.items[:-2]), input, other, problem="mismatched-batch"
    )
    return product(at, (*batch.items, left.suffix[-2], p), input, other)


@op("torch.bmm", "torch.Tensor.bmm")
def bmm(at: OpContext, input: Tensor, mat2: Tensor) -> Value:
    """Multiply batches of matrices; both must have exactly three axes.

    input (b, n, m), mat2 (b, m, p) -> (b, n, p)
    Conflict: a rank is not 3; b differs; m differs.
    Source: PyTorch documentation, torch.bmm.
    """
    if at.shape(mat2).run is not None:
        at.need_rank(mat2, 3)  # is learnt whatever the other has
    b, n, m = at.need_rank(input, 3)
    b2, m2, p = at.need_rank(mat2, 3)
    if turned(at, (b, m), (b2, m2)):
        _turned(at, input, mat2, (0, 0))
        return product(at, (b, n, p), input, mat2)
    batch = same_batch(at, input, mat2, 0, (b, b2))
    at.sizes.mark(batch, "batched", at.line)
    contract(at, input, mat2, (2, 1), (m, m2))
    return product(at, (batch, n, p), input, mat2)


def _apart(at: OpContext, input: Tensor, other: Tensor) -> bool:
    """Report heads that one side has in front, and the other does not."""
    left, right = at.shape(input), at.shape(other)
    if input.learned or other.learned or not heads_apart(at, left.suffix, right.suffix):
        return False
    at.conflict(
        "mismatched-batch",
        [input, other],
        axes=(len(left.items) - 3, len(right.items) - 3),
        dims=(left.suffix[-3].dim, right.suffix[-3].dim),
        sameness=Sameness(Kind.ONLY_IF, Strength.STRONG),
    )
    return True


def _turned(at: OpContext, input: Tensor, other: Tensor, axes: tuple[int, int]) -> None:
    """Report that the batch of either side is what the other one sums."""
    first, second = (at.shape(t).items[place] for t, place in zip((input, other), axes, strict=True))
    assert isinstance(first, Axis)
    assert isinstance(second, Axis)
    sameness = Sameness(Kind.ONLY_IF, Strength.STRONG)
    at.conflict(
        "mismatched-batch", [input, other], axes=axes, dims=(first.dim, second.dim), sameness=sameness, turned="1"
    )


@op("torch.mm", "torch.Tensor.mm")
def mm(at: OpContext, input: Tensor, mat2: Tensor) -> Value:
    """Multiply two matrices.

    input (n, m), mat2 (m, p) -> (n, p)
    Conflict: a rank is not 2; m differs.
    Source: PyTorch documentation, torch.mm.
    """
    n, m = at.need_rank(input, 2)
    m2, p = at.need_rank(mat2, 2)
    contract(at, input, mat2, (1, 0), (m, m2))
    return product(at, (n, p), input, mat2)


@op("torch.mv", "torch.Tensor.mv")
def mv(at: OpContext, input: Tensor, vec: Tensor) -> Value:
    """Multiply a matrix by a vector.

    input (n, m), vec (m,) -> (n,)
    Conflict: the ranks are not 2 and 1; m differs.
    Source: PyTorch documentation, torch.mv.
    """
    n, m = at.need_rank(input, 2)
    (m2,) = at.need_rank(vec, 1)
    contract(at, input, vec, (1, 0), (m, m2))
    return product(at, (n,), input, vec)


@op("torch.dot", "torch.Tensor.dot", "torch.vdot", "torch.Tensor.vdot")
def dot(at: OpContext, input: Tensor, tensor: Tensor) -> Value:
    """The inner product of two vectors.

    input (n,), tensor (n,) -> ()
    Conflict: a rank is not 1; n differs.
    Source: PyTorch documentation, torch.dot.
    """
    (n,) = at.need_rank(input, 1)
    (n2,) = at.need_rank(tensor, 1)
    contract(at, input, tensor, (0, 0), (n, n2))
    return product(at, (), input, tensor)


@op("numpy.dot", "numpy.ndarray.dot")
def numpy_dot(at: OpContext, a: Tensor, b: Tensor) -> Value:
    """The sum over the last axis of `a` and the second to last of `b`; nothing is broadcast.

    a (*i, m), b (*j, m, p) -> (*i, *j, p); b (m,) -> (*i); a number scales.
    Conflict: m differs.
    Source: NumPy reference, numpy.dot.
    """
    left, right = at.shape(a), at.shape(b)
    if left.rank == 0 or right.rank == 0:
        return product(at, right if left.rank == 0 else left, a, b)
    if right.run is not None and len(right.suffix) < 2:
        at.lost("rank unknown")
    if not left.suffix:
        at.lost("rank unknown")
    back = 1 if right.rank == 1 else 2
    place = (len(left.items) - 1, len(right.items) - back)
    contract(at, a, b, place, (left.suffix[-1], right.suffix[-back]))
    kept = (*left.items[:-1], *right.items[:-back], *right.items[len(right.items) - back + 1 :])
    if sum(isinstance(i, Run) for i in kept) > 1:
        at.lost("rank unknown")
    return product(at, kept, a, b)


@op("torch.inner", "torch.Tensor.inner", "numpy.inner")
def inner(at: OpContext, input: Tensor, other: Tensor) -> Value:
    """The sum over the last axes of both.

    input (*i, m), other (*j, m) -> (*i, *j); a number scales.
    Conflict: m differs.
    Source: PyTorch documentation, torch.inner.
    """
    left, right = at.shape(input), at.shape(other)
    if left.rank == 0 or right.rank == 0:
        return product(at, right if left.rank == 0 else left, input, other)
    if not left.suffix or not right.suffix:
        at.lost("rank unknown")
    contract(at, input, other, (len(left.items) - 1, len(right.items) - 1), (left.suffix[-1], right.suffix[-1]))
    kept = (*left.items[:-1], *right.items[:-1])
    if sum(isinstance(i, Run) for i in kept) > 1:
        at.lost("rank unknown")
    return product(at, kept, input, other)


@op("torch.outer", "torch.Tensor.outer", "torch.ger", "torch.Tensor.ger")
def outer(at: OpContext, input: Tensor, vec2: Tensor) -> Value:
    """All products of two vectors.

    input (n,), vec2 (m,) -> (n, m)
    Conflict: a rank is not 1.
    Source: PyTorch documentation, torch.outer.
    """
    (n,) = at.need_rank(input, 1)
    (m,) = at.need_rank(vec2, 1)
    return product(at, (n, m), input, vec2)


@op("numpy.outer")
def numpy_outer(at: OpContext, a: Tensor, b: Tensor) -> Value:
    """All products of the elements of two arrays.

    a (n,), b (m,) -> (n, m); more axes are flattened first.
    Source: NumPy reference, numpy.outer.
    """
    sides = []
    for tensor in (a, b):
        axes = at.axes(tensor)
        if len(axes) == 1:
            sides.append(axes[0])
        else:
            total = at.axis(1)
            for axis in axes:
                total = at.axis(total.dim * axis.dim)
            sides.append(total)
    return product(at, sides, a, b)


@op("torch.nn.functional.linear")
def linear(at: OpContext, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Value:
    """Apply a learned map to the last axis.

    input (*, m), weight (p, m), bias (p,) -> (*, p); weight (m,) -> (*)
    Conflict: m differs; the bias does not broadcast to the result.
    Source: PyTorch documentation, torch.nn.functional.linear.
    """
    rows, m = at.leading(input)
    shape = at.shape(weight)
    if shape.rank not in (1, 2):
        at.need_rank(weight, 1, 2)
    if m is not None:
        pair = (m, at.shape(weight).axes[-1])
        contract(at, input, weight, (len(at.shape(input).items) - 1, len(shape.items) - 1), pair)
    outs = at.shape(weight).axes[:-1]
    result = product(at, (*rows, *outs), input, weight)
    for axis in (*([m] if m is not None else []), *outs):
        at.sizes.mark(axis, "feature", at.line)
    for row in rows:
        if isinstance(row, Axis):
            at.sizes.mark(row, "row", at.line)
    if bias is not None:
        broadcast_into(at, result.shape, at.shape(bias), weight, bias)
    return result


@op("torch.tensordot", "numpy.tensordot")
def tensordot(at: OpContext, a: Tensor, b: Tensor, dims: Value | None = None) -> Value:
    """Sum over several axes of both at once.

    dims n: the last n of a with the first n of b; dims ((i, …), (j, …)): those axes, in pairs
    Conflict: two summed axes differ; an axis does not exist.
    Source: PyTorch documentation, torch.tensordot.
    """
    left, right = at.axes(a), at.axes(b)
    ours, theirs = _summed(at, dims, len(left))
    for tensor, axes in ((a, ours), (b, theirs)):
        rank = len(at.axes(tensor))
        for i in axes:
            if not -rank <= i < rank:
                at.fail("axis-out-of-range", [tensor], axis=str(i), rank=str(rank))
    ours, theirs = [i % len(left) for i in ours], [j % len(right) for j in theirs]
    for i, j in zip(ours, theirs, strict=True):
        if a.library == "numpy" or (left[i].dim.const == 1) == (right[j].dim.const == 1):
            # torch sums an axis of size 1 against any.
            contract(at, a, b, (i, j), (left[i], right[j]))
    kept = [x for i, x in enumerate(left) if i not in ours] + [y for j, y in enumerate(right) if j not in theirs]
    return product(at, kept, a, b)


def _summed(at: OpContext, dims: Value | None, rank: int) -> tuple[list[int], list[int]]:
    if dims is None:
        return [rank - 2, rank - 1], [0, 1]
    if isinstance(dims, Seq) and len(dims.items) == 2:
        ours, theirs = (axes_of(at, item) or () for item in dims.items)
        if len(ours) != len(theirs):
            at.fail("wrong-rank", ["dims"], wanted=str(len(ours)), got=str(len(theirs)))
        return list(ours), list(theirs)
    if isinstance(dims, Seq):
        at.lost("`dims` is no pair")
    count = whole(at, dims)
    number = count.value if count is not None else None
    if number is None:
        at.lost("`dims` is not known")
    return [rank - number + i for i in range(number)], list(range(number))


@op("torch.kron", "torch.Tensor.kron", "numpy.kron")
def kron(at: OpContext, input: Tensor, other: Tensor) -> Value:
    """The Kronecker product: sizes multiply, axis by axis, aligned at the last.

    input (n, m), other (p, q) -> (n*p, m*q)
    Source: PyTorch documentation, torch.kron.
    """
    left, right = at.axes(input), at.axes(other)
    rank = max(len(left), len(right))
    sizes = [
        (left[i].dim if -i <= len(left) else at.axis(1).dim) * (right[i].dim if -i <= len(right) else 1)
        for i in range(-rank, 0)
    ]
    return product(at, [at.axis(d) for d in sizes], input, other)


@op("torch.linalg.multi_dot", "numpy.linalg.multi_dot")
def multi_dot(at: OpContext, tensors: Tensors) -> Value:
    """The product of a chain of matrices; the first and the last may be vectors.

    (a, b), (b, c), (c, d) -> (a, d)
    Conflict: two neighbours do not fit; one between them is no matrix; there is only one.
    Source: PyTorch documentation, torch.linalg.multi_dot.
    """
    if len(tensors) < 2:
        at.fail("wrong-rank", why="one tensor")
    for tensor in (tensors[0], tensors[-1]):
        if at.shape(tensor).run is None:
            at.need_rank(tensor, 1, 2)
    result = tensors[0]
    for i, tensor in enumerate(tensors[1:], 1):
        if i < len(tensors) - 1:
            at.need_rank(tensor, 2)
        product_ = matmul(at, result, tensor)
        assert isinstance(product_, Tensor)
        result = product_
    return result


@op("torch.chain_matmul")
def chain_matmul(at: OpContext, *matrices: Tensor) -> Value:
    """The product of a chain of matrices.

    (a, b), (b, c), (c, d) -> (a, d)
    Conflict: two neighbours do not fit; one is no matrix.
    Source: PyTorch documentation, torch.chain_matmul.
    """
    for matrix in matrices:
        at.need_rank(matrix, 2)
    return matrices[0] if len(matrices) == 1 else multi_dot(at, matrices)


@op("torch.cross", "torch.Tensor.cross", "torch.linalg.cross")
def cross(at: OpContext, input: Tensor, other: Tensor, dim: int | None = None) -> Value:
    """The vector product along an axis of size 3.

    input (*, 3), other (*, 3) -> (*, 3)
    Source: PyTorch documentation, torch.cross.
    """
    return product(at, broadcast(at, input, other), input, other)


@op("torch.trace", "torch.Tensor.trace")
def trace(at: OpContext, input: Tensor) -> Value:
    """The sum of a matrix's diagonal.

    input (n, m) -> ()
    Conflict: the rank is not 2.
    Source: PyTorch documentation, torch.trace.
    """
    at.need_rank(input, 2)
    return at.tensor((), input, kind="int" if input.kind == "bool" else input.kind)


@op("torch.cdist")
def cdist(at: OpContext, x1: Tensor, x2: Tensor, p: Value = NONE, compute_mode: Value = NONE) -> Value:
    """The distances between all rows of two batches.

    x1 (*b, n, m), x2 (*b, p, m) -> (*b, n, p)
    Conflict: m differs; a batch axis differs.
    Source: PyTorch documentation, torch.cdist.
    """
    n, m = at.suffix(x1, 2)
    q, m2 = at.suffix(x2, 2)
    contract(at, x1, x2, (len(at.shape(x1).items) - 1, len(at.shape(x2).items) - 1), (m, m2))
    left, right = Shape(at.shape(x1).items[:-2]), Shape(at.shape(x2).items[:-2])
    batch = broadcast_shapes(at, left, right, x1, x2, problem="mismatched-batch")
    return at.tensor((*batch.items, n, q), x1)
