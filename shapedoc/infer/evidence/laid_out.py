"""Sizes that an author lists as the axes of one tensor: they are different quantities."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.sizes import Sizes
from shapedoc.core.trace import Event
from shapedoc.core.value import Tensor

__all__ = ["LAID_OUT", "set_apart"]

# Ops whose result has the axes that the author lists.
LAID_OUT = frozenset(
    [
        "view",
        "reshape",
        "expand",
        "broadcast_to",
        "zeros",
        "ones",
        "empty",
        "full",
        "rand",
        "randn",
        "randint",
        "normal",
        "new_zeros",
        "new_ones",
        "new_full",
        "standard_normal",
        "random",
    ]
)
_CUTS = frozenset(("view", "reshape"))


def set_apart(sizes: Sizes, event: Event) -> None:
    """The sizes that the author lists as the axes of one tensor are different quantities.

    Two sizes of one constructor (a weight's) may still be equal on purpose; of a size that is not followed
    nothing is said.
    """
    result = event.result
    if isinstance(result, Tensor) and result.shape.run is None:
        dims = [a.dim for a in result.shape.axes if a.dim.named]
        owners = {s.owner for d in dims for s in d.syms}
        flexible = any(s.flexible for d in dims for s in d.syms)
        if len(dims) > 1 and (len(result.shape.items) > 2 or len(owners) > 1 or flexible):
            sizes.apart(*dims)
        if event.short in _CUTS and len(result.shape.items) > 3:
            _set_steps_apart(sizes, *(axis.dim for axis in result.shape.axes[-3:]))


def _set_steps_apart(sizes: Sizes, steps: Dim, heads: Dim, width: Dim) -> None:
    """What is left over where a width is cut into heads, ``view(B, -1, n_heads, d_head)``, are steps, not heads."""
    left = sizes.resolve(steps).sym
    if left is None or left.name or not left.flexible:
        return
    cut = [sizes.resolve(d) for d in (heads, width)]
    if all(d.named and not any(s.flexible for s in d.syms) for d in cut) and cut[0] != cut[1]:
        sizes.apart(left, cut[0])
