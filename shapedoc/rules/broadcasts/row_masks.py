"""Padding masks that are joined with a causal mask and vary along its rows, which are the queries, alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import events_of, graph, shape_at
from shapedoc.rules.reading.masks import masks

__all__ = ["RowMask", "row_masks"]

_AND = names("and_ logical_and bitwise_and mul")
_OR = names("or_ logical_or bitwise_or")


@dataclass(frozen=True, slots=True)
class RowMask:
    """event: the join. padding: the mask of padding. causal: the causal one beside it."""

    event: Event
    padding: Operand
    causal: Operand


def row_masks(trace: Trace) -> Iterator[RowMask]:
    """Every join, the outermost of each, of masks of which the only one of padding says nothing of the keys."""
    g, known = graph(trace), masks(trace)
    for kinds, sign in ((_AND, "keep"), (_OR, "drop")):
        for event in events_of(trace, kinds):
            if any(user.short in _AND | _OR for user in g.users[event.index]):
                continue
            found = [(leaf, at, known.of(leaf.value)) for leaf, at in _leaves(trace, event, kinds)]
            if any(meaning is None or meaning.sign != sign or meaning.kind == "both" for _, _, meaning in found):
                continue
            padding = [(leaf, at) for leaf, at, meaning in found if meaning is not None and meaning.kind == "padding"]
            causal = [(leaf, at) for leaf, at, meaning in found if meaning is not None and meaning.kind == "causal"]
            if causal and padding and all(_along_rows(at, leaf, *causal[0]) for leaf, at in padding):
                yield RowMask(event, padding[0][0], causal[0][0])


def _leaves(trace: Trace, event: Event, kinds: frozenset[str]) -> Iterator[tuple[Operand, Event]]:
    """The masks that are joined, and where each of them is."""
    for operand in event.operands:
        if not isinstance(operand.value, Tensor):
            continue
        made = graph(trace).producer(operand.value)
        if made is not None and made.short in kinds:
            yield from _leaves(trace, made, kinds)
        else:
            yield operand, event


def _along_rows(at: Event, padding: Operand, causal: Operand, beside: Event) -> bool:
    """Whether a mask has a 1 that the author put where the causal mask has its columns, and the size of its rows."""
    shape, square = shape_at(at, padding), shape_at(beside, causal)
    if shape is None or square is None or len(square.suffix) < 2 or at.sizes is None:
        return False
    rows, columns = square.suffix[-2:]
    place = _last_one(shape)
    if place is None or rows.dim == ONE or columns.dim == ONE:
        return False
    return at.sizes.resolve(place.dim) == at.sizes.resolve(rows.dim)


def _last_one(shape: Shape) -> Axis | None:
    """The axis before a visible 1 that is the last one, as far as the axes are known."""
    axes = shape.suffix or shape.prefix
    if len(axes) < 2 or axes[-1].dim != ONE or not axes[-1].visible:
        return None
    return axes[-2]
