"""Two tensors that were made and filled alike, of which one is given back turned and the other as it is."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import Graph, graph, result_shape, shape_at
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of

__all__ = ["half_returned"]

_TURNS = frozenset(("transpose", "t", "T", "permute", "swapaxes"))
_MAKES = names("zeros ones empty full new_zeros new_ones new_empty new_full LongTensor FloatTensor")
_FILLS = names("setitem phi zero_ fill_ to cuda cpu long float detach clone contiguous")


def half_returned(trace: Trace, code: str, name: str) -> Iterator[Finding]:
    """``return tokens, scores.transpose(0, 1)``, where ``tokens[:, k]`` and ``scores[:, k]`` were set side by side."""
    lines: dict[int, int] = {}
    for span in trace.returned.values():
        if not span.path:
            lines[span.line] = lines.get(span.line, 0) + 1
    if all(count < 2 for count in lines.values()):
        return
    g = graph(trace)
    seen: set[Span] = set()
    for event in trace.events:
        if event.short not in _TURNS or lines.get(event.span.line, 0) < 2 or event.span in seen or event.sizes is None:
            continue
        other = _other(trace, g, event)
        if other is None:
            continue
        seen.add(event.span)
        operand = event.operands[0]
        shape, text, beside = shape_text(event, operand.shape), text_of(trace, operand), trace.source(other)
        yield finding(
            trace,
            event,
            other,
            code=code,
            name=name,
            severity="warning",
            message=f"{beside} is given back as {shape}, and {text}, which was filled like it, with its axes exchanged",
            tensor=beside,
            actual=shape,
            labels=label(event.span, f"{text} is turned here") + call_labels(event),
            why="both were made and filled in one order: whoever takes them takes the batch of one for the time of "
            "the other",
            help=f"{beside}{trace.source(event.span).removeprefix(text)}",
        )


def _other(trace: Trace, g: Graph, turned: Event) -> Span | None:
    """Where a tensor is returned beside a turned one, as it was filled: with the same entries at the same time."""
    result, shape = turned.result, shape_at(turned, turned.operands[0] if turned.operands else None)
    if not isinstance(result, Tensor) or trace.returned.get(result.uid) != turned.span or shape is None:
        return None
    made, filled = _made(trace, g, g.main_source(turned))
    if made is None or not filled or shape.rank is None or len({a.dim for a in shape.axes}) < 2:
        return None
    for event in g.trace.events[max(0, turned.index - 400) : turned.index]:
        beside = event.result
        if not isinstance(beside, Tensor) or event.calls != turned.calls or event.span.line >= turned.span.line:
            continue
        where = trace.returned.get(beside.uid)
        if where is None or where.line != turned.span.line or where == turned.span:
            continue
        alike, entries = _made(trace, g, event)
        if alike is not None and alike is not made and filled & entries and _same(trace, made, alike):
            return where
    return None


def _made(trace: Trace, g: Graph, event: Event | None) -> tuple[Event | None, set[str]]:
    """What made a tensor that is filled entry by entry, and what the entries were called."""
    entries: set[str] = set()
    for _ in range(40):
        if event is None or event.short in _MAKES:
            break
        if event.short not in _FILLS:
            return None, set()
        if event.short == "setitem":
            entries.add(trace.source(event.span).partition("[")[2])
        event = g.main_source(event)
    return event, entries


def _same(trace: Trace, made: Event, other: Event) -> bool:
    """Whether two tensors were made with the same sizes, or such as are written alike."""
    mine, theirs = result_shape(made), result_shape(other)
    if mine is not None and theirs is not None and [a.dim for a in mine.axes] == [a.dim for a in theirs.axes]:
        return True
    written, beside = (trace.source(e.span).partition("(")[2] for e in (made, other))
    return written != "" and written == beside
