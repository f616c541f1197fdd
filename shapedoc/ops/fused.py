"""Products that something is added to."""

from __future__ import annotations

from shapedoc.core.value import Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.kinds import promote
from shapedoc.ops.linalg import bmm, mm, mv, outer
from shapedoc.ops.meeting.broadcast import broadcast_into
from shapedoc.ops.registry import op

__all__ = ["addmm", "baddbmm"]


@op("torch.addmm", "torch.Tensor.addmm")
def addmm(
    at: OpContext, input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Value = NONE, alpha: Value = NONE
) -> Value:
    """Add to the product of two matrices.

    input broadcasts to (n, p), mat1 (n, m), mat2 (m, p) -> (n, p)
    Conflict: a rank is not 2; m differs; input does not broadcast.
    Source: PyTorch documentation, torch.addmm.
    """
    result = mm(at, mat1, mat2)
    return added(at, input, result, mat1, mat2)


@op("torch.addmv", "torch.Tensor.addmv")
def addmv(at: OpContext, input: Tensor, mat: Tensor, vec: Tensor, *, beta: Value = NONE, alpha: Value = NONE) -> Value:
    """Add to the product of a matrix and a vector.

    input broadcasts to (n,), mat (n, m), vec (m,) -> (n,)
    Conflict: the ranks are not 2 and 1; m differs; input does not broadcast.
    Source: PyTorch documentation, torch.addmv.
    """
    return added(at, input, mv(at, mat, vec), mat, vec)


@op("torch.addr", "torch.Tensor.addr")
def addr(at: OpContext, input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Value = NONE, alpha: Value = NONE) -> Value:
    """Add to the outer product of two vectors.

    input broadcasts to (n, m), vec1 (n,), vec2 (m,) -> (n, m)
    Source: PyTorch documentation, torch.addr.
    """
    return added(at, input, outer(at, vec1, vec2), vec1, vec2)


@op("torch.baddbmm", "torch.Tensor.baddbmm")
def baddbmm(
    at: OpContext, input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Value = NONE, alpha: Value = NONE
) -> Value:
    """Add to the product of batches of matrices.

    input broadcasts to (b, n, p), batch1 (b, n, m), batch2 (b, m, p) -> (b, n, p)
    Conflict: a rank is not 3; b or m differs; input does not broadcast.
    Source: PyTorch documentation, torch.baddbmm.
    """
    return added(at, input, bmm(at, batch1, batch2), batch1, batch2)


@op("torch.addbmm", "torch.Tensor.addbmm")
def addbmm(
    at: OpContext, input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Value = NONE, alpha: Value = NONE
) -> Value:
    """Add to the sum of a batch of matrix products.

    input broadcasts to (n, p), batch1 (b, n, m), batch2 (b, m, p) -> (n, p)
    Source: PyTorch documentation, torch.addbmm.
    """
    result = bmm(at, batch1, batch2)
    assert isinstance(result, Tensor)
    return added(at, input, at.tensor(result.shape.items[1:], result), batch1, batch2)


def added(at: OpContext, input: Tensor, result: Value, *factors: Tensor) -> Tensor:
    """`result`, to which `input` must broadcast."""
    assert isinstance(result, Tensor)
    broadcast_into(at, result.shape, at.shape(input), factors[0], input)
    return at.tensor(result.shape, result, kind=promote((input, *factors))[0])
