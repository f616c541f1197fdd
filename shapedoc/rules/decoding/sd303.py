"""SD303 state-not-carried."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Opaque, Seq, Tensor, Value
from shapedoc.rules.decoding.empty_sums import empty_sums
from shapedoc.rules.decoding.steps import Pair, depends, is_one_step, pairs
from shapedoc.rules.decoding.timing import Attention, attentions
from shapedoc.rules.decoding.unfed import above_without_state, without_state
from shapedoc.rules.decoding.unmoved import asks_with_the_first, place_in_loop
from shapedoc.rules.reading.cells import Cell, Source, cells, overlap, states_of
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, graph, tensors_in
from shapedoc.rules.reading.wording import call_labels, finding, label, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

# What gives a part of a tensor, or one of several.
_TAKES = names("getitem select narrow chunk split unbind phi stack unpack")
_FRESH = names("zeros new_zeros zeros_like randn rand randn_like empty ones new_ones ones_like new_empty full")


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for pair in pairs(trace, g):
        yield from _judged(trace, g, pair)
    for attention in attentions(trace):
        yield from _left_out(trace, attention)
        for cell in asks_with_the_first(trace, attention):
            yield _asked_with_the_first(trace, attention, cell)
    for cell, softmax in without_state(trace):
        labels = ((softmax.span, "the attention asks with the state that was given"),)
        yield _found(trace, cell, cell.event.span, "no state goes into", "starts from zero", "error", labels)
    for cell, below in above_without_state(trace):
        labels = ((below.event.span, "the layer below it is given its state"),)
        yield _found(trace, cell, cell.event.span, "no state goes into", "starts from zero", "warning", labels)
    yield from _across_layers(trace, g)
    yield from empty_sums(trace, RULE.code, RULE.name)


def _judged(trace: Trace, g: Graph, pair: Pair) -> Iterator[Finding]:
    first, second = pair.first, pair.second
    severity: Severity = "error" if pair.fed_back else "warning"
    if not first.given and not second.given:
        yield _found(trace, second, second.event.span, "no state goes into", "starts from zero", severity, ())
        return
    yield from _memory(trace, g, pair, severity)
    made = {s.key for s in second.hidden if s.kind == "cell"}
    if first.event.index in made or any(s.kind == "unknown" for s in first.hidden | second.hidden):
        return
    place = _step_span(first, second) or _state_span(second) or second.event.span
    if first.hidden and first.hidden == second.hidden and _same_tensors(g, first, second):
        yield _found(trace, second, place, "the same state goes into", "starts from the same state", severity, ())
        return
    fresh = _fresh(g, second)
    if fresh is not None and fresh.loops == second.event.loops and _fresh(g, first) is not None:
        labels = ((second.event.span, "it goes in here"),)
        yield _found(trace, second, fresh.span, "a fresh state goes into", "starts anew", severity, labels)


def _memory(trace: Trace, g: Graph, pair: Pair, severity: Severity) -> Iterator[Finding]:
    """An LSTM's cell state that is not carried, where its hidden state is."""
    first, second = pair.first, pair.second
    ours, theirs = (_identities(g, c.event.value("hx")) for c in (first, second))
    state = second.event.value("hx")
    carried = isinstance(state, Seq) and depends(g, next(iter(state.items), None), first.event)
    if not carried or len(ours) != 2 or len(theirs) != 2 or any(s.kind != "made" for s in second.memory):
        return
    place = _step_span(first, second) or _state_span(second) or second.event.span
    if ours[1] == theirs[1]:
        yield _found(trace, second, place, "the same cell state goes into", "starts with the same memory", severity, ())
        return
    fresh = [_made_of_nothing(g, c.event.value("hx")) for c in (first, second)]
    if fresh[0] is not None and fresh[1] is not None and fresh[1].loops == second.event.loops:
        labels = ((second.event.span, "it goes in here"),)
        what, then = "a fresh cell state goes into", "starts with an empty memory"
        yield _found(trace, second, fresh[1].span, what, then, severity, labels)


def _made_of_nothing(g: Graph, state: Value | None) -> Event | None:
    """The event that makes the second of two states out of nothing."""
    cell = state.items[1] if isinstance(state, Seq) and len(state.items) == 2 else None
    event = g.producer(cell)
    made = g.origin(event, SHAPING) if event is not None else None
    return made if made is not None and made.short in _FRESH else None


def _same_tensors(g: Graph, first: Cell, second: Cell) -> bool:
    """Whether both calls are given the very same tensors, their layout changed at most."""
    ours, theirs = (_identities(g, c.event.value("hx")) for c in (first, second))
    return bool(ours) and ours == theirs


def _identities(g: Graph, value: Value | None) -> list[int]:
    parts = value.items if isinstance(value, Seq) else (value,)
    found = [v.as_tensor() if isinstance(v, Opaque) else v for v in parts]
    if not all(isinstance(v, Tensor) for v in found):
        return []
    return [_identity(g, v) for v in found if isinstance(v, Tensor)]


def _identity(g: Graph, tensor: Tensor) -> int:
    event = g.producer(tensor)
    while event is not None and event.short in SHAPING - _TAKES:
        inner = next(iter(tensor_operands(event)), None)
        if inner is None or not isinstance(inner.value, Tensor):
            break
        tensor = inner.value
        event = g.producer(tensor)
    return tensor.event if tensor.event >= 0 else -tensor.uid


def _fresh(g: Graph, cell: Cell) -> Event | None:
    """The event that makes the whole state out of nothing."""
    found = []
    for tensor in tensors_in(cell.event.value("hx")):
        event = g.producer(tensor)
        made = g.origin(event, SHAPING) if event is not None else None
        if made is None or made.short not in _FRESH:
            return None
        found.append(made)
    return found[0] if found else None


def _state_span(cell: Cell) -> Span | None:
    operand = cell.event.operand("hx")
    return operand.span if operand is not None else None


def _step_span(first: Cell, second: Cell) -> Span | None:
    """The call of the author's own function that the loop makes for a step, where the cell lies inside of it."""
    for one, other in zip(first.event.calls, second.event.calls, strict=False):
        if one.id != other.id:
            return other.span if other.span.line and not other.span.path else None
    return None


def _left_out(trace: Trace, attention: Attention) -> Iterator[Finding]:
    """A step whose attention asks with the state that it was given, while its cell is given none."""
    inputs: frozenset[Source] = frozenset(s for s in attention.query if s.kind == "input")
    if not inputs or inputs != attention.query:
        return
    for cell in attention.fed:
        if cell.given or not is_one_step(cell) or overlap(inputs, cell.hidden) or cell.event.loops:
            continue
        yield _found(
            trace,
            cell,
            cell.event.span,
            "no state goes into",
            "starts from zero",
            "error",
            ((attention.softmax.event.span, "the attention asks with the state that was given"),),
        )


def _asked_with_the_first(trace: Trace, attention: Attention, cell: Cell) -> Finding:
    """Every step of a loop asks with the state that the first one was given."""
    event, query = attention.score.event, attention.score.query[0]
    place = place_in_loop(attention, cell)
    name = cell.layer.name or cell.event.short.split(".")[0]
    return finding(
        trace,
        event,
        place if place is not None and not place.path else None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"the attention asks with the state from before the loop at every step, while `{name}` goes on",
        tensor=text_of(trace, query),
        labels=label(cell.event.span, "the state is carried here") + call_labels(event),
        why="the same query and the same memory give the same context at every step: attention does not move along",
        help="ask with the state that the last step has left",
    )


def _across_layers(trace: Trace, g: Graph) -> Iterator[Finding]:
    """A cell whose input and whose state are both what the cell below it has just returned.

    A deep transition, whose second cell goes on with the first one's state, reads something else (the context).
    """
    every = [c for c in cells(trace) if c.is_step and not c.is_lstm]
    for above in every:
        for below in every:
            if below.layer is above.layer or below.event.loops[:-1] != above.event.loops[:-1]:
                continue
            returned = frozenset((Source("cell", below.event.index, "h"),))
            if above.hidden == returned and states_of(g, above.event.value("input")) == returned:
                place = _state_span(above) or above.event.span
                labels = ((below.event.span, "the layer below returns it here"),)
                yield _found(
                    trace, above, place, "the state of the layer below goes into", "has no memory", "warning", labels
                )


def _found(
    trace: Trace, cell: Cell, span: Span, what: str, then: str, severity: Severity, places: tuple[tuple[Span, str], ...]
) -> Finding:
    event = cell.event
    name = cell.layer.name or event.short.split(".")[0]
    state = _state_span(cell)
    text = trace.source(state) if state is not None and not state.path else ""
    return finding(
        trace,
        event,
        span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"{what} `{name}` at every step: each step {then}",
        tensor=text or "hx",
        labels=label(event.span, "what the cell returns is not given to the next step")
        + tuple(lb for place, words in places for lb in label(place, words))
        + call_labels(event),
        why="a decoder is recurrent: s_t is made from s_(t-1). Dropped, nothing that was decoded before is remembered",
        help="assign the state that the cell returns, and pass it at the next step",
    )


RULE = Rule(
    code="SD303",
    name="state-not-carried",
    severity="error",
    summary="The state that a cell returns does not go into its next step.",
    what="Compares two rounds of a decoding loop. Reports a cell that is given the same state in both, a state that is "
    "made anew in every round, and no state at all, where the loop goes through time: the next input depends on the "
    "last output, or is the next step of one sequence. Reports attention that asks with the first state in every "
    "round, while the cell that it feeds goes on from its last one; and a sum over the steps, such as that of the "
    "weights, to which every round adds the zeros from before the loop.",
    why="Without its state a recurrent decoder forgets everything that it has written. Shapes agree, training works a "
    "little, and sequences repeat themselves.",
    instead="`state = cell(x, state)` in the loop, the initial state before it.",
    source="Bahdanau et al. 2015, appendix A.1.1; PyTorch documentation, torch.nn.GRUCell.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


def decode(cell, inputs, initial):
    outputs = []
    for t in range(inputs.size(1)):
        state = cell(inputs[:, t], initial)  # <- SD303
        outputs.append(state)
    return torch.stack(outputs, dim=1)


torch.manual_seed(0)
result = decode(nn.GRUCell(3, 7), torch.randn(2, 4, 3), torch.zeros(2, 7))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


def decode(cell, inputs, initial):
    outputs, state = [], initial
    for t in range(inputs.size(1)):
        state = cell(inputs[:, t], state)
        outputs.append(state)
    return torch.stack(outputs, dim=1)


torch.manual_seed(0)
result = decode(nn.GRUCell(3, 7), torch.randn(2, 4, 3), torch.zeros(2, 7))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: gives what the cell returns to the next step.",
    kind="silent",
)
