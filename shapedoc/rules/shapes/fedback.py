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
from shapedoc.core.value import Int, Tensor
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.encoders import index_parts, is_whole
from shapedoc.rules.reading.flow import Graph, events_of, graph, result_shape, shape_at
from shapedoc.rules.reading.wording import severity_of

__all__ = ["Refed", "fed_back"]

_LOOKUPS = names("Embedding.forward embedding")
# What brings any number of axes to the one that is needed.
_RESHAPES = names("view reshape flatten squeeze view_as squeeze_ unpack rearrange")
_KEEPS = names("dropout Dropout.forward to float contiguous relu mul cuda layer_norm LayerNorm.forward phi")
_DEPTH = 12


@dataclass(frozen=True, slots=True, eq=False)
class Refed:
    """An embedding that is fed `operand` with axes that are not as many as before.

    first: where it had `before`. made: what gave it `after`, on one way at least.
    """

    event: Event
    operand: Operand
    before: Shape
    after: Shape
    first: Event
    made: Event | None


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
        known = [s for s, _ in _shapes(g, first, first.operand("input")) if s.rank is not None]
        now = _shapes(g, event, operand)
        other = next((found for found in now if not any(_may_agree(found[0], k) for k in known)), None)
        if known and other is not None and not (_is_reshaped(g, event) or _is_reshaped(g, first) or _raises(g, event)):
            yield Refed(event, operand, known[0], other[0], first, other[1])


def _may_agree(shape: Shape, first: Shape) -> bool:
    """Whether a shape may have as many axes as the first one, whose rank is known."""
    return shape.rank == first.rank if shape.rank is not None else len(shape.axes) <= len(first.axes)


def _shapes(g: Graph, event: Event, operand: Operand | None, depth: int = 0) -> list[tuple[Shape, Event | None]]:
    """The shapes that an operand has, one for each branch that it may come from, and what made it there."""
    if operand is None or depth > _DEPTH:
        return []
    made = g.producer(operand.value)
    if made is not None and made.short == "phi":
        return [s for part in made.operands for s in _shapes(g, made, part, depth + 1)]
    shape = _step_of_tokens(g, made) or shape_at(event, operand)
    if made is not None and (made.doubtful or made.spoilt or made.short == "stated"):
        return []
    return [(shape, made)] if shape is not None else []


def _step_of_tokens(g: Graph, event: Event | None) -> Shape | None:
    """The shape of ``tokens[:, t]``, tokens being a parameter of which nothing is known: (B, T), one for each step."""
    parts = index_parts(event.value("index")) if event is not None and event.short == "getitem" else None
    source = event.operands[0].value if event is not None and event.operands else None
    if not parts or len(parts) != 2 or not is_whole(parts[0]) or not isinstance(parts[1], Int):
        return None
    shape = result_shape(event) if event is not None else None
    unknown = isinstance(source, Tensor) and source.event < 0 and shape is not None and shape.rank is None
    return Shape(shape.axes[:1]) if unknown and shape is not None and len(shape.axes) == 1 else None


def _raises(g: Graph, event: Event) -> bool:
    """Whether what is made of it does not fit, which is told of."""
    problems = (p for e in islice(g.forward(event, lambda e: not e.problems), 100) for p in e.problems)
    return any(p.loud and severity_of(p.sameness) == "error" for p in problems)


def _is_reshaped(g: Graph, event: Event) -> bool:
    """Whether what was looked up is brought to the axes that are needed, whatever it has."""
    return any(e.short in _RESHAPES for e in g.forward(event, lambda e: e.short in _KEEPS))
