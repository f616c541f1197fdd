"""Tensors that are taken apart along the batch into as many names as another axis of theirs has entries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.rules.reading.contractions import literal, tensor_operands
from shapedoc.rules.reading.flow import Graph, graph, shape_at
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of

__all__ = ["unbound"]

_NAMES = re.compile(r"\s*(\w+(?:\s*,\s*\w+)+)\s*=[^=]")
_CUTS = frozenset(("view", "reshape"))


def unbound(trace: Trace, code: str, name: str) -> Iterator[Finding]:
    """``q, k, v = qkv.reshape(B, T, 3, h, d).unbind(0)``, and ``qkv[0], qkv[1], qkv[2]`` of it."""
    lines = trace.text.splitlines()
    seen: set[Span] = set()
    g = graph(trace)
    for event in trace.events:
        if event.short not in ("unbind", "getitem") or event.span in seen or event.span.path or event.sizes is None:
            continue
        line = lines[event.span.line - 1] if event.span.line <= len(lines) else ""
        names = _NAMES.match(line)
        whole = names is not None and trace.source(event.span) == names[1]
        if names is None or not (whole or _is_first(event)):
            continue
        operand, count = tensor_operands(event)[0], names[1].count(",") + 1
        place = _place(g, event, operand, count, whole=whole)
        if place is None or any(s.line == event.span.line for s in seen):
            continue
        seen.add(event.span)
        text, shape = text_of(trace, operand), shape_text(event, operand.shape)
        made = g.producer(operand.value)
        yield finding(
            trace,
            event,
            None,
            code=code,
            name=name,
            severity="warning",
            message=f"{text} {shape} is taken apart along axis 0 into {count} names, and the {count} lie along axis "
            f"{place}",
            tensor=text,
            actual=shape,
            labels=(label(made.span, f"{shape}") if made is not None else ()) + call_labels(event),
            why=f"{count} parts are taken apart along their own axis: along axis 0 that fits a batch of {count} alone",
            help=f"bring axis {place} to the front, or take it apart with `unbind({place})`",
        )


def _is_first(event: Event) -> bool:
    """Whether the entries are those of the first axis."""
    if event.short == "unbind":
        return literal(event.value("dim")) in (0, None)
    return literal(event.operands[1].value) in (0, 1) if len(event.operands) > 1 else False


def _place(g: Graph, event: Event, operand: Operand, count: int, *, whole: bool) -> int | None:
    """The one axis that a view made with so many entries, where the first one has another size."""
    made, shape = g.producer(operand.value), shape_at(event, operand)
    if made is None or made.short not in _CUTS or shape is None or shape.rank is None or shape.rank < 4:
        return None
    if shape.axes[0].dim.value is not None or not shape.axes[0].dim.named:
        return None
    places = [i for i, axis in enumerate(shape.axes) if axis.dim.const == count]
    if len(places) != 1 or not re.search(rf"[(,\[]\s*{count}\s*[,)\]]", g.trace.source(made.span)):
        return None
    if event.short == "getitem" and not whole and not _all_of_them(g, event, operand, count):
        return None
    return places[0]


def _all_of_them(g: Graph, event: Event, operand: Operand, count: int) -> bool:
    """Whether the other entries are taken on the same line."""
    taken = {
        literal(e.operands[1].value)
        for e in g.trace.events[event.index : event.index + count]
        if e.short == "getitem" and e.span.line == event.span.line and e.operands[0].value is operand.value
    }
    return taken >= set(range(min(count, 2)))
