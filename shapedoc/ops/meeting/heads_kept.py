"""Heads in views: what stays of features that are cut, and heads that a view takes for steps."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind, Sameness, Strength
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.opposed import keep_feature

__all__ = ["keep_heads", "kept_again"]


def keep_heads(at: OpContext, old: Shape, new: Sequence[Axis | Run]) -> None:
    """Of features that are split, ``(*, heads * d)`` seen as ``(B, -1, heads, d)``, the last part is made of features.

    The one before the parts is made of what stands before the features: rows.
    """
    if not old.suffix or at.sizes.role(old.suffix[-1], "feature") is None:
        return
    whole, parts = at.sizes.resolve(old.suffix[-1].dim), ONE
    for k, axis in enumerate(reversed(new), 1):
        if not isinstance(axis, Axis):
            return
        parts = parts * at.sizes.resolve(axis.dim)
        if parts == whole:
            before = new[-k - 1] if k < len(new) else None
            last = new[-1]
            if k > 1 and whole.named and isinstance(before, Axis) and isinstance(last, Axis):
                keep_feature(at, old.suffix[-1], last)
                at.sizes.mark(before, "row", at.line)
            return


def kept_again(at: OpContext, have: Dim, need: Dim, old: Sequence[Axis], wanted: Sequence[Axis]) -> Sameness | None:
    """That a view asks an unknown size to be that of an axis in front of it, which stays: both are of one tensor.

    Of (B, h, ?, d) is made (B, h, h * d).
    """
    rest, size = have.without_common(need), need.without_common(have)
    if rest.sym is None or not rest.sym.flexible or size.sym is None or not size.named:
        return None
    for before, after in zip(old, wanted, strict=False):
        if before.dim != after.dim:
            return None
        if at.sizes.resolve(before.dim) == size:
            return Sameness(Kind.ONLY_IF, Strength.STRONG)
    return None
