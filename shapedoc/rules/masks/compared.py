"""Masks of which nothing is known but that scores are hidden wherever they are not 0."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import literal, tensor_operands
from shapedoc.rules.reading.fills import number_of
from shapedoc.rules.reading.flow import SHAPING, Graph, graph
from shapedoc.rules.reading.sinks import Sink
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of

__all__ = ["hidden_unless_zero"]

# Names of masks that say what is hidden, not what is kept.
_HIDES = re.compile(r"pad|ignore|hid|block|drop|future|causal|exclu|invalid|forbid|illegal|oov|not_", re.IGNORECASE)


def hidden_unless_zero(trace: Trace, sink: Sink, code: str, name: str) -> Iterator[Finding]:
    """``scores.masked_fill(mask != 0, -1e9)`` of a mask that a function is given.

    What holds 1 for what is hidden is given as it is. A comparison with 0 is written for a mask that holds 0 for what
    is hidden, and then it is ``== 0``. A mask that is made of the scores, or filled itself, is none, nor one that is
    called after what it hides.
    """
    g = graph(trace)
    compared = _compared(g, sink) if sink.how == "fill" and sink.expects == "drop" else None
    if compared is None or sink.event.span.path:
        return
    test, mask = compared
    text = text_of(trace, mask)
    if _HIDES.search(text):
        return
    yield finding(
        trace,
        test,
        sink.mask.span or test.span,
        code=code,
        name=name,
        severity="warning",
        message=f"`{sink.event.short}` hides what is true, and this is true wherever {text} is not 0",
        tensor=text,
        actual=f"{shape_text(test, mask.shape)}, what is not 0 is hidden",
        expected="what is 0 is hidden",
        labels=label(sink.event.span, "filled with a hugely negative number here") + call_labels(sink.event),
        why="a mask that is compared with 0 holds 0 for what is to be hidden; one that holds True for it needs no "
        "comparison",
        help=f"write `{text} == 0`, or, if what is not 0 is to be hidden, `{text}.bool()`",
    )


def _compared(g: Graph, sink: Sink) -> tuple[Event, Operand] | None:
    """The comparison of a mask with 0 that is written in the statement of the sink, and the mask."""
    test = g.producer(sink.mask.value)
    while test is not None and test.short in SHAPING and test.short != "phi":
        test = g.main_source(test)
    if test is None or test.short not in ("ne", "not_equal") or not _within(test, sink.event):
        return None
    mask, *others = test.operands
    zero = others and (literal(others[0].value) == 0 or number_of(others[0].value) == 0)
    scores = sink.scores
    if not zero or not isinstance(mask.value, Tensor) or scores is None or mask.value is scores.value:
        return None
    made = _root(g, g.producer(mask.value))
    if made is not None and not made.lost:
        return None
    behind = g.producer(scores.value)
    before = g.back(behind, lambda e: True) if behind is not None else ()
    return None if any(o.value is mask.value for e in before for o in tensor_operands(e)) else (test, mask)


def _root(g: Graph, event: Event | None) -> Event | None:
    """What made a tensor, its layout and its kind changed at most; None for what a function is given."""
    for _ in range(20):
        if event is None or event.short not in SHAPING:
            break
        event = g.main_source(event)
    return event


def _within(test: Event, fill: Event) -> bool:
    return fill.span.line <= test.span.line <= max(fill.span.end_line, fill.span.line)
