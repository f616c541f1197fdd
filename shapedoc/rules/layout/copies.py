"""Axes that hold copies, and what they meet: whether both stand in one order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Axis
from shapedoc.core.sizes import Kind
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.rules.reading.contractions import contraction, names, tensor_operands
from shapedoc.rules.reading.elementwise import ELEMENTWISE
from shapedoc.rules.reading.flow import events_of, result_shape, shape_at

__all__ = ["Pair", "copier", "misordered", "parts_of", "wrong_copies"]

_REPEATS = names("repeat repeat_interleave tile")
_PRODUCTS = names("matmul bmm")
_VIEWS = names("view reshape unflatten")


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two joined axes that meet: `ours` was made by the copying op `made`."""

    event: Event
    ours: Operand
    theirs: Operand
    axis: Axis
    other: Axis
    made: Event


def misordered(trace: Trace, axis: Axis) -> bool:
    """Whether an axis was copied into its size in the wrong order: a view that its order does not fit follows."""
    places = {pair.made.span for pair, _ in wrong_copies(trace)}
    copies = (event for event in events_of(trace, _REPEATS) if event.span in places) if places else ()
    return any(own.ids <= axis.ids for event in copies for own in _copied(event))


@lru_cache(maxsize=2)
def wrong_copies(trace: Trace) -> list[tuple[Pair, bool]]:
    """The axes copied in another order than that of what they meet, and whether that is certain; one for each place."""
    found: list[tuple[Pair, bool]] = []
    seen: set[Span] = set()
    groups: list[Pair] = []
    for event in sorted(trace.events, key=lambda e: len(e.calls)):
        for pair in _pairs(trace, event):
            if pair.made.span in seen:
                continue
            rival = copier(trace, event, pair.other)
            if rival is not None and _views_fit(trace, rival) < _views_fit(trace, pair.made):
                continue
            grouped = event.short in _PRODUCTS and (_is_grouped(pair) or any(_is_like(pair, g) for g in groups))
            if grouped:
                groups.append(pair)
            if grouped or _reversed(pair):
                seen.update(made.span for made in (pair.made, rival) if made is not None)
                found.append((pair, not grouped))
    return found


def _copied(event: Event) -> list[Axis]:
    """The axes of a result that hold copies."""
    shape = result_shape(event)
    return [axis for axis in shape.axes if len(axis.factors) > 1] if shape is not None else []


def copier(trace: Trace, event: Event, axis: Axis) -> Event | None:
    """The copying op before an event that an axis has its size from."""
    if len(axis.factors) < 2:
        return None
    for made in reversed(events_of(trace, _REPEATS)):
        if made.index < event.index and any(own.ids <= axis.ids for own in _copied(made)):
            return made
    return None


def _views_fit(trace: Trace, made: Event) -> int:
    """How many views cut an axis that holds these copies as it was joined, less those that cut it otherwise."""
    count = 0
    for event in events_of(trace, _VIEWS):
        before, after = shape_at(event, event.operand("input")), result_shape(event)
        for axis in before.axes if before is not None else ():
            if after is not None and any(own.ids <= axis.ids for own in _copied(made)):
                parts = [factor.dim for factor in axis.factors]
                count += any([a.dim for a in after.axes[i : i + 2]] == parts for i in range(len(after.axes)))
                count -= any(problem.kind == "scrambled-view" for problem in event.problems)
    return count


def _pairs(trace: Trace, event: Event) -> Iterator[Pair]:
    """The axes that meet in an event and of which one holds copies."""
    if event.short == "einsum":
        yield from _by_letter(trace, event)
        return
    skipped = 2 if event.short in _PRODUCTS else 0
    if not skipped and event.short not in ELEMENTWISE:
        return
    operands = [o for o in tensor_operands(event) if o.name not in ("value", "out")]
    for ours in operands:
        for theirs in operands:
            a, b = shape_at(event, ours), shape_at(event, theirs)
            if ours is theirs or a is None or b is None or b.rank is None:
                continue
            if a.rank is None:
                if event.short == "masked_fill" and ours.name == "mask" and a.prefix and b.rank == 3:
                    yield from _pair(trace, event, (ours, a.prefix[0]), (theirs, b.axes[0]))
                continue
            for back in range(-min(a.rank, b.rank), -skipped):
                yield from _pair(trace, event, (ours, a.axes[back]), (theirs, b.axes[back]))


def _by_letter(trace: Trace, event: Event) -> Iterator[Pair]:
    """The axes of two operands that one letter of an einsum names, neither of them summed."""
    for ours in tensor_operands(event):
        product = contraction(event, ours)
        if product is not None:
            for axis, other in product.shared:
                yield from _pair(trace, event, (ours, axis), (product.theirs, other))


def _pair(trace: Trace, event: Event, ours: tuple[Operand, Axis], theirs: tuple[Operand, Axis]) -> Iterator[Pair]:
    """The meeting of two axes, if the first was copied into its size."""
    (operand, axis), (beside, other) = ours, theirs
    if len(axis.factors) < 2 or other.dim == ONE or axis.same(other):
        return
    made = copier(trace, event, axis)
    if made is not None and not made.span.path:
        yield Pair(event, operand, beside, axis, other, made)


def parts_of(axis: Axis) -> list[Axis]:
    return [f for factor in axis.factors for f in parts_of(factor)] if len(axis.factors) > 1 else [axis]


def _reversed(pair: Pair) -> bool:
    """Whether a size is the outer factor of one axis and the inner factor of the other."""
    ours, theirs = parts_of(pair.axis), parts_of(pair.other)
    if len(ours) != 2 or len(theirs) != 2 or pair.event.sizes is None:
        return False
    (a, b), (c, d) = ([pair.event.sizes.resolve(f.dim) for f in side] for side in (ours, theirs))
    crossed = (a == d and _counts(a)) or (b == c and _counts(b)) or ours[1].same(theirs[0]) or ours[0].same(theirs[1])
    straight = a == c or b == d or ours[0].same(theirs[0]) or ours[1].same(theirs[1])
    return crossed and not straight


def _counts(dim: Dim) -> bool:
    return bool(dim.syms) or (dim.const or 0) > 1


def _is_grouped(pair: Pair) -> bool:
    """Whether keys and values of groups were repeated as a whole, so that neighbouring query heads share none."""
    sizes, factors = pair.event.sizes, parts_of(pair.axis)
    if sizes is None or len(factors) != 2 or pair.made.short == "repeat_interleave" or len(pair.other.factors) > 1:
        return False
    if pair.axis.ids and pair.other.dim.const is not None and pair.other.dim.value is None:
        return False
    copies, groups = (sizes.resolve(f.dim) for f in factors)
    if not copies.named or not groups.named:
        return False
    shape = shape_at(pair.event, pair.ours)
    if shape is None or shape.rank != 4 or shape.axes[1] is not pair.axis:
        return False
    return sizes.compare(pair.axis.dim, pair.other.dim).kind is Kind.ALWAYS


def _is_like(pair: Pair, other: Pair) -> bool:
    """Whether values were repeated as the keys were."""
    if pair.made.short != other.made.short or pair.made.function != other.made.function:
        return False
    return [f.dim for f in parts_of(pair.axis)] == [f.dim for f in parts_of(other.axis)]
