"""Recurrent cells in decoding: which state goes into a call, what comes out, and where a tensor's state came from.

A state has a name that survives layouts: the call of the cell that made it and which of its results it is, or the
input that it was given as. The graph of events keeps the rounds of a loop apart, so the state of the round before is
another one than that of this round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Layer, NoneValue, Opaque, Seq, Tensor, Unknown, Value
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, graph
from shapedoc.rules.reading.gates import gated

__all__ = [
    "CELLS",
    "Cell",
    "Source",
    "cells",
    "cells_by_hand",
    "fed_by",
    "outputs_in",
    "overlap",
    "sources",
    "states_of",
]

CELLS = names("GRUCell.forward LSTMCell.forward RNNCell.forward GRU.forward LSTM.forward RNN.forward")
# What a query passes through and stays one state: maps, joins of layers or directions.
_THROUGH = SHAPING | names(
    "Linear.forward linear dropout Dropout.forward tanh Tanh.forward cat concat add LayerNorm.forward relu "
    "ReLU.forward matmul mm bmm"
)
_MAPPED = SHAPING | names("Linear.forward linear dropout Dropout.forward tanh Tanh.forward LayerNorm.forward")
# What a context passes through on its way into a cell.
_FEEDS = _THROUGH | names("mul div sub sigmoid Sigmoid.forward gelu GELU.forward where masked_fill")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a state came from: result `part` of the call with this index, or an input (its uid or its name)."""

    kind: Literal["cell", "input", "made", "unknown"]
    key: int | str
    part: Literal["h", "c", "out", ""] = ""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One call of a recurrent cell or module: the layer, and what went in as hidden and as cell state.

    inputs: of a cell that is written out, what else went in.
    """

    event: Event
    layer: Layer
    hidden: frozenset[Source]
    memory: frozenset[Source]
    given: bool
    inputs: frozenset[Source] | None = None

    @property
    def is_by_hand(self) -> bool:
        """Whether it is written out: its event is what makes the new state."""
        return self.inputs is not None

    @property
    def is_lstm(self) -> bool:
        return "LSTM" in self.event.short

    @property
    def is_step(self) -> bool:
        """Whether it is a cell, which takes one step a call."""
        return "Cell" in self.event.short


@lru_cache(maxsize=2)
def cells(trace: Trace) -> tuple[Cell, ...]:
    """Every call of a recurrent cell or module."""
    return tuple(_all(graph(trace)))


def _all(g: Graph) -> Iterator[Cell]:
    for event in g.trace.events:
        layer = event.value("self")
        if event.short not in CELLS or not isinstance(layer, Layer):
            continue
        state = event.value("hx")
        given = state is not None and not isinstance(state, NoneValue)
        hidden, memory = state, None
        if "LSTM" in event.short and isinstance(state, Seq) and len(state.items) == 2:
            hidden, memory = state.items
        yield Cell(event, layer, states_of(g, hidden), states_of(g, memory), given)


@lru_cache(maxsize=2)
def cells_by_hand(trace: Trace) -> tuple[Cell, ...]:
    """Every step of a cell that is written out; the rules that ask for settings of a cell do not know these."""
    g = graph(trace)
    found = []
    for step in gated(trace).values():
        event = step.event
        made = frozenset(s for e in g.inputs(step.gate) for s in _made_of(g, e))
        old = {step.earlier.index} if step.earlier is not None else set()
        hidden = frozenset(s for s in made if s.kind == "cell" and s.key in old)
        found.append(Cell(event, Layer("a cell by hand", {}, event.span), hidden, frozenset(), True, made - hidden))
    return tuple(found)


def _made_of(g: Graph, event: Event) -> Iterator[Source]:
    results = event.result.items if isinstance(event.result, Seq) else (event.result,)
    for value in results:
        yield from _walk(g, value, _THROUGH)


def states_of(g: Graph, value: Value | None) -> frozenset[Source]:
    """Which states a value is, its layout changed at most."""
    return frozenset(_walk(g, value, SHAPING))


def sources(g: Graph, value: Value | None) -> frozenset[Source]:
    """Which states a query is made of, through learned maps."""
    return frozenset(_walk(g, value, _THROUGH))


def outputs_in(g: Graph, value: Value | None) -> frozenset[Source]:
    """Which states a tensor is, mapped and laid out at most: no product, and no join but of layers or directions."""
    return frozenset(_walk(g, value, _MAPPED))


def _walk(g: Graph, value: Value | None, through: frozenset[str]) -> Iterator[Source]:
    by_hand = gated(g.trace)
    seen: set[int] = set()
    stack: list[Value] = [value] if value is not None else []
    while stack:
        current = stack.pop()
        match current:
            case Seq():
                stack.extend(current.items)
            case Unknown():
                yield Source("unknown", 0)
            case Tensor(learned=True):
                pass
            case Tensor():
                event = g.producer(current)
                if event is None:
                    yield Source("input", current.source or current.uid)
                elif event.short in CELLS:
                    yield Source("cell", event.index, _part(event, current))
                elif event.index in by_hand:
                    yield Source("cell", event.index, "h")
                elif event.index not in seen:
                    seen.add(event.index)
                    inputs = [o.value for o in tensor_operands(event)]
                    if event.short in through and inputs:
                        stack.extend(inputs)
                    else:
                        yield Source("unknown" if event.lost else "made", event.index)
            case Opaque():
                tensor = current.as_tensor()
                if tensor is not None:
                    yield Source("input", tensor.source or tensor.uid)


def _part(event: Event, tensor: Tensor) -> Literal["h", "c", "out", ""]:
    """Which result of a cell's call a tensor is."""
    result = event.result
    if isinstance(result, Tensor):
        return "h"
    if not isinstance(result, Seq) or len(result.items) != 2:
        return ""
    first, second = result.items
    if "Cell" in event.short:
        return "h" if tensor is first else "c" if tensor is second else ""
    if tensor is first:
        return "out"
    if isinstance(second, Seq) and len(second.items) == 2:
        return "h" if tensor is second.items[0] else "c" if tensor is second.items[1] else ""
    return "h" if tensor is second else ""


def overlap(ours: frozenset[Source], theirs: frozenset[Source]) -> bool:
    """Whether two sets of states have one in common; a field of an input is part of it."""
    return any(_one(a, b) for a in ours for b in theirs)


def _one(a: Source, b: Source) -> bool:
    if a == b:
        return a.kind != "unknown"
    if a.kind != "input" or b.kind != "input":
        return False
    x, y = str(a.key), str(b.key)
    return x.startswith(f"{y}.") or y.startswith(f"{x}.")


def fed_by(g: Graph, event: Event) -> tuple[list[Event], list[Event], bool]:
    """The first cells that a context flows into, the events where it is joined, and whether every use is known."""
    reached: list[Event] = []
    joined: list[Event] = []
    known = True
    by_hand = gated(g.trace)
    for user in g.forward(event, lambda e: e.short in _FEEDS and not e.lost and e.index not in by_hand):
        if user.short in CELLS or user.index in by_hand:
            reached.append(user)
        elif user.short in ("cat", "add"):
            joined.append(user)
        if user.lost:
            known = False
    return reached, joined, known
