"""Where what a rule tells of was written: a scale, a division, the number of an axis."""

from __future__ import annotations

import re

from shapedoc.core.span import Span
from shapedoc.core.trace import Call, Event, Operand, Problem, Trace
from shapedoc.rules.reading.scales import Factor

__all__ = ["assigned_name", "call_with_axis", "division_of", "is_left_at_one", "place_of_scale"]


def place_of_scale(trace: Trace, factor: Factor) -> Span:
    """Where a scale is worked out: the assignment of the name that is multiplied with, or the number itself."""
    operand = factor.operand
    if operand is None or operand.span is None or operand.span.path:
        return factor.event.span
    text = trace.source(operand.span)
    of_class = text.startswith("self.")
    found: Span | None = None
    for assigned in trace.written.scope(factor.event.function).assigned:
        if assigned.name == text and (of_class or assigned.value.line < operand.span.line):
            if assigned.value.line > operand.span.line and found is not None:
                break
            found = assigned.value
    return found or operand.span


def assigned_name(trace: Trace, event: Event) -> str:
    """The name that the assignment around an operation gives to what is made of its result; "" where there is none."""
    span = event.span
    values = trace.written.scope(event.function).assigned if not span.path else ()
    return next((a.name for a in values if a.value.contains(span)), "")


def is_left_at_one(trace: Trace, factor: Factor) -> bool:
    """Whether a factor is a parameter of the function it stands in, which its caller leaves at 1."""
    span = factor.operand.span if factor.operand is not None else None
    if span is None or span.path or not factor.event.calls or not factor.event.calls[-1].span.line:
        return False
    text = trace.source(span)
    functions = trace.written.named(factor.event.function)
    return any(p.name == text and p.default in (1, 1.0) for function in functions for p in function.parameters)


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
    values = (a.value for a in trace.written.whole().assigned if a.name == text)
    return next((v for v in values if re.search(r"[^/]/[^/]", trace.source(v))), None)
