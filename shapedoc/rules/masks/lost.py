"""Masks that hide something in scores which nobody takes: the softmax gets the scores as they were before.

A second fill that begins at the bare scores again undoes the first one where both are made; and a copy that is filled
and then left alone hides nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import SliceValue, Tensor, Value
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, by_kind, graph
from shapedoc.rules.reading.scores import leads_to_softmax
from shapedoc.rules.reading.sinks import Sink, is_lowest, mask_sinks
from shapedoc.rules.reading.softmaxes import Softmax, softmaxes

__all__ = ["Lost", "lost_masks"]

_COPIES = names("clone copy deepcopy")
_ROWS = names("getitem select unpack phi setitem")


@dataclass(frozen=True, slots=True, eq=False)
class Lost:
    """A fill of scores by a mask, and what goes on from the scores as they were: another fill, or a softmax."""

    sink: Sink
    instead: Event
    scores: Operand


def lost_masks(trace: Trace) -> Iterator[Lost]:
    """Every fill whose result reaches no softmax, though what was filled does."""
    g, sinks = graph(trace), [s for s in mask_sinks(trace) if s.how in ("fill", "where") and s.scores is not None]
    for sink in (*sinks, *_by_length(trace, g)):
        if sink.event.discarded or sink.event.doubtful:
            continue
        found = _begun_again(trace, g, sink, sinks) or _left_alone(trace, g, sink)
        if found is not None:
            yield found


def _by_length(trace: Trace, g: Graph) -> Iterator[Sink]:
    """Rows of scores that are filled from some length on: ``row[n:] = -1e9``."""
    for event in by_kind(trace).get("setitem", ()):
        index, scores = event.operand("index"), event.operand("input")
        if index is not None and isinstance(index.value, SliceValue) and is_lowest(g, event.operand("value")):
            yield Sink(event, index, "drop", "fill", scores)


def _begun_again(trace: Trace, g: Graph, sink: Sink, sinks: list[Sink]) -> Lost | None:
    """A later fill of the same bare scores, under the same name, by a mask that the first is no part of."""
    users = g.users[sink.event.index]
    if sink.event.short == "setitem" or sink.event.in_place or any(u.short != "phi" for u in users):
        return None
    for other in sinks:
        one, two = sink.event, other.event
        if one.index >= two.index or one.calls != two.calls or not one.target or one.target != two.target:
            continue
        if sink.scores is None or other.scores is None or sink.scores.value is not other.scores.value:
            continue
        if _covers(g, other.mask.value, sink.mask.value) or not leads_to_softmax(trace, two):
            continue
        if users and not all(_is_of_the_second(u, one, two) for u in users):
            continue
        return Lost(sink, two, other.scores)
    return None


def _is_of_the_second(join: Event, one: Event, two: Event) -> bool:
    """Whether branches meet after the second fill alone: the first stands before them, and not in one of them."""
    made = {o.value.event for o in join.operands if isinstance(o.value, Tensor)}
    return {one.index, two.index} <= made and one.span.end_line < join.span.line and not join.loops


def _covers(g: Graph, mask: Value, part: Value) -> bool:
    """Whether a mask is made of another one, or of what that was made of."""
    return bool(_made_of(g, mask) & _made_of(g, part))


def _made_of(g: Graph, value: Value) -> set[int]:
    """The tensors that a mask is made of, itself and what the author names, by their uids."""
    if not isinstance(value, Tensor):
        return set()
    event = g.producer(value)
    found = {value.uid}
    for made in g.back(event, lambda _: True) if event is not None else ():
        found |= {o.value.uid for o in tensor_operands(made) if isinstance(o.value, Tensor)}
    return found


def _left_alone(trace: Trace, g: Graph, sink: Sink) -> Lost | None:
    """A copy of scores that is filled and goes nowhere, while a softmax takes the scores."""
    copy = _copy(g, sink)
    if copy is None or not _goes_nowhere(trace, g, copy):
        return None
    source = tensor_operands(copy)[:1] if copy is not sink.event else [sink.scores]
    if not source or source[0] is None:
        return None
    root = _root(g, source[0].value)
    for softmax in softmaxes(trace) if root is not None else ():
        later = softmax.event.index > sink.event.index and softmax.event.calls == sink.event.calls
        if later and _root(g, softmax.scores.value) is root and not _is_masked(g, softmax):
            return Lost(sink, softmax.event, softmax.scores)
    return None


def _copy(g: Graph, sink: Sink) -> Event | None:
    """The event that made what is filled: the fill itself, or the copy that it writes into."""
    event = sink.event
    if event.short != "setitem":
        return event if not event.in_place else None
    made = g.producer(sink.scores.value) if sink.scores is not None else None
    for _ in range(20):
        if made is None or made.short in _COPIES:
            return made
        if made.short not in _ROWS:
            return None
        made = g.main_source(made)
    return None


def _goes_nowhere(trace: Trace, g: Graph, event: Event) -> bool:
    """Whether nothing but rows of a result are looked at, to be filled, and nobody is given any of them."""
    later = [event, *g.forward(event, lambda _: True)]
    if any(e.short not in _ROWS for e in later[1:]):
        return False
    if any(isinstance(e.result, Tensor) and e.result.uid in trace.returned for e in later):
        return False
    return event.target.isidentifier()


def _root(g: Graph, value: Value | None) -> Value | None:
    """The tensor that a value is, before its layout was changed."""
    for _ in range(50):
        made = g.producer(value)
        if made is None or made.short not in SHAPING or made.short == "phi":
            return value
        operands = tensor_operands(made)
        if not operands:
            return value
        value = operands[0].value
    return value


def _is_masked(g: Graph, softmax: Softmax) -> bool:
    """Whether what a softmax normalises was masked on another way."""
    made = g.producer(softmax.scores.value)
    chain = g.back(made, lambda e: e.short in KEEPS) if made is not None else ()
    return any(e.short in ("masked_fill", "where", "setitem", "add") for e in chain)
