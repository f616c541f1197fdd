"""Real positions that are set to zero in place of the padding: with no softmax behind, nothing becomes NaN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.fills import truth_number
from shapedoc.rules.reading.flow import SHAPING, Graph, events_of, graph
from shapedoc.rules.reading.masks import masks
from shapedoc.rules.reading.wording import label, text_of

__all__ = ["Emptied", "emptied"]

_FILLS = names("masked_fill masked_fill_")
_SUMS = names("sum")
_MAKES = names("eq ne lt le gt ge triu tril")


@dataclass(frozen=True, slots=True)
class Emptied:
    """event: the fill with 0. mask: its mask. span: what is at fault. message, labels, why, help: what is said."""

    event: Event
    mask: Operand
    span: Span
    message: str
    labels: tuple[Label, ...]
    why: str
    help: str


def emptied(trace: Trace) -> Iterator[Emptied]:
    """Every such fill, one for each place."""
    g, seen = graph(trace), set[Span]()
    for event in events_of(trace, _FILLS):
        mask = event.operand("mask")
        if mask is None or event.span in seen or event.span.path or truth_number(event.value("value")) != 0:
            continue
        found = _of_padding(trace, g, event, mask) or _averaged(trace, g, event, mask)
        if found is not None:
            seen.add(event.span)
            yield found


def _of_padding(trace: Trace, g: Graph, event: Event, mask: Operand) -> Emptied | None:
    """A mask of the tokens that are no padding."""
    meaning = masks(trace).of(mask.value)
    if meaning is None or meaning.additive or meaning.kind != "padding" or meaning.sign != "keep":
        return None
    if any(e.short in ("sub", "ne", "eq") for e in g.users[event.index]):
        return None  # what is left is compared with what there was
    if _fills_a_mask(trace, g, event):
        return None  # -inf where it hides, 0 where it does not
    return Emptied(
        event,
        mask,
        mask.span or event.span,
        f"{text_of(trace, mask)} is true of what is real, and `{event.short}` sets what is true to 0",
        label(meaning.made.span, "what is padding is decided here"),
        "what is to count is gone, and what stands at the padding goes on",
        "turn the mask round: `~`, or `== 0`",
    )


def _fills_a_mask(trace: Trace, g: Graph, event: Event) -> bool:
    """Whether it is a mask that is filled, such as one that is to be added to scores."""
    filled = event.operand("input")
    made = g.producer(filled.value) if filled is not None else None
    behind = g.back(made, lambda e: e.short in SHAPING or e.short in _FILLS) if made is not None else ()
    return any(e.short in _MAKES or masks(trace).made(e) is not None for e in behind)


def _averaged(trace: Trace, g: Graph, event: Event, mask: Operand) -> Emptied | None:
    """The sum of what is left over how often the mask is true: each says the contrary of the other."""
    source = _source(g, mask)
    for total in g.forward(event, lambda e: e.short in SHAPING):
        if total.short not in _SUMS or source is None:
            continue
        for ratio in g.forward(total, lambda e: e.short in SHAPING):
            below = ratio.operand("other")
            counted = g.producer(below.value) if ratio.short == "div" and below is not None else None
            count = g.origin(counted) if counted is not None else None
            operand = next(iter(tensor_operands(count)), None) if count is not None else None
            if count is None or operand is None or count.short not in _SUMS or _source(g, operand) != source:
                continue
            return _contrary(trace, event, mask, count, operand)
    return None


def _contrary(trace: Trace, event: Event, mask: Operand, count: Event, counted: Operand) -> Emptied:
    """The count is at fault where the mask is known to be of the padding."""
    meaning = masks(trace).of(mask.value)
    of_padding = meaning is not None and meaning.sign == "drop"
    text, number = text_of(trace, mask), text_of(trace, counted)
    filled = label(event.span, f"what is true in {text} is set to 0 here")
    return Emptied(
        event,
        mask,
        count.span if of_padding else mask.span or event.span,
        f"the sum of what {text} has not set to 0 is divided by how many it has: {number} counts those",
        filled if of_padding else label(count.span, "counted here"),
        "a mean is the sum of what is left over how many are left; where all are real, it divides by 0",
        f"count what is left: `(~{number}).sum()`" if of_padding else "turn the mask round in one of the two",
    )


def _source(g: Graph, operand: Operand) -> tuple[str, int] | None:
    """The event or the argument that a tensor is, its layout changed at most."""
    for _ in range(30):
        value = operand.value
        if not isinstance(value, Tensor):
            return None
        event = g.producer(value)
        if event is None:
            return "argument", value.uid
        if event.short not in SHAPING:
            return "event", event.index
        inner = next(iter(tensor_operands(event)), None)
        if inner is None:
            return None
        operand = inner
    return None
