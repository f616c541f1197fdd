"""Sizes as arguments: what `view`, `expand` and `zeros` are given, one by one, as a tuple or as another's shape."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ZERO, Dim
from shapedoc.core.shape import Axis, Run
from shapedoc.core.value import Bool, Bound, Float, Int, Opaque, Seq, SizeOf, SizePart, Tensor, Unknown, Value
from shapedoc.ops.calling.context import OpContext

__all__ = ["axes_of", "extents", "is_number", "is_sizes", "surpasses", "whole"]


def whole(at: OpContext, value: Value) -> Dim | None:
    """A value as a size, with all that is known put in; None where it is no whole number."""
    if isinstance(value, Opaque):
        value = value.as_int() or value
    if isinstance(value, Int):
        return at.sizes.resolve(value.dim)
    if isinstance(value, Bool) and value.value is not None:
        return Dim.of(int(value.value))
    return None


def surpasses(one: Dim, other: Dim) -> bool:
    """Whether a size is certainly larger than another."""
    if one.value is not None and other.value is not None:
        return one.value > other.value
    over = one - other
    return bool(over.terms) and all(c > 0 for _, c in over.terms)


def is_sizes(value: Value) -> bool:
    """Whether a value is one size or several."""
    return isinstance(value, Int | Seq | SizeOf)


def is_number(value: Value) -> bool:
    """Whether a value is one size or several, or a parameter that configures a module or has been used as a number."""
    return is_sizes(value) or getattr(value, "size", False) is True or getattr(value, "counted", False) is True


def extents(at: OpContext, value: Value) -> tuple[Axis | Run, ...]:
    """Sizes as the axes they ask for; -1 stays an axis of size -1, a size that is not known is a fresh one.

    The axes of another tensor's shape come as a copy without their identity; its unknown run comes as it is.
    Lost where the number of sizes is not known, unless it is the run of a tensor. Conflict "impossible-view": a size
    that a division made a float.
    """
    match value:
        case Seq(items=(Opaque() as alone,), rest=None) if may_be_several(alone):
            return (Run(),)
        case Seq(items=(Bound(),), rest=None):
            return (Run(),)  # an attribute of something that is not known, such as its shape
        case Seq(items=items, rest=rest):
            found = [i for v in items for i in ((at.fresh(),) if _is_vague(v) else extents(at, v))]
            if rest is not None:
                found.append(Run())
            if sum(isinstance(item, Run) for item in found) > 1:
                at.lost("rank unknown")
            return tuple(found)
        case SizeOf(tensor=tensor):
            shape = at.shape(tensor)
            return tuple(i if isinstance(i, Run) else Axis(i.dim, visible=i.visible) for i in shape.items)
        case SizePart(items=part):
            return tuple(i if isinstance(i, Run) else Axis(i.dim, visible=i.visible) for i in part)
        case _:
            dim = whole(at, value)
            if dim is not None and dim.const != -1 and surpasses(ZERO, dim):
                return (at.fresh(),)  # made of the -1 that stands for a size until there is one
            if dim is not None:
                return (Axis(dim, visible=dim.const == 1),)
            if isinstance(value, Unknown):
                at.lost(value.reason)  # one size, or several
            if isinstance(value, Opaque):
                return (at.fresh(),)
            if isinstance(value, Float) and value.known:
                at.fail("impossible-view", why="float")
            at.lost("a size is no whole number")


def _is_vague(value: Value) -> bool:
    """Whether one of several sizes is a size of which nothing is known."""
    if isinstance(value, Float):
        return not value.known
    return not isinstance(value, Int | Bool | Seq | SizeOf | Opaque)


def may_be_several(value: Opaque) -> bool:
    """Whether a parameter of which nothing is known may be one size or a tuple of them."""
    return getattr(value, "size", True) is False and getattr(value, "_int", None) is None


def axes_of(at: OpContext, value: Value, tensors: Sequence[Tensor] = ()) -> tuple[int, ...] | None:
    """Literal axis numbers, one or several; None for None. Lost where one is not known."""
    match value:
        case Seq(items=items, rest=None):
            return tuple(n for v in items for n in axes_of(at, v) or ())
        case _:
            dim = whole(at, value)
            number = dim.value if dim is not None else None
            if number is None:
                at.lost("an axis is not known")
            return (number,)
