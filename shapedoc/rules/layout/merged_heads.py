"""What attention over heads gives, joined to features without the heads being put beside them."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import Dim
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.rules.reading.flow import Graph, graph, result_shape, shape_at
from shapedoc.rules.reading.unlike_heads import heads_of
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of

__all__ = ["merged_heads"]

_CUTS = frozenset(("view", "reshape"))
_AS_IT_IS = frozenset(("contiguous", "clone", "phi", "dropout", "Dropout.forward"))


def merged_heads(trace: Trace, code: str, name: str) -> Iterator[Finding]:
    """``attend(q, k, v).view(B, -1, h * d)`` where all three have their heads in front, of a function that is not read.

    What it gives is laid out as what it was given; heads that stand in front of the steps are not beside the features.
    """
    g = graph(trace)
    seen: set[Span] = set()
    for event in trace.events:
        if event.short not in _CUTS or event.span in seen or event.span.path or event.sizes is None or event.spoilt:
            continue
        given, shape = shape_at(event, event.operand("input")), result_shape(event)
        if given is None or given.rank is not None or shape is None or shape.rank != 3 or given.items[:-1]:
            continue
        call = _call(g, event)
        query = _query(g, call, event, shape) if call is not None else None
        if call is None or query is None:
            continue
        seen.add(event.span)
        text = text_of(trace, event.operands[0])
        yield finding(
            trace,
            event,
            None,
            code=code,
            name=name,
            severity="warning",
            message=f"{text} comes of heads that stand in front of the steps, {shape_text(call, query.shape)}: "
            f"`{event.short}` as {shape_text(event, shape)} mixes both up",
            tensor=text,
            actual=shape_text(call, query.shape),
            labels=label(call.span, f"attends with {text_of(trace, query)} {shape_text(call, query.shape)}")
            + call_labels(event),
            why=f"`{event.short}` never moves elements: the heads of one step are joined only where they lie beside "
            "its features",
            help=f"{text}.transpose(1, 2).reshape(...), so that the joined axes are neighbours",
        )


def _call(g: Graph, event: Event) -> Event | None:
    """The call that is not followed, of which the input of a view is what it gave, as it is."""
    source = g.producer(event.operands[0].value) if event.operands else None
    for _ in range(8):
        if source is None or source.lost or source.short not in _AS_IT_IS:
            break
        source = g.main_source(source)
    return source if source is not None and source.lost.startswith("no op for") else None


def _query(g: Graph, call: Event, event: Event, shape: Shape) -> Operand | None:
    """The first operand with heads in front, if there are others alike and the view joins such heads."""
    found: list[tuple[Operand, Dim]] = []
    for operand in call.operands:
        heads = heads_of(g, call, operand)
        if heads is None:
            continue
        place, moved, count, width = heads
        if place != 1 or not moved:
            return None
        found.append((operand, count * width))
    if len(found) < 2 or event.sizes is None:
        return None
    query = found[0][0]
    given = query.shape
    if given is None or given.rank != 4:
        return None
    batch, steps, last = (event.sizes.resolve(axis.dim) for axis in shape.axes)
    same = steps == event.sizes.resolve(given.axes[2].dim) and steps.named
    if batch != event.sizes.resolve(given.axes[0].dim):
        return None
    return query if last in {event.sizes.resolve(j) for _, j in found} or (same and not last.named) else None
