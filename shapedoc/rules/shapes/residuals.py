"""What a module makes of a turned tensor, added to that tensor as it was, where elsewhere it is turned back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import Graph, graph
from shapedoc.rules.reading.wording import call_labels, finding, label, text_of

__all__ = ["residuals"]


def residuals(trace: Trace, code: str, name: str) -> Iterator[Finding]:
    """``x + self.net(x.transpose(1, 2))``, beside ``self.net(y.transpose(1, 2)).transpose(1, 2)``.

    What the module does to the axes is not known, but somebody who turns its result back elsewhere knows.
    """
    g = graph(trace)
    seen: set[Span] = set()
    for event in trace.events:
        if event.short != "add" or len(event.operands) < 2 or event.span in seen or event.span.path:
            continue
        for ours, other in (event.operands[:2], event.operands[1::-1]):
            found = _turned(trace, g, ours, other)
            if found is None:
                continue
            call, turn = found
            seen.add(event.span)
            text = text_of(trace, ours)
            yield finding(
                trace,
                event,
                call.span,
                code=code,
                name=name,
                severity="warning",
                message=f"what `{_callee(trace, call)}` makes of {text}, turned, is added to {text} as it was",
                tensor=text,
                labels=label(turn.span, f"{text} is turned here")
                + label(event.span, "added here")
                + call_labels(event),
                why="elsewhere in this file what the module gives is turned back before it is used",
                help=f"{trace.source(call.span)}{_turn(trace, turn)}",
            )
            break


def _turned(trace: Trace, g: Graph, ours: Operand, other: Operand) -> tuple[Event, Event] | None:
    """The call of a module that is not followed with a tensor, turned, and the turning."""
    call, mine = next(iter(g.producers(other.value)), None), g.producer(ours.value)
    if call is None or not call.lost.startswith("no op for") or not call.operands:
        return None
    turn = g.producer(call.operands[0].value)
    if turn is None or turn.short not in ("transpose", "permute") or not turn.operands:
        return None
    before = g.producer(turn.operands[0].value)
    if turn.operands[0].value is not ours.value and (before is None or before is not mine):
        return None
    callee, turned = _callee(trace, call), _turn(trace, turn)
    if not callee.startswith("self.") or not turned:
        return None
    pattern = rf"{re.escape(callee)}\(\s*[\w.]+{_spaced(turned)}\s*,?\s*\)\s*{_spaced(turned)}"
    return (call, turn) if re.search(pattern, trace.text) else None


def _callee(trace: Trace, call: Event) -> str:
    return trace.source(call.span).partition("(")[0].strip()


def _turn(trace: Trace, turn: Event) -> str:
    """``.transpose(1, 2)``, where it turns back what it has turned."""
    if turn.short == "transpose" and all(literal(o.value) is not None for o in turn.operands[1:]):
        dims = [literal(o.value) for o in turn.operands[1:]]
        return f".transpose({dims[0]}, {dims[1]})" if len(dims) == 2 else ""
    return ".permute(0, 2, 1)" if ".permute(0, 2, 1)" in trace.source(turn.span) else ""


def _spaced(code: str) -> str:
    """A pattern of code that may be broken between its tokens."""
    return r"\s*".join(re.escape(token) for token in re.findall(r"\w+|\S", code))
