"""SD306 swapped-lstm-state."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Seq, Tensor
from shapedoc.rules.decoding.shown_memory import Shown, shown_memories
from shapedoc.rules.decoding.timing import Attention, attentions, place_of, query_text
from shapedoc.rules.reading.attention import LINEAR
from shapedoc.rules.reading.cells import Cell, Source, cells, states_of
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.flow import SHAPING, events_of, graph
from shapedoc.rules.reading.wording import call_labels, finding, label, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    every = cells(trace)
    calls = {c.event.index: c for c in every}
    swapped, told = set[Span](), set[Span]()
    for cell in every:
        source = _swapped(cell, calls)
        if source is not None:
            swapped.add(source.event.span)
            yield _exchanged(trace, cell, source)
        twice = _twice(trace, cell, calls)
        if twice is not None:
            told.add(twice.event.span)
            yield _repeated(trace, cell, twice)
    for event in events_of(trace, ("numbered",)):
        source = _numbered(trace, event, calls)
        if source is not None and event.span not in told:
            told.add(event.span)
            yield _by_layer(trace, event, source)
    for attention in attentions(trace):
        made = {s.key for s in attention.query if s.kind == "cell" and s.part == "c"}
        if len(attention.query) != 1 or len(made) != 1:
            continue
        asked = calls.get(int(next(iter(made))))
        if asked is not None and asked.event.span not in swapped:
            told.add(asked.event.span)
            yield _queried(trace, asked, _asks(trace, attention, asked), query_text(trace, attention))
    shown = {s.event.span: s for s in shown_memories(trace) if s.cell.event.span not in swapped | told}
    yield from (_shown(trace, s) for s in shown.values())


def _shown(trace: Trace, shown: Shown) -> Finding:
    """The cell state as the output of a step."""
    text = text_of(trace, shown.operand)
    return finding(
        trace,
        shown.event,
        shown.operand.span,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"{text}, the cell state of the LSTM, goes on to the output, and its hidden state nowhere",
        tensor=text,
        actual="c_t",
        expected="h_t",
        labels=label(shown.cell.event.span, "an LSTM returns (h, c), the hidden state first")
        + call_labels(shown.event),
        why="the hidden state is what an LSTM shows to others; the cell state is its memory and has no bound",
        help="go on with the first of the two states",
    )


def _parts(sources: frozenset[Source]) -> set[str]:
    return {s.part for s in sources}


def _swapped(cell: Cell, calls: dict[int, Cell]) -> Cell | None:
    """The call whose cell state goes in as hidden state here, while its hidden state goes in as cell state."""
    if not cell.is_lstm:
        return None
    hidden = {s.key for s in cell.hidden if s.kind == "cell" and s.part == "c"}
    memory = {s.key for s in cell.memory if s.kind == "cell" and s.part == "h"}
    clean = _parts(cell.hidden) == {"c"} and _parts(cell.memory) == {"h"}
    both = hidden & memory
    return calls.get(int(next(iter(both)))) if clean and len(both) == 1 else None


def _twice(trace: Trace, cell: Cell, calls: dict[int, Cell]) -> Cell | None:
    """The LSTM whose hidden state goes in as both states here, written out twice, while its cell state is left over."""
    state = cell.event.operand("hx")
    if not cell.is_lstm or state is None or cell.hidden != cell.memory or _parts(cell.hidden) != {"h"}:
        return None
    source = calls.get(int(next(iter(cell.hidden)).key)) if len(cell.hidden) == 1 else None
    if source is None or not source.is_lstm or next(iter(cell.hidden)).kind != "cell":
        return None
    one, other = state.value.items if isinstance(state.value, Seq) and len(state.value.items) == 2 else (None, None)
    if one is other or not isinstance(source.event.result, Seq):
        return None  # one tensor for both, as of a cell that keeps one state, is meant
    left = [s for s in source.event.result.items[1:] if isinstance(s, Seq) and len(s.items) == 2]
    memory = left[0].items[1] if left else None
    users = graph(trace).users[source.event.index]
    read = any(o.value is memory for e in users for o in tensor_operands(e))
    return source if isinstance(memory, Tensor) and not read else None


def _numbered(trace: Trace, event: Event, calls: dict[int, Cell]) -> Cell | None:
    """The LSTM whose two states are asked for by the number of a layer: it counts layers, and the pair has none."""
    hidden, memory = (states_of(graph(trace), o.value) for o in event.operands)
    if _parts(hidden) != {"h"} or _parts(memory) != {"c"} or {s.key for s in hidden} != {s.key for s in memory}:
        return None
    source = calls.get(int(next(iter(hidden)).key))
    return source if source is not None and source.is_lstm else None


def _by_layer(trace: Trace, event: Event, source: Cell) -> Finding:
    """A layer's number as the index of its pair of states."""
    text = trace.source(event.span)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"`{text}` takes a state of the LSTM by the number of the layer: (h, c) for the first, then others",
        tensor=text,
        actual="h_t, then c_t",
        expected="h_t",
        labels=label(source.event.span, "an LSTM returns (h, c), the hidden state first") + call_labels(event),
        why="the second index counts the states of one layer: 0 is the hidden state, 1 the cell state, and there is "
        "no other",
        help="take the hidden state of that layer: the second index is 0",
    )


def _state_text(trace: Trace, cell: Cell) -> str:
    """The states that a cell is given, as they are written."""
    state = cell.event.operand("hx")
    return trace.source(state.span) if state is not None and state.span is not None and not state.span.path else "hx"


def _repeated(trace: Trace, cell: Cell, source: Cell) -> Finding:
    """The hidden state for both states."""
    text = _state_text(trace, cell)
    return finding(
        trace,
        cell.event,
        _paired(cell, source),
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"{text} holds the hidden state of the LSTM twice: its cell state goes nowhere",
        tensor=text,
        actual="(h, h)",
        expected="(h, c)",
        labels=label(cell.event.span, "goes in here")
        + label(source.event.span, "returned here, the hidden state first")
        + call_labels(cell.event),
        why="both have one shape, so nothing raises; the memory that the LSTM has built up is lost",
        help="take the second of the two states for the second place",
    )


def _exchanged(trace: Trace, cell: Cell, source: Cell) -> Finding:
    text = _state_text(trace, cell)
    return finding(
        trace,
        source.event,
        source.event.span if cell.event.span == source.event.span else _paired(cell, source),
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"hidden and cell state of the LSTM are swapped: {text} holds (c, h), it takes (h, c)",
        tensor=text,
        actual="(c, h)",
        expected="(h, c)",
        labels=label(cell.event.span, "goes in here")
        + label(source.event.span, "returned here, the hidden state first")
        + call_labels(cell.event),
        why="both have one shape, so nothing raises; the cell state has no bound, and the gates work on the wrong one",
        help="unpack `h, c = ...` and pass `(h, c)`",
    )


def _paired(cell: Cell, source: Cell) -> Span | None:
    """Where the two were put in the wrong order: the call in the function that got them from the LSTM."""
    inside = {call.id for call in source.event.calls}
    shared = 0
    while shared < len(cell.event.calls) and cell.event.calls[shared].id in inside:
        shared += 1
    if shared < len(cell.event.calls) and not cell.event.calls[shared].span.path:
        return cell.event.calls[shared].span
    state = cell.event.operand("hx")
    return state.span if state is not None else None


def _asks(trace: Trace, attention: Attention, cell: Cell) -> Span:
    """Where the cell state is taken for the query: the call of the scorer, or the first thing that is made of it."""
    place, g = place_of(attention, cell), graph(trace)
    operand = attention.score.query[0]
    while place == operand.span:
        event = g.producer(operand.value)
        inner = next(iter(tensor_operands(event)), None) if event is not None else None
        if event is None or event is cell.event or inner is None or event.function != cell.event.function:
            break
        if event.short not in SHAPING | LINEAR or event.span.path or inner.span is None:
            break
        place, operand = inner.span, inner
    return place


def _queried(trace: Trace, cell: Cell, place: Span, query: str) -> Finding:
    mistaken = _named_wrongly(cell)
    severity: Severity = "error" if mistaken else "warning"
    return finding(
        trace,
        cell.event,
        cell.event.span if mistaken else place,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"`{mistaken}` takes what the LSTM returns as (h, c): the query {query} is the cell state"
        if mistaken
        else f"attention queries {query}, the cell state of the LSTM, not its hidden state",
        tensor=query,
        actual="c_t",
        expected="h_t",
        labels=label(cell.event.span, "an LSTM returns (h, c), the hidden state first")
        + label(place, f"{query} is the query here")
        + call_labels(cell.event),
        why="the hidden state is what an LSTM shows to others; the cell state is its memory and has no bound",
        help="query with the first of the two states",
    )


def _named_wrongly(cell: Cell) -> str:
    """The names that the two states are given where they say that the cell state comes first; "" if they do not."""
    result = cell.event.result
    pair = result.items[-1] if isinstance(result, Seq) and not cell.is_step else result
    if not isinstance(pair, Seq) or len(pair.items) != 2:
        return ""
    names = [v.name if isinstance(v, Tensor) else "" for v in pair.items]
    first, second = (n.removeprefix("self.").lstrip("_").lower() for n in names)
    return ", ".join(names) if first[:1] == "c" and second[:1] == "h" else ""


RULE = Rule(
    code="SD306",
    name="swapped-lstm-state",
    severity="error",
    summary="Hidden and cell state of an LSTM are swapped, or the cell state is used as the query.",
    what="Follows both states of an LSTM from the call that returns them to the call that takes them, to the query of "
    "an attention, and to the output of a step: a cell state that is mapped or joined, where nothing but the next step "
    "reads the hidden state, is reported; so is a pair of states that is indexed with the number of its layer.",
    why="Both have the same shape. Swapped, the gates see the unbounded memory and the memory is overwritten by a "
    "bounded output; training goes on, worse.",
    instead="`h, c = cell(x, (h, c))`, and `h` as the query.",
    source="PyTorch documentation, torch.nn.LSTM and torch.nn.LSTMCell.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


def decode(cell, inputs, state):
    outputs = []
    for x in inputs:
        c, h = cell(x, state)  # <- SD306
        state = (h, c)
        outputs.append(h)
    return torch.stack(outputs)


torch.manual_seed(0)
zero = torch.zeros(2, 7)
result = decode(nn.LSTMCell(3, 7), torch.randn(4, 2, 3), (zero, zero))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


def decode(cell, inputs, state):
    outputs = []
    for x in inputs:
        h, c = cell(x, state)
        state = (h, c)
        outputs.append(h)
    return torch.stack(outputs)


torch.manual_seed(0)
zero = torch.zeros(2, 7)
result = decode(nn.LSTMCell(3, 7), torch.randn(4, 2, 3), (zero, zero))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: takes the hidden state in the place of the cell state.",
    kind="silent",
)
