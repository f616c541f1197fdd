"""An axis of which nothing is known, beside the features whose size it is asked to have: it is another quantity.

Generic position speaks of two axes of one tensor: that one is as long as the other is wide would be chance.
"""

from __future__ import annotations

from collections.abc import Iterable

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run
from shapedoc.core.sizes import Kind, Sameness, Strength
from shapedoc.core.value import Tensor
from shapedoc.ops.calling.context import OpContext

__all__ = ["beside_features", "features_beside"]


def beside_features(at: OpContext, input: Tensor, position: int, wanted: Dim, setting: str) -> Sameness | None:
    """That the axis which a module takes for its features lies beside those that it was built for.

    ``Linear(d, k)`` of what a convolution made, (B, d, T), and ``Conv1d(d, k, 3)`` of what a map made, (B, T, d): they
    fit only where T == d.
    """
    shape = at.shape(input)
    item = shape.items[position]
    sym = at.sizes.resolve(item.dim).sym if isinstance(item, Axis) else None
    if sym is None or not isinstance(item, Axis):
        return None
    if setting in ("in_features", "normalized_shape"):
        if position % len(shape.items) != len(shape.items) - 1 or shape.rank not in (3, None):
            return None
        return features_beside(at, shape.items, item, wanted)
    # What nobody has named may be the channels, of what is walked with settings that no run has together.
    if not sym.name or position % len(shape.items) != len(shape.items) - 2:
        return None
    # Of what was flattened to (B*T, ...) it is not sure which axes are left.
    whole = shape.rank == 3 and at.sizes.resolve(shape.axes[0].dim).sym is not None
    if setting == "in_channels" or (setting == "num_features" and whole):
        return features_beside(at, shape.items[-1:], item, wanted)
    return None


def features_beside(at: OpContext, items: Iterable[Axis | Run], axis: Axis, wanted: Dim) -> Sameness | None:
    """That `axis`, whose size is free, is asked to be `wanted`, which another of `items` is, a feature axis."""
    sym, size = at.sizes.resolve(axis.dim).sym, at.sizes.resolve(wanted)
    if sym is None or not sym.flexible or not size.named or sym.name in {s.name for s in size.syms}:
        return None
    others = (i for i in items if isinstance(i, Axis) and not i.same(axis) and at.sizes.resolve(i.dim) == size)
    if not any(at.sizes.role(other, "feature") is not None for other in others):
        return None
    when = f"{sym.name} == {at.sizes.show(size)}" if sym.name else ""
    return Sameness(Kind.ONLY_IF, Strength.STRONG, when)
