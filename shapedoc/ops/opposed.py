"""Two axes that a product cannot mean to sum, whatever their sizes.

A learned map makes and consumes features and passes rows through. In a product of two activations a feature of one
never meets a row of the other; and two axes of one tensor are two quantities.
"""

from __future__ import annotations

from shapedoc.core.shape import Axis
from shapedoc.core.sizes import Kind, Sameness, Strength
from shapedoc.core.value import Tensor
from shapedoc.ops.context import OpContext

__all__ = ["keep_feature", "opposed", "set_apart"]

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
    if feature and at.sizes.role(axis, "weighed") is not None:
        return ""
    row = any(at.sizes.role(axis, role) is not None for role in _ROWS)
    return "" if feature == row else "feature" if feature else "row"


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
    """The innermost part of a feature axis that a view split holds features."""
    if at.sizes.role(old, "feature") is not None and not new.same(old):
        at.sizes.mark(new, "feature", at.line)
