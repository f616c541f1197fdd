"""Axis numbers: where they stand in a shape that may be partly unknown, and what is left when they are summed."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.value import NoneValue, Tensor, Value
from shapedoc.core.verdict import Lost
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.measuring.extents import axes_of, whole

__all__ = ["along", "axis_at", "position", "positions", "reduced", "replaced", "weigh"]


def position(at: OpContext, tensor: Tensor, dim: int, *, new: bool = False) -> int | None:
    """Where axis `dim` stands among the items of the shape; None where that cannot be said.

    An axis that does not exist is an "axis-out-of-range" conflict, and the end.
    """
    try:
        return at.locate(tensor, dim, new=new)
    except Lost:
        return None


def axis_at(at: OpContext, tensor: Tensor, dim: int) -> Axis | None:
    """The axis of this number; None where it cannot be said, or where the tensor has no axes."""
    place = position(at, tensor, dim)
    items = at.shape(tensor).items
    if place is None or place >= len(items):
        return None
    item = items[place]
    return item if isinstance(item, Axis) else None


def along(at: OpContext, tensor: Tensor, dim: Value) -> int | None:
    """As `position`, of an axis number that may not be known: then None."""
    number = whole(at, dim)
    return position(at, tensor, number.value) if number is not None and number.value is not None else None


def weigh(at: OpContext, tensor: Tensor, place: int | None) -> None:
    """Mark the axis at a position as one of weights: what a learned map scored there are places, and no features."""
    item = at.shape(tensor).items[place] if place is not None and at.shape(tensor).items else None
    if isinstance(item, Axis):
        at.sizes.mark(item, "weighed", at.line)


def positions(at: OpContext, tensor: Tensor, dim: Value | None, *, default: int | None = None) -> list[int] | None:
    """Where these axes (one number or several) stand; None where that cannot be said. No number means `default`.

    An axis that is named twice, or that does not exist, is an "axis-out-of-range" conflict, and the end.
    """
    numbers: tuple[int, ...] | None
    if dim is None or isinstance(dim, NoneValue):
        numbers = None if default is None else (default,)
    else:
        try:
            numbers = axes_of(at, dim)
        except Lost:
            numbers = None
    if numbers is None:
        return None
    for number in numbers:
        position(at, tensor, number)
    found = [position(at, tensor, number) for number in numbers]
    places = [p for p in found if p is not None]
    if len(set(places)) < len(places):
        at.fail("axis-out-of-range", [tensor], axis=", ".join(map(str, numbers)), why="twice")
    return places if len(places) == len(found) else None


def reduced(
    at: OpContext, input: Tensor, dim: Value | None, keepdim: bool | None, *, empty_is_all: bool = True
) -> Shape:
    """The shape after summing over axes: all of them for None (and, where `empty_is_all`, for an empty list)."""
    numbers = _numbers(at, dim)
    shape = at.shape(input)
    if keepdim is None:
        at.lost("`keepdim` is not known")
    if numbers is None and isinstance(dim, NoneValue | None):
        return _all(at, input, keepdim)
    if numbers == () and empty_is_all:
        return _all(at, input, keepdim)
    places = positions(at, input, dim)
    shape = at.shape(input)
    if places is None:
        count = 1 if whole_or_none(at, dim) else len(numbers) if numbers is not None else None
        if count is None:
            at.lost("an axis is not known")
        return at.unknown(input, more=0 if keepdim else -count).shape
    items: list[Axis | Run] = []
    for i, item in enumerate(shape.items):
        if i not in places:
            items.append(item)
        elif keepdim:
            items.append(Axis.one())
    return Shape(tuple(items))


def _all(at: OpContext, input: Tensor, keepdim: bool) -> Shape:
    shape = at.shape(input)
    if not keepdim:
        return Shape(())
    if shape.run is not None:
        return at.unknown(input, more=0).shape
    return Shape(tuple(Axis.one() for _ in shape.items))


def _numbers(at: OpContext, dim: Value | None) -> tuple[int, ...] | None:
    if dim is None or isinstance(dim, NoneValue):
        return None
    try:
        return axes_of(at, dim)
    except Lost:
        return None


def whole_or_none(at: OpContext, dim: Value | None) -> bool:
    """Whether a value is one whole number, known or not."""
    return dim is not None and whole(at, dim) is not None


def replaced(items: Sequence[Axis | Run], place: int, *new: Axis | Run) -> Shape:
    """The shape with the item at `place` replaced by others."""
    return Shape((*items[:place], *new, *items[place + 1 :]))
