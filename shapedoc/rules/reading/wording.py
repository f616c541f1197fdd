"""The parts that messages are made of: tensors in the author's words, shapes in the author's names."""

from __future__ import annotations

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.fix import Fix
from shapedoc.core.shape import Shape
from shapedoc.core.sizes import Kind, Sameness, Strength
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Layer, Tensor
from shapedoc.rules.reading.walks import is_consequence

__all__ = ["call_labels", "finding", "label", "made_by", "named", "severity_of", "shape_text", "text_of"]


def finding(
    trace: Trace,
    event: Event,
    span: Span | None,
    *,
    code: str,
    name: str,
    severity: Severity,
    message: str,
    tensor: str = "",
    actual: str = "",
    expected: str = "",
    labels: tuple[Label, ...] = (),
    why: str = "",
    help: str = "",
    notes: tuple[str, ...] = (),
    fix: Fix | None = None,
    causes: tuple[str, ...] = (),
    follows: bool = False,
) -> Finding:
    """A finding that stands on `span` (by default on the event), in the function that the event lies in."""
    where = span or event.span
    return Finding(
        code,
        name,
        severity,
        where.path or trace.path,
        where,
        message,
        event.function,
        tensor,
        actual,
        expected,
        tuple(dict.fromkeys(lb for lb in labels if lb.span != where and not _is_header(trace, lb.span))),
        why,
        help,
        notes,
        fix,
        reached=next((call.span for call in event.calls if not call.span.path), None) if where.path else None,
        follows=follows or is_consequence(trace, event),
        causes=causes,
    )


def _is_header(trace: Trace, span: Span) -> bool:
    """Whether a span is the head of a definition: what a walk of a function by itself starts with, and no call."""
    return not span.path and trace.source(span).startswith(("def ", "async def ", "class "))


def text_of(trace: Trace, operand: Operand | None) -> str:
    """An operand as the author wrote it, shortened."""
    if operand is None:
        return "the tensor"
    text = operand.text or (trace.source_anywhere(operand.span) if operand.span is not None else "")
    if not text and isinstance(operand.value, Tensor | Layer):
        text = operand.value.name
    if not text:
        return f"`{operand.name}`" if operand.name and not operand.name.isdigit() else "the tensor"
    return text if len(text) <= 48 else text[:45] + "..."


def named(trace: Trace, operand: Operand | None) -> str:
    """The tensor's name: what the author calls it, else the expression."""
    return text_of(trace, operand)


def shape_text(event: Event, shape: Shape | None) -> str:
    """A shape in the author's names; "" where nothing is known of it."""
    if shape is None or event.sizes is None:
        return ""
    known = event.sizes.shape(shape)
    return "" if known.is_unknown else event.sizes.show_shape(known)


def label(span: Span | None, text: str) -> tuple[Label, ...]:
    """A label, or none where there is no place to put it."""
    return (Label(span, text),) if span is not None else ()


def made_by(trace: Trace, value: object, event: Event, text: str) -> tuple[Label, ...]:
    """A label at the place where a tensor was made (or a layer built): "k is (B, H, T_enc, d_head)"."""
    if isinstance(value, Layer):
        return (Label(value.span, f"{text} is built here"),)
    if isinstance(value, Tensor) and 0 <= value.event < len(trace.events):
        source = trace.events[value.event]
        shape = shape_text(event, value.shape)
        if shape and source.span != event.span:
            return (Label(source.span, f"{text} is {shape}"),)
    return ()


def call_labels(event: Event) -> tuple[Label, ...]:
    """Labels at the calls of the author's own functions that lead to an event, the nearest first."""
    return tuple(
        Label(call.span, f"in this call of `{call.function}`")
        for call in reversed(event.calls)
        if call.span != event.span and call.span.line
    )


def severity_of(sameness: Sameness | None, base: Severity = "error") -> Severity | None:
    """How grave it is that two sizes differ: None where it is no finding at all.

    Certainly different, or the same only where two names that are strongly apart coincide: `base`. Two sizes of one
    constructor: a note. Anything weaker: nothing.
    """
    if sameness is None:
        return base
    if sameness.wrong:
        return base
    if sameness.kind is Kind.ONLY_IF and sameness.strength is Strength.WEAK:
        return "note"
    return None
