"""Probabilities of which some are picked: along the axis that they sum to one over.

``multinomial`` takes them along the last axis, and so does a ``Categorical`` that is made of them; ``argmax`` and
``topk`` say along which. So does the ``cumsum`` of sorted probabilities, as where only those are kept that make up a
share of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Layer
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import Graph, graph, result_shape

__all__ = ["LAST", "Misdrawn", "misdrawn", "not_the_last"]

_SOFTMAXES = frozenset(("softmax", "Softmax.forward"))
_PICKS = frozenset(("argmax", "topk"))
# What draws along the last axis.
LAST = frozenset(("multinomial", "Categorical"))
# What leaves the axes of probabilities where they are.
_PLAIN = frozenset(
    ("clone", "detach", "float", "double", "to", "cpu", "cuda", "clamp", "masked_fill", "phi", "contiguous", "sort")
)


@dataclass(frozen=True, slots=True, eq=False)
class Misdrawn:
    """Probabilities that are normalised along one axis and picked along a later one.

    event: the softmax. scores: what it normalises. number: its axis, as it is written, `place` where. picked: what
    picks, along the axis `along`.
    """

    event: Event
    scores: Operand
    number: int
    place: Span
    picked: Event
    along: int


def misdrawn(trace: Trace) -> Iterator[Misdrawn]:
    """Every softmax of which some are picked along a later axis, and of which nothing is picked along its own."""
    g = graph(trace)
    for event in trace.events:
        if event.short in _SOFTMAXES and event.operands and not event.problems:
            found = _of(g, event)
            if found is not None:
                yield found


def _of(g: Graph, event: Event) -> Misdrawn | None:
    layer, dim = event.value("self"), event.operand("dim")
    number = literal(layer.config.get("dim")) if isinstance(layer, Layer) else literal(dim.value) if dim else None
    shape, scores = result_shape(event), event.operand("input")
    if number is None or shape is None or scores is None or (shape.suffix and shape.suffix[-1].dim == ONE):
        return None
    picks = [(e, along) for e in g.forward(event, _keeps_axes) if (along := _picks_along(g, e, event)) is not None]
    squeezed = _has_lost_axes(g, scores)
    if not picks or not all(_is_before(shape, number, along, squeezed) for _, along in picks):
        return None
    picked, along = picks[0]
    place = layer.span if isinstance(layer, Layer) else dim.span if dim is not None and dim.span else event.span
    return Misdrawn(event, scores, number, place, picked, along)


def _has_lost_axes(g: Graph, scores: Operand) -> bool:
    """Whether a `squeeze()` left so many axes as have another size than 1: of one row, there is one axis."""
    made = g.producer(scores.value)
    while made is not None and _keeps_axes(made):
        made = g.main_source(made)
    return made is not None and made.short == "squeeze" and made.operand("dim") is None


def _keeps_axes(event: Event) -> bool:
    return event.short in _PLAIN


def _is_sorted(g: Graph, event: Event) -> bool:
    """Whether the elements that an event takes were put in order before, or are probabilities of such."""
    return any(
        e.short == "sort" for e in g.back(event, lambda e: e is event or _keeps_axes(e) or e.short in _SOFTMAXES)
    )


def _is_given_shares(g: Graph, event: Event, source: Event) -> bool:
    """Whether a distribution is made of probabilities, its first argument or `probs`, that come of an event."""
    given = next((o for o in event.operands if o.name in ("0", "probs")), None)
    made = g.producer(given.value) if given is not None else None
    while made is not None and made is not source and _keeps_axes(made):
        made = g.main_source(made)
    return made is not None and made is source


def _picks_along(g: Graph, event: Event, source: Event) -> int | None:
    """The axis that an operation picks along, of what comes of `source`, as it is written."""
    if event.short in LAST:
        return -1 if event.short == "multinomial" or _is_given_shares(g, event, source) else None
    if event.short == "cumsum":
        return literal(event.value("dim")) if _is_sorted(g, event) else None
    if event.short not in _PICKS or event.op.startswith("numpy"):
        return None
    dim = event.value("dim")
    number = literal(dim)
    return -1 if number is None and event.short == "topk" and dim is None else number


def _is_before(shape: Shape, number: int, along: int, squeezed: bool) -> bool:
    """Whether an axis certainly stands before another one."""
    if (number < 0) == (along < 0):
        return number < along
    if shape.rank is not None:
        return number % max(shape.rank, 1) < along % max(shape.rank, 1)
    return along == -1 and not_the_last(shape, number) and not squeezed


def not_the_last(shape: Shape, number: int) -> bool:
    """Whether the axis of this number, counted from the front, cannot be the last one."""
    return 0 <= number < sum(isinstance(i, Axis) for i in shape.items) - 1
