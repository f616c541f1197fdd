"""What is read from the text because no event of the trace says it yet: where a number or a name was written.

Everything else that a rule needs is in the trace; what stands here is what the trace still lacks.
"""

from __future__ import annotations

import re

from shapedoc.core.span import Span
from shapedoc.core.text import split_lines
from shapedoc.core.trace import Call, Event, Operand, Problem, Trace
from shapedoc.rules.claims import scope_text
from shapedoc.rules.scales import Factor

__all__ = ["assigned_on_line", "call_with_axis", "division_of", "is_left_at_one", "place_of_scale"]


def place_of_scale(trace: Trace, factor: Factor) -> Span:
    """Where a scale is worked out: the assignment of the name that is multiplied with, or the number itself."""
    operand = factor.operand
    if operand is None or operand.span is None or operand.span.path:
        return factor.event.span
    text = trace.source(operand.span)
    if not re.fullmatch(r"(self\.)?\w+", text) or text.isdigit():
        return operand.span
    found: Span | None = None
    pattern = re.compile(rf"^(\s*){re.escape(text)}\s*(?::[^=]+)?=\s*(?!=)(\S.*?)\s*(?:#.*)?$")
    lines = trace.text.splitlines()
    for number, line in enumerate(lines, 1):
        match = pattern.match(line)
        if match and (text.startswith("self.") or number < operand.span.line):
            if number > operand.span.line and found is not None:
                break
            found = Span(number, match.start(2), number, match.end(2))
    return found or operand.span


def assigned_on_line(trace: Trace, event: Event) -> str:
    """The name that the line of a product gives to what it makes of it."""
    lines = split_lines(trace.text) if not event.span.path else []
    found = re.match(r"\s*(\w+)\s*=(?!=)", lines[event.span.line - 1]) if event.span.line <= len(lines) else None
    return found[1] if found is not None else ""


def is_left_at_one(trace: Trace, factor: Factor) -> bool:
    """Whether a factor is a parameter of the function it stands in, which its caller leaves at 1."""
    span = factor.operand.span if factor.operand is not None else None
    if span is None or span.path or not factor.event.calls or not factor.event.calls[-1].span.line:
        return False
    text = trace.source(span)
    head = re.compile(rf"\b{re.escape(text)}\s*(:[^=,)]+)?=\s*1(\.0*)?\s*[,)]")
    return text.isidentifier() and head.search(scope_text(trace, factor.event.function)) is not None


def call_with_axis(trace: Trace, event: Event, problem: Problem, place: Operand | None) -> Call | None:
    """The call that the number of the axis is written in, where the operation only hands on its parameter."""
    call = event.calls[-1] if event.calls else None
    number = problem.detail.get("axis", "")
    if call is None or not call.span.line or call.span.path or place is None or place.span is None or event.span.path:
        return None
    name = trace.source(place.span)
    if not name.isidentifier() or not number.lstrip("-").isdigit():
        return None
    written = rf"\b{name}\s*=\s*{number}\s*[,)]|[(,]\s*{number}\s*[,)]"
    return call if re.search(written, trace.source(call.span)) else None


def division_of(trace: Trace, text: str) -> Span | None:
    """The division that a name got its value from."""
    if not re.fullmatch(r"[\w.]+", text):
        return None
    pattern = re.compile(rf"^\s*{re.escape(text)}\s*=\s*(?P<value>[^#=]*[^/]/[^/][^#]*)")
    for number, line in enumerate(trace.text.splitlines(), 1):
        match = pattern.match(line)
        if match is not None:
            return Span(number, match.start("value"), number, match.start("value") + len(match["value"].rstrip()))
    return None
