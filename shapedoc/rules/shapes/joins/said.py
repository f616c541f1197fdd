"""Joins beside which the author says that another axis has become longer."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.trace import Event, Stated, Trace
from shapedoc.core.value import Seq
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import result_shape
from shapedoc.rules.reading.wording import label
from shapedoc.rules.shapes.joins.misjoin import Misjoin, axis_span

__all__ = ["said_otherwise"]


def said_otherwise(trace: Trace) -> Iterator[Misjoin]:
    """``cat([c, a, b], 1)  # (B, T, 3*d)``: the sum, or the multiple, stands at another axis than the joined one."""
    for stated in trace.stated:
        event = trace.events[stated.event] if 0 <= stated.event < len(trace.events) else None
        if event is None or event.short != "cat" or event.span.path or stated.driver or not stated.verdict.wrong:
            continue
        if stated.rank_differs or stated.form != "comment" or stated.span.line != event.span.end_line:
            continue
        found = _otherwise(event, stated)
        if found is not None:
            yield found


def _otherwise(event: Event, stated: Stated) -> Misjoin | None:
    value, shape = event.value("tensors"), result_shape(event)
    number = literal(event.value("dim")) if event.operand("dim") is not None else 0
    said = [part.strip() for part in stated.text.strip("()").split(",")]
    if not isinstance(value, Seq) or value.rest is not None or shape is None or shape.rank != len(said):
        return None
    if number is None or not -len(said) <= number < len(said):
        return None
    place, count = number % len(said), len(value.items)
    longer = [i for i, text in enumerate(said) if "+" in text or text.startswith(f"{count}*")]
    if len(longer) != 1 or longer[0] == place:
        return None
    wanted = longer[0]
    return Misjoin(
        event,
        axis_span(event),
        place,
        f"`{event.short}` joins along axis {place}, and by the comment beside it `{said[wanted]}` is at axis {wanted}",
        f"the comment says {stated.text}: the parts are to stand beside each other along axis {wanted}",
        f"dim={wanted}",
        label(stated.span, "what the author says of the result"),
        severity="warning",
    )
