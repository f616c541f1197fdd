"""What every product asks of its operands: one size to sum over, one batch."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Tensor
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.kinds import promote
from shapedoc.ops.meeting.opposed import lone, opposed, score, set_apart, unturned

__all__ = ["contract", "product", "same_batch", "turned"]


def contract(at: OpContext, left: Tensor, right: Tensor, axis: tuple[int, int], pair: tuple[Axis, Axis]) -> None:
    """Require the two summed axes of a product to agree; reports "mismatched-product".

    An axis that is summed with one of a learned tensor is a feature.
    """
    set_apart(at, left, right, pair)
    crossed = opposed(at, left, right, pair) or unturned(at, left, right, pair)
    if crossed:
        # Nothing that comes later teaches that the row is the feature: the walks after this one see it still.
        at.sizes.apart(pair[0].dim, pair[1].dim)
    sameness = crossed or lone(at, left, right, pair) or at.meet(*pair)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            "mismatched-product",
            [left, right],
            axes=axis,
            dims=(pair[0].dim, pair[1].dim),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
            **({"roles": "feature and row"} if crossed else {}),
        )
    if left.learned != right.learned:
        for summed in pair:
            at.sizes.mark(summed, "feature", at.line)


def same_batch(at: OpContext, left: Tensor, right: Tensor, axis: int, pair: tuple[Axis, Axis]) -> Axis:
    """Require two batch axes to agree exactly; reports "mismatched-batch"."""
    sameness = at.meet(*pair)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            "mismatched-batch",
            [left, right],
            axes=(axis, axis),
            dims=(pair[0].dim, pair[1].dim),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
        )
    return pair[0].merged(pair[1])


def product(at: OpContext, shape: Shape | Sequence[Axis | Run], *tensors: Tensor) -> Tensor:
    """The result of a product of these tensors."""
    kind, like = promote(tensors)
    score(at, shape.items if isinstance(shape, Shape) else shape, tensors)
    return at.tensor(shape, like, kind=kind)


def turned(at: OpContext, ours: tuple[Axis, Axis], theirs: tuple[Axis, Axis]) -> bool:
    """Whether the batch of either side is what the other sums over: weights (B, 1, T) and states (T, B, d)."""
    (batch, summed), (first, second) = ours, theirs
    if at.sizes.resolve(first.dim) == at.sizes.resolve(second.dim) or ONE in (batch.dim, summed.dim):
        return False
    if first.same(batch) or second.same(summed):
        return False
    return all(a.ids <= b.ids or b.ids <= a.ids for a, b in ((first, summed), (second, batch)))
