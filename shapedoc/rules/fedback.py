"""Tokens that a loop feeds back with another number of axes than it started from.

The first step of a decoder embeds (B, 1), the next ones what came out of it: ``output.topk(1)[1]`` of (B, 1, V) is
(B, 1, 1), one axis more, which nothing in an embedding objects to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from shapedoc.core.shape import Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.rules.contractions import names
from shapedoc.rules.flow import Graph, events_of, graph, shape_at
from shapedoc.rules.wording import severity_of

__all__ = ["Refed", "fed_back"]

_LOOKUPS = names("Embedding.forward embedding")
# What brings any number of axes to the one that is needed.
_RESHAPES = names("view reshape flatten squeeze view_as squeeze_ unpack rearrange")
_KEEPS = names("dropout Dropout.forward to float contiguous relu mul cuda layer_norm LayerNorm.forward phi")
_DEPTH = 12


@dataclass(frozen=True, slots=True, eq=False)
class Refed:
    """An embedding that is fed `operand` with axes that are not as many as before; `first`: where it had `before`."""

    event: Event
    operand: Operand
    before: Shape
    after: Shape
    first: Event


def fed_back(trace: Trace) -> Iterator[Refed]:
    """Where the rounds of a loop look up indices of other ranks at one place."""
    g = graph(trace)
    started: dict[tuple[Span, tuple[Span, ...], tuple[tuple[int, int], ...]], Event] = {}
    for event in events_of(trace, _LOOKUPS):
        operand = event.operand("input")
        if operand is None or not event.loops or event.spoilt:
            continue
        place = tuple(call.span for call in event.calls)
        first = started.setdefault((event.span, place, tuple((loop, 0) for loop, _ in event.loops)), event)
        if first is event or any(round_ > 1 for _, round_ in event.loops):
            continue
        known = [s for s in _shapes(g, first, first.operand("input")) if s.rank is not None]
        now = _shapes(g, event, operand)
        other = next((shape for shape in now if not any(_may_agree(shape, k) for k in known)), None)
        if known and other is not None and not (_is_reshaped(g, event) or _is_reshaped(g, first) or _raises(g, event)):
            yield Refed(event, operand, known[0], other, first)


def _may_agree(shape: Shape, first: Shape) -> bool:
    """Whether a shape may have as many axes as the first one, whose rank is known."""
    return shape.rank == first.rank if shape.rank is not None else len(shape.axes) <= len(first.axes)


def _shapes(g: Graph, event: Event, operand: Operand | None, depth: int = 0) -> list[Shape]:
    """The shapes that an operand has, one for each branch that it may come from."""
    if operand is None or depth > _DEPTH:
        return []
    made = g.producer(operand.value)
    if made is not None and made.short == "phi":
        return [s for part in made.operands for s in _shapes(g, made, part, depth + 1)]
    shape = shape_at(event, operand)
    if made is not None and (made.doubtful or made.spoilt or made.short == "stated"):
        return []
    return [shape] if shape is not None else []


def _raises(g: Graph, event: Event) -> bool:
    """Whether what is made of it does not fit, which is told of."""
    problems = (p for e in islice(g.forward(event, lambda e: not e.problems), 100) for p in e.problems)
    return any(p.loud and severity_of(p.sameness) == "error" for p in problems)


def _is_reshaped(g: Graph, event: Event) -> bool:
    """Whether what was looked up is brought to the axes that are needed, whatever it has."""
    return any(e.short in _RESHAPES for e in g.forward(event, lambda e: e.short in _KEEPS))
