"""Matrices of which an einsum reads the diagonal alone, because an index stands in it twice."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Problem, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.wording import call_labels, finding, made_by, shape_text, text_of

__all__ = ["diagonal_read"]


def diagonal_read(trace: Trace, event: Event, problem: Problem, code: str, name: str) -> Iterator[Finding]:
    """A learned matrix whose other elements do nothing: an index was meant to be summed with another operand's."""
    operand = event.operand(problem.operands[0]) if problem.operands else None
    if operand is None or not isinstance(operand.value, Tensor) or not operand.value.learned:
        return
    text, shape = text_of(trace, operand), shape_text(event, operand.shape)
    index, pattern = problem.detail.get("name", ""), problem.detail.get("pattern", "")
    equation = event.operand("equation")
    yield finding(
        trace,
        event,
        equation.span if equation is not None else None,
        code=code,
        name=name,
        severity="warning",
        message=f"`{index}` stands twice in one operand, so that only the diagonal of {text} is read",
        tensor=text,
        actual=shape,
        labels=made_by(trace, operand.value, event, text) + call_labels(event),
        why=f"in `{pattern}` a repeated index walks both axes of {text} at once; the rest of it is never used",
        help=f"give the axis of {text} that is summed a letter of its own, and the axis that it meets the same one",
    )
