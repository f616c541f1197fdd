"""Comments that give a shape as one says it, and not axis by axis.

``(B, T, H*K)`` of a tensor that a view has just cut into (B, T, H, K), or ``(B, H)`` of a recurrent state
(1, B, H): the elements are those that the comment says, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.trace import Event
from shapedoc.ops.measuring.regroup import product, regroup
from shapedoc.source import ir
from shapedoc.source.contracts.stated import Number, StatedShape
from shapedoc.source.walk import blocks

__all__ = ["gives_elsewhere", "is_of_values", "is_of_what_was_flattened", "is_shorthand"]


def is_of_values(stated: StatedShape) -> bool:
    """Whether what a comment says may be what stands in a tensor of one axis: ``counts: [3, 1, 2]``."""
    numbers = all(isinstance(dim, Number) for dim in stated.dims)
    return stated.form == "comment" and numbers and stated.text.startswith("[")


def gives_elsewhere(node: ir.FunctionDef, count: int) -> bool:
    """Whether a function returns in more places than the `count` that a call came to: what it says may be of those."""
    pending, returns = list(node.body), 0
    while pending:
        statement = pending.pop()
        returns += isinstance(statement, ir.Return)
        if not isinstance(statement, ir.FunctionDef | ir.ClassDef):
            pending.extend(s for block in blocks(statement) for s in block)
    return returns > count


def is_of_what_was_flattened(sizes: Sizes, made: Event | None, count: int) -> bool:
    """Whether a comment has as many axes as what a value was flattened from may have, of sizes that are not known.

    ``torch.stack(grid).flatten(1)  # 2, H, W``.
    """
    given = made.operand("input") if made is not None and made.short == "flatten" else None
    if given is None or given.shape is None:
        return False
    shape = sizes.shape(given.shape)
    return shape.rank is None and len(shape.items) - 1 <= count


def is_shorthand(sizes: Sizes, shape: Shape, stated: Sequence[Dim | None]) -> bool:
    """Whether the stated sizes are those of `shape` without its leading 1, or its elements grouped otherwise.

    stated: None for a size of which nothing is known. A 1 that stands elsewhere is no shorthand when it is left out:
    what it meets depends on it.
    """
    if shape.rank is None:
        return False
    axes, said = _led_by_no_one(shape.axes), [None if d is None else sizes.resolve(d) for d in stated]
    while len(axes) > 1 and len(said) > 1 and _may_be(axes[-1].dim, said[-1]):
        axes, said = axes[:-1], said[:-1]
    if len(axes) == len(said):
        return all(dim is None or axis.dim == dim for axis, dim in zip(axes, said, strict=True))
    wanted = [Axis(dim) for dim in said if dim is not None]
    ones = [sum(axis.dim == ONE for axis in some) for some in (axes, wanted)]
    if len(wanted) < len(said) or ones[0] != ones[1] or product(axes) != product(wanted):
        return False
    return regroup(sizes, axes, wanted).broken is None


def _may_be(dim: Dim, said: Dim | None) -> bool:
    """Whether the last axis, of rows that were flattened, is left as it is said."""
    sym = dim.sym
    return said is None or dim == said or (sym is not None and sym.flexible and not sym.name)


def _led_by_no_one(axes: Sequence[Axis]) -> list[Axis]:
    first = next((i for i, axis in enumerate(axes) if axis.dim != ONE), len(axes))
    return list(axes[first:])
