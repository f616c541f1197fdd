"""Two axes that a product cannot mean to sum, whatever their sizes.

A learned map makes and consumes features and passes rows through. In a product of two activations a feature of one
never meets a row of the other; and two axes of one tensor are two quantities. An axis of size 1 that stands beside the
one which a softmax normalised is not what the values are summed over.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Axis, Run
from shapedoc.core.sizes import Kind, Sameness, Strength
from shapedoc.core.value import Tensor
from shapedoc.ops.calling.context import OpContext

__all__ = ["heads_apart", "keep_feature", "lone", "opposed", "score", "set_apart", "unturned"]

_ROWS = ("row", "time", "batch")


def opposed(at: OpContext, left: Tensor, right: Tensor, pair: tuple[Axis, Axis]) -> Sameness | None:
    """That a feature meets a row, if it does in a product of these tensors, neither of them learned."""
    a, b = pair
    if left.learned or right.learned or (a.dim == b.dim and a.dim.named) or a.same(b):
        return None
    if a.dim.const == 1 or b.dim.const == 1:
        return None
    kinds = {_kind(at, a), _kind(at, b)}
    if kinds != {"feature", "row"} or at.sizes.compare(a.dim, b.dim).kind is Kind.NEVER:
        return None
    when = f"{at.sizes.show(a.dim)} == {at.sizes.show(b.dim)}" if a.dim.named and b.dim.named else ""
    return Sameness(Kind.ONLY_IF, Strength.STRONG, when)


def _kind(at: OpContext, axis: Axis) -> str:
    feature = at.sizes.role(axis, "feature") is not None
    if feature and at.sizes.role(axis, "weighed") is not None and at.sizes.role(axis, "scored") is None:
        return ""
    row = any(at.sizes.role(axis, role) is not None for role in _ROWS)
    return "" if feature == row else "feature" if feature else "row"


def score(at: OpContext, axes: Sequence[Axis | Run], tensors: Sequence[Tensor]) -> None:
    """Mark the features that a product of two activations keeps: normalised, they are features still, and no places.

    Of what a learned map gives to a softmax, ``Linear(d, T_max)``, each is the score of a place.
    """
    if len(tensors) == 2 and not any(t.learned for t in tensors):
        for axis in axes[-2:]:
            if isinstance(axis, Axis) and at.sizes.role(axis, "feature") is not None:
                at.sizes.mark(axis, "scored", at.line)


def lone(at: OpContext, left: Tensor, right: Tensor, pair: tuple[Axis, Axis]) -> Sameness | None:
    """That an axis of size 1 meets one that nothing says is 1, if it cannot be meant.

    It stands in weights, beside the axis that was normalised: ``bmm(memory, weights.unsqueeze(1))``. Or it is that of
    a learned column, and the other is a size that the author has a name for.
    """
    for tensor, mine, other in ((left, *pair), (right, *pair[::-1])):
        if at.sizes.resolve(mine.dim) != ONE or other.visible:
            continue
        size = at.sizes.resolve(other.dim)
        if size.sym is None or not size.sym.flexible or size.sym.value is not None:
            continue
        if (mine.visible and _weighs(at, tensor, mine)) or (tensor.learned and size.named):
            return Sameness(Kind.ONLY_IF, Strength.STRONG, f"{at.sizes.show(size)} == 1" if size.named else "")
    return None


def heads_apart(at: OpContext, left: Sequence[Axis], right: Sequence[Axis]) -> bool:
    """Whether one side has its heads in front of its matrices, and the other among its rows or columns.

    (B, ?, h, d) with (B, h, d, ?), (B, h, ?, d) with (B, ?, d, h), and (B, h, ?, ?) with (B, ?, h, d): of the axis that
    stands where the heads should, nobody gives the size.
    """
    if len(left) < 4 or len(right) < 4:
        return False
    (first, rows, summed), (second, other, columns) = (
        [at.sizes.resolve(axis.dim) for axis in side[-3:]] for side in (left, right)
    )
    if summed == other and summed.named:
        return _stands_in(first, rows, second) or _stands_in(second, columns, first)
    return columns.named and other != columns and summed != other and _stands_in(second, other, first)


def unturned(at: OpContext, left: Tensor, right: Tensor, pair: tuple[Axis, Axis]) -> Sameness | None:
    """That keys are not turned: (B, h, ?, d) with (B, h, ?, d), of which the second sums its nameless axis with d."""
    if left.learned or right.learned:
        return None
    one, other = at.shape(left).axes, at.shape(right).axes
    summed, rows = (at.sizes.resolve(axis.dim) for axis in pair)
    if len(one) != 4 or len(other) != 4 or not pair[0].same(one[-1]) or not pair[1].same(other[-2]):
        return None
    if rows.sym is None or rows.sym.name or not rows.sym.flexible or not summed.named:
        return None
    ours, theirs = ([at.sizes.resolve(axes[k].dim) for k in (0, 1, 3)] for axes in (one, other))
    alike = ours == theirs and all(size.named for size in ours)
    return Sameness(Kind.ONLY_IF, Strength.STRONG) if alike else None


def _stands_in(nameless: Dim, heads: Dim, where: Dim) -> bool:
    """Whether the size of heads that one side has in front is another axis of the other, which has a size without a
    name there.
    """
    sym = nameless.sym
    return sym is not None and not sym.name and sym.flexible and heads == where and heads.named


def _weighs(at: OpContext, tensor: Tensor, axis: Axis) -> bool:
    """Whether a tensor has one other axis of its last two, and a softmax normalised that."""
    rest = [a for a in at.shape(tensor).suffix[-2:] if not a.same(axis)]
    return len(rest) == 1 and at.sizes.role(rest[0], "weighed") is not None


def set_apart(at: OpContext, left: Tensor, right: Tensor, pair: tuple[Axis, Axis]) -> None:
    """Note that the sizes of two axes are apart where one tensor has both of them."""
    a, b = pair
    if a.dim == b.dim or not (a.dim.named and b.dim.named):
        return
    for tensor, mine, other in ((right, b, a), (left, a, b)):
        if any(axis is not mine and axis.dim == other.dim for axis in at.shape(tensor).axes):
            at.sizes.apart(a.dim, b.dim)
            return


def keep_feature(at: OpContext, old: Axis, new: Axis) -> None:
    """The innermost part of a feature axis that a view split holds features, or the one that a pattern puts last."""
    if at.sizes.role(old, "feature") is not None and not new.same(old):
        at.sizes.mark(new, "feature", at.line)
