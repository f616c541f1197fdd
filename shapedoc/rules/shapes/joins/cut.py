"""Joins of what one index takes off along an axis and what another leaves, along another axis than that one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event
from shapedoc.core.value import EllipsisValue, NoneValue, Seq, SliceValue, Tensor, Value
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import Graph, shape_at
from shapedoc.rules.shapes.joins.misjoin import Misjoin, axis_span

__all__ = ["cut_apart"]

_ONE = ("first", "last")
_MOST = ("but the first", "but the last")


@dataclass(frozen=True, slots=True)
class _Cut:
    """What an index takes: along which axis, what of it, of which tensor, and how many axes that has at least."""

    axis: int
    kind: str
    source: Tensor
    least: int
    rank: int | None


def cut_apart(g: Graph, event: Event) -> Misjoin | None:
    """One element along an axis, ``x[:, :1]``, whatever was done to it, and all but one, joined along another axis.

    ``cat((x[:, :1], x[:, 1:]), 0)``, and ``cat((x[..., 1:], zeros_like(x[:, :1])), 0)``, which was to shift the steps.
    """
    value = event.value("tensors")
    number = literal(event.value("dim")) if event.operand("dim") is not None else 0
    if not isinstance(value, Seq) or value.rest is not None or len(value.items) != 2 or number is None:
        return None
    for place, (most, one) in enumerate((value.items[::-1], value.items)):
        rest = _cut(g.producer(most))
        if rest is None or rest.kind not in _MOST:
            continue
        in_order = not place and rest.kind == _MOST[0]
        for first in _taken_off(g, one):
            if first.source is rest.source and _is_another(number, first, rest, later=in_order):
                return _told(event, number, first.axis if first.axis >= 0 else rest.axis)
    return None


def _taken_off(g: Graph, value: Value) -> Iterator[_Cut]:
    """The cuts of one element that a value is made of."""
    made = g.producer(value)
    for source in g.back(made, lambda e: e.short != "getitem") if made is not None else ():
        cut = _cut(source)
        if cut is not None and cut.kind in _ONE:
            yield cut


def _is_another(number: int, first: _Cut, rest: _Cut, *, later: bool) -> bool:
    """Whether a join is along neither of two axes that may be one, and before them; `later`: or behind."""
    cuts = (first, rest)
    least, rank = max(c.least for c in cuts), first.rank
    places = [_place(n, rank) for n in (number, *(c.axis for c in cuts))]
    joined, *cut = places
    if rank is None and any((joined < 0) != (c < 0) for c in cut) and not 0 <= joined < least - 1:
        return False
    if len(set(cut)) > 1 and (rank is not None or (cut[0] < 0) == (cut[1] < 0)):
        return False
    return all((joined >= 0 > c) or joined < c or (later and joined >= 0 and joined != c) for c in cut)


def _place(number: int, rank: int | None) -> int:
    return number if rank is None or number >= 0 else number + rank


def _told(event: Event, number: int, axis: int) -> Misjoin:
    return Misjoin(
        event,
        axis_span(event),
        number,
        f"`{event.short}` joins along axis {number} what was cut apart along axis {axis}",
        "the first and the rest along one axis have as many elements along the others as before, and are put "
        "together again along that one",
        f"dim={axis}",
        severity="warning",
    )


def _cut(event: Event | None) -> _Cut | None:
    """What an index takes along one axis, the others whole: one element at its end, as an axis of 1, or all but it."""
    index = event.value("index") if event is not None and event.short == "getitem" else None
    source = event.value("input") if event is not None else None
    if event is None or not isinstance(source, Tensor):
        return None
    parts = index.items if isinstance(index, Seq) else (index,)
    listed = [p for p in parts if not isinstance(p, EllipsisValue)]
    dots = next((i for i, p in enumerate(parts) if isinstance(p, EllipsisValue)), len(parts))
    found: tuple[int, str] | None = None
    for place, part in enumerate(parts):
        if isinstance(part, EllipsisValue):
            continue
        kind = _kind(part)
        if kind == "other" or (kind != "all" and found is not None):
            return None
        if kind != "all":
            found = place if place < dots else place - len(parts), kind
    if found is None:
        return None
    shape = shape_at(event, event.operand("input"))
    return _Cut(*found, source, len(listed), shape.rank if shape is not None else None)


def _kind(part: Value | None) -> str:
    """What a slice takes of an axis."""
    if not isinstance(part, SliceValue) or not isinstance(part.step, NoneValue):
        return "other"
    lower, upper = literal(part.lower), literal(part.upper)
    begins, ends = isinstance(part.lower, NoneValue) or lower == 0, isinstance(part.upper, NoneValue)
    if begins:
        return "all" if ends else {1: "first", -1: "but the last"}.get(upper or 0, "other")
    return {1: "but the first", -1: "last"}.get(lower or 0, "other") if ends else "other"
