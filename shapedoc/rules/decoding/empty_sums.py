"""Sums over the steps of a decoder to which every step adds the zeros that were there before the first."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import Graph, by_kind, graph, result_shape
from shapedoc.rules.reading.wording import call_labels, finding, label, text_of

__all__ = ["empty_sums"]

_ZEROS = names("zeros new_zeros zeros_like zero_")


def empty_sums(trace: Trace, code: str, name: str) -> Iterator[Finding]:
    """``weights_sum += weights`` in every step, where `weights` are the zeros of before the loop to the end.

    The weights that a location sensitive attention was to see stay as they were: it sees no place at all.
    """
    g = graph(trace)
    seen: set[Span] = set()
    sums = [e for e in by_kind(trace).get("add", ()) if e.loops and not e.span.path]
    for event in sums:
        if event.span in seen:
            continue
        for other in sums:
            if other.index > event.index and other.span == event.span and _is_next_round(event, other):
                zeros = _zeros(g, event, other)
                if zeros is not None:
                    seen.add(event.span)
                    yield _found(trace, other, *zeros, code, name)
                break


def _is_next_round(event: Event, other: Event) -> bool:
    (loop, number), (again, later) = event.loops[-1], other.loops[-1]
    return loop == again and later == number + 1 and event.loops[:-1] == other.loops[:-1]


def _zeros(g: Graph, event: Event, other: Event) -> tuple[Operand, Event] | None:
    """The operand that is the same zeros in both rounds, while the other one is the sum of the round before."""
    for ours, theirs in (("other", "input"), ("input", "other")):
        added, total = other.operand(ours), other.operand(theirs)
        if added is None or total is None or not isinstance(added.value, Tensor):
            continue
        made = g.producer(added.value)
        if made is None or made.short not in _ZEROS or made.loops or made.function.endswith("__init__"):
            continue
        first = event.value(ours)
        if not isinstance(first, Tensor) or first.event != added.value.event or not _goes_on(g, event, total):
            continue
        shape = result_shape(made)
        if shape is not None and shape.rank is not None and shape.rank > 1:
            return added, made
    return None


def _goes_on(g: Graph, event: Event, total: Operand) -> bool:
    """Whether a sum of one round is what the next one adds to."""
    made = g.producer(total.value)
    return made is event or (made is not None and made.short == "phi" and event in g.inputs(made))


def _found(trace: Trace, event: Event, added: Operand, made: Event, code: str, name: str) -> Finding:
    text = text_of(trace, added)
    return finding(
        trace,
        event,
        None,
        code=code,
        name=name,
        severity="warning",
        message=f"every step adds {text}, which are zeros from before the first step to the last",
        tensor=text,
        labels=label(made.span, "they are made here, and nothing else is put in their place") + call_labels(event),
        why="a sum of zeros is zeros: what the steps were to hand on, such as the weights of the attention, is lost",
        help=f"put what a step makes into {text}, before it is added",
    )
