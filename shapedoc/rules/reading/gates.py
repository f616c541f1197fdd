"""Recurrent cells that are written out: the update of a GRU or an LSTM, made by the same weights round after round.

Source: Cho et al. 2014, equations 5 to 8; Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Layer, Tensor
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, graph

__all__ = ["Gated", "gated"]

_SIGMOID = names("sigmoid sigmoid_ Sigmoid.forward hardsigmoid Hardsigmoid.forward")
_BENT = names("tanh tanh_ Tanh.forward relu ReLU.forward")
# What lies between a gate and the state and the input that it is made of.
_GATE = SHAPING | names("Linear.forward linear matmul mm add cat concat addmm sigmoid Sigmoid.forward") | _SIGMOID


@dataclass(frozen=True, slots=True, eq=False)
class Gated:
    """One step of such a cell.

    event: what makes the new state. earlier: the step of the round before, None in the first. gate: its update or
    output gate, which is made of the old state and of the input.
    """

    event: Event
    gate: Event
    earlier: Event | None


@lru_cache(maxsize=2)
def gated(trace: Trace) -> dict[int, Gated]:
    """Every step of a cell that is written out, by the index of its event."""
    g = graph(trace)
    candidates = {event.index: gate for event in trace.events for gate in _gates(g, event)}
    earlier: dict[int, Event] = {}
    for index, gate in candidates.items():
        event = trace.events[index]
        before = next((e for e in _behind(g, gate, candidates) if _is_round_before(e, event)), None)
        if before is not None and _weights(g, gate) == _weights(g, candidates[before.index]) != frozenset():
            earlier[index] = before
    chained = {*earlier, *(e.index for e in earlier.values())}
    return {i: Gated(trace.events[i], candidates[i], earlier.get(i)) for i in sorted(chained)}


def _is_round_before(event: Event, later: Event) -> bool:
    if event.span != later.span or not later.loops or not event.loops:
        return False
    (loop, number), (other, before) = later.loops[-1], event.loops[-1]
    return loop == other and number == before + 1


def _behind(g: Graph, gate: Event, candidates: dict[int, Event]) -> Iterator[Event]:
    """The nearest updates that a gate is made of."""
    for event in g.back(gate, lambda e: e.index not in candidates and e.short in _GATE):
        if event.index in candidates and event is not gate:
            yield event


def _weights(g: Graph, gate: Event) -> frozenset[int]:
    """Which layers and learned tensors make a gate."""
    found: set[int] = set()
    for event in g.back(gate, lambda e: e.short in _GATE):
        if event.short in _GATE:
            layer = event.value("self")
            found.update([layer.uid] if isinstance(layer, Layer) else [])
            found.update(o.value.uid for o in tensor_operands(event) if isinstance(o.value, Tensor) and o.value.learned)
    return frozenset(found)


def _gates(g: Graph, event: Event) -> Iterator[Event]:
    """The gate by which an event makes a new state, where it does."""
    if event.short == "add":
        yield from _interpolated(g, event)
    elif event.short == "mul":
        yield from _opened(g, event)


def _interpolated(g: Graph, event: Event) -> Iterator[Event]:
    """A GRU's ``(1 - z) * n + z * s``, or with the two exchanged: the gate z."""
    products = [_factors(g, o.value) for o in tensor_operands(event)]
    if len(products) != 2:
        return
    for kept, made in (products, products[::-1]):
        for gate in kept:
            other = next((f for f in made if _is_complement(g, f, gate) or _is_complement(g, gate, f)), None)
            if gate is None or other is None:
                continue
            new = [f for f in made if f is not other]
            if new and new[0] is not None and g.origin(new[0]).short in _BENT:
                sigmoid = gate if g.origin(gate).short in _SIGMOID else other
                yield g.origin(sigmoid)
                return


def _factors(g: Graph, value: object) -> list[Event | None]:
    event = g.producer(value) if isinstance(value, Tensor) else None
    event = g.origin(event) if event is not None else None
    if event is None or event.short != "mul":
        return []
    return [g.producer(o.value) for o in tensor_operands(event)]


def _is_complement(g: Graph, event: Event | None, gate: Event | None) -> bool:
    """Whether an event is ``1 - z`` of a gate z."""
    if event is None or gate is None or g.origin(gate).short not in _SIGMOID:
        return False
    event = g.origin(event)
    sources = g.inputs(event)
    return event.short in ("sub", "rsub") and len(sources) == 1 and g.origin(sources[0]) is g.origin(gate)


def _opened(g: Graph, event: Event) -> Iterator[Event]:
    """An LSTM's ``o * tanh(f * c + i * g)``: the gate o."""
    factors = [g.producer(o.value) for o in tensor_operands(event)]
    if len(factors) != 2:
        return
    for gate, bent in (factors, factors[::-1]):
        if gate is None or bent is None or g.origin(gate).short not in _SIGMOID or g.origin(bent).short not in _BENT:
            continue
        summed = g.main_source(g.origin(bent))
        if summed is None or summed.short != "add":
            continue
        products = [_factors(g, o.value) for o in tensor_operands(summed)]
        opened = [any(f is not None and g.origin(f).short in _SIGMOID for f in product) for product in products]
        if len(products) == 2 and all(opened):
            yield g.origin(gate)
            return
