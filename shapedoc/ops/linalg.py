"""Products: matrix products, batched and not, and their kin."""

from __future__ import annotations

from shapedoc.core.shape import Axis
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Tensor, Value
from shapedoc.ops.context import OpContext
from shapedoc.ops.registry import op

__all__ = ["bmm", "contract"]


def contract(at: OpContext, left: Tensor, right: Tensor, axis: tuple[int, int], pair: tuple[Axis, Axis]) -> None:
    """Require the two summed axes of a product to agree; reports "mismatched-product"."""
    sameness = at.meet(*pair)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            "mismatched-product",
            [left, right],
            axes=axis,
            dims=(pair[0].dim, pair[1].dim),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
        )


@op("torch.bmm", "torch.Tensor.bmm")
def bmm(at: OpContext, input: Tensor, mat2: Tensor) -> Value:
    """Multiply batches of matrices; both must have exactly three axes.

    input (b, n, m), mat2 (b, m, p) -> (b, n, p)
    Conflict: a rank is not 3; b differs; m differs.
    Source: PyTorch documentation, torch.bmm.
    """
    b, n, m = at.need_rank(input, 3)
    b2, m2, p = at.need_rank(mat2, 3)
    batch = at.meet(b, b2)
    if batch.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict("mismatched-batch", [input, mat2], axes=(0, 0), dims=(b.dim, b2.dim), sameness=batch)
    contract(at, input, mat2, (2, 1), (m, m2))
    return at.tensor((b.merged(b2), n, p), input)
