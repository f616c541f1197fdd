"""What a library module was built with, and its input held against that."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Bool, Bound, Float, Int, Layer, Library, NoneValue, Seq, Str, Tensor, Unknown, Value
from shapedoc.core.verdict import Lost
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.beside import beside_features

__all__ = [
    "each",
    "expect",
    "first_axes",
    "flag",
    "number",
    "overlaps",
    "same_tensor",
    "size",
    "size_or_none",
    "sizes_of",
    "text",
    "weight",
]


def size(at: OpContext, layer: Layer, name: str) -> Dim:
    """A size among the constructor's arguments, any size where it is not known; the call is lost where it is none."""
    value = layer.config.get(name)
    if isinstance(value, Bound | Library | Unknown) or (isinstance(value, Float) and value.value is None):
        return at.fresh().dim
    found = size_or_none(at, layer, name)
    if found is None:
        at.lost(f"`{name}` is not known")
    return found


def size_or_none(at: OpContext, layer: Layer, name: str) -> Dim | None:
    """A size among the constructor's arguments, or None where it is None; lost where it is not known."""
    value = layer.config.get(name)
    match value:
        case Int():
            return at.sizes.resolve(value.dim)
        case NoneValue() | None:
            return None
        case _:
            at.lost(f"`{name}` is not known")


def flag(layer: Layer, name: str) -> bool | None:
    """A truth value among the constructor's arguments; None where it is not known."""
    value = layer.config.get(name)
    match value:
        case Bool():
            return value.value
        case Int():
            return None if value.value is None else bool(value.value)
        case NoneValue():
            return False
        case _:
            return None


def number(layer: Layer, name: str) -> int | None:
    """A whole number among the constructor's arguments; None where it is not known."""
    value = layer.config.get(name)
    return value.dim.value if isinstance(value, Int) else None


def text(layer: Layer, name: str) -> str | None:
    """A literal string among the constructor's arguments; None where it is not known or not a string."""
    value = layer.config.get(name)
    return value.value if isinstance(value, Str) else None


def sizes_of(at: OpContext, value: Value | None) -> tuple[Dim, ...] | None:
    """A size or several of them; None where they are not known."""
    match value:
        case Int():
            return (at.sizes.resolve(value.dim),)
        case Seq(rest=None):
            dims = [at.sizes.resolve(v.dim) for v in value.items if isinstance(v, Int)]
            return tuple(dims) if len(dims) == len(value.items) else None
        case _:
            return None


def each(at: OpContext, value: Value | None, count: int, name: str) -> tuple[Dim, ...]:
    """`count` sizes from one for all or from a list of so many, as kernels and strides are given."""
    dims = sizes_of(at, value)
    if dims is None:
        at.lost(f"`{name}` is not known")
    if len(dims) == 1:
        return dims * count
    if len(dims) != count:
        at.lost(f"`{name}` has {len(dims)} sizes, not {count}")
    return dims


def expect(
    at: OpContext,
    input: Tensor,
    position: int,
    wanted: Dim,
    setting: str,
    *,
    loud: bool = True,
    kind: str = "mismatched-module-input",
) -> Axis:
    """Require the axis at `position` of the input's items to have the size that the module was built with.

    Gives the axis, of the wanted size where it did not fit. `setting` is the constructor's name for that size.
    """
    items, rank = at.shape(input).items, at.shape(input).rank
    item = items[position]
    if not isinstance(item, Axis):
        at.lost("rank unknown")
    sameness = beside_features(at, input, position, wanted, setting) or at.meet(item, wanted)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            kind,
            [input],
            axes=(position % len(items) - (0 if rank is not None else len(items)),),
            dims=(item.dim, wanted),
            sameness=sameness,
            loud=loud and sameness.kind is Kind.NEVER,
            setting=setting,
        )
        return item.sized(wanted)
    return item.sized(at.sizes.resolve(item.dim))


def first_axes(at: OpContext, tensor: Tensor, count: int) -> tuple[Axis, ...] | None:
    """The first `count` axes; None where they cannot be told from the last ones that are known."""
    try:
        return at.prefix(tensor, count)
    except Lost:
        return None


def overlaps(at: OpContext, tensor: Tensor, count: int) -> bool:
    """Whether the last `count` axes of a tensor of unknown rank may be among the first ones, which are known."""
    shape = at.shape(tensor)
    ahead = len(shape.prefix)
    return shape.run is not None and len(shape.suffix) < count and (ahead > 1 or (ahead == 1 and count > 1))


def same_tensor(at: OpContext, input: Tensor) -> Tensor:
    """A new tensor like this one, its memory lying as this one's does."""
    return at.tensor(at.shape(input), input, order=input.order)


def weight(*dims: Dim | Axis | int) -> Tensor:
    """A learned tensor of these sizes."""
    axes: Sequence[Axis] = [d if isinstance(d, Axis) else Axis(Dim.of(d)) for d in dims]
    return Tensor(Shape(tuple(axes)), kind="float", learned=True)
