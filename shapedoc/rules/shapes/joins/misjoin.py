"""A join along an axis that other code speaks against."""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.core.finding import Severity
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event

__all__ = ["Misjoin", "axis_span"]


@dataclass(frozen=True, slots=True)
class Misjoin:
    """A join: where its axis is written, which axis that is, what speaks against it, and what to write."""

    event: Event
    span: Span
    axis: int
    message: str
    why: str
    help: str
    labels: tuple[Label, ...] = ()
    severity: Severity = "error"


def axis_span(event: Event) -> Span:
    """Where the axis of a join is written."""
    operand = event.operand("dim")
    return operand.span if operand is not None and operand.span is not None else event.span
