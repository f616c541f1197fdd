"""When an attention queries a decoder: with the state before its cell's step, or with the one after it.

Order of lines is not order of time. What counts is the state: a query that also goes into the cell which the context
feeds is the state before that step; a query that a cell returned, whose context goes into no cell, is the one after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.attention import LINEAR, Score, score_of
from shapedoc.rules.reading.cells import (
    Cell,
    Source,
    cells,
    cells_by_hand,
    fed_by,
    outputs_in,
    overlap,
    sources,
    states_of,
)
from shapedoc.rules.reading.claims import claims_of, said_of
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, graph
from shapedoc.rules.reading.softmaxes import Softmax, softmaxes
from shapedoc.rules.reading.weights import uses

__all__ = [
    "Attention",
    "attentions",
    "decoder_claims",
    "is_after_only",
    "is_read_out",
    "joins",
    "place_of",
    "query_text",
    "step_of",
]

_ZEROS = names("zeros new_zeros zeros_like")


@dataclass(slots=True, eq=False)
class Attention:
    """One attention of a decoder.

    query: the states that the query is made of. fed: the cells that its context flows into first, in this round or
    the next. joined: where the context is joined with something. after: the cell that returned the query. before: the
    cell of the same step that the query goes into, whose output the context is joined with. known: every use of the
    context is known. shifted: `before` runs over all steps in one call, and the queries are what it returned behind its
    first state. feeds_anywhere: some walk over this very code feeds the context into a cell; feeds_own: into the
    cell of the same step, which the query goes into as its state.
    """

    softmax: Softmax
    score: Score
    query: frozenset[Source]
    fed: list[Cell]
    joined: list[Event]
    known: bool
    after: Cell | None = None
    before: Cell | None = None
    shifted: bool = False
    feeds_anywhere: bool = field(default=False)
    feeds_own: bool = field(default=False)

    @property
    def is_stale(self) -> bool:
        """Whether the cell had returned its new state when the old one was used."""
        return self.before is not None and self.before.event.index < self.softmax.event.index


@lru_cache(maxsize=2)
def attentions(trace: Trace) -> tuple[Attention, ...]:
    """Every attention whose query is a decoder's state."""
    found = list(_all(trace, graph(trace)))
    anywhere = _spans(a for a in found if a.fed or not a.known)
    own = _spans(a for a in found if not a.known or any(overlap(a.query, c.hidden) for c in a.fed))
    for attention in found:
        here = _spans((attention,))
        attention.feeds_anywhere, attention.feeds_own = bool(here & anywhere), bool(here & own)
    return tuple(found)


def _spans(found: Iterable[Attention]) -> set[Span]:
    """Where decoders attend: a scorer that two decoders call is two attentions."""
    return {span for a in found for span in _stands(a)}


def _stands(attention: Attention) -> tuple[Span, ...]:
    cell = attention.after or attention.before or next(iter(attention.fed), None)
    if cell is not None:
        return (place_of(attention, cell),)
    return (attention.softmax.event.span, attention.score.event.span)


def _all(trace: Trace, g: Graph) -> Iterator[Attention]:
    every = (*cells(trace), *cells_by_hand(trace))
    if not every:
        return
    calls = {c.event.index: c for c in every}
    for softmax in softmaxes(trace):
        contexts = [u.event for u in uses(g, softmax)]
        score = score_of(g, softmax) if contexts else None
        if score is None:
            continue
        query = _sources(g, score.query)
        encoders = {s.key for s in _sources(g, score.memory) if s.kind == "cell"}
        fed, joined, known = fed_by(g, contexts[0])
        for context in contexts[1:]:
            more = fed_by(g, context)
            fed, joined, known = fed + more[0], joined + more[1], known and more[2]
        reached = [calls[e.index] for e in fed if e.index in calls]
        attention = Attention(softmax, score, query, reached, joined, known)
        decoders = [c for c in every if c.event.index not in encoders]
        attention.after = next((c for c in decoders if _returned(query, c)), None)
        attention.before = next((c for c in decoders if overlap(query, c.hidden) and joins(g, joined, c)), None)
        shifted = next((c for c in decoders if _is_shifted(g, score.query, c)), None)
        if attention.before is None and shifted is not None and joins(g, joined, shifted):
            attention.before, attention.shifted = shifted, True
        if query:
            yield attention


def _is_shifted(g: Graph, query: tuple[Operand, ...], cell: Cell) -> bool:
    """Whether the queries of all steps are the outputs of one call of a cell behind the state that went into it."""
    event = g.producer(query[0].value)
    while event is not None and event.short in SHAPING | LINEAR:
        event = g.main_source(event)
    if event is None or event.short not in ("cat", "concat"):
        return False
    parts = tensor_operands(event)
    if len(parts) != 2:
        return False
    first, rest = (states_of(g, p.value) for p in parts)
    made = g.producer(parts[1].value)
    cut = made is not None and made.short in ("getitem", "narrow")
    return cut and overlap(first, cell.hidden) and {s.key for s in rest if s.kind == "cell"} == {cell.event.index}


def _returned(query: frozenset[Source], cell: Cell) -> bool:
    """Whether a call of the cell made the query, and nothing else did."""
    return bool(query) and all(s.kind == "cell" and s.key == cell.event.index and s.part != "c" for s in query)


def _sources(g: Graph, operands: tuple[Operand, ...]) -> frozenset[Source]:
    return frozenset(source for operand in operands for source in sources(g, operand.value))


def joins(g: Graph, joined: list[Event], cell: Cell) -> bool:
    """Whether the context is joined with what this call of the cell returned, in the same round."""
    for event in joined:
        if event.loops != cell.event.loops:
            continue
        for operand in tensor_operands(event):
            if any(s.kind == "cell" and s.key == cell.event.index for s in outputs_in(g, operand.value)):
                return True
    return False


def decoder_claims(trace: Trace, cell: Cell, *, said: bool = False) -> frozenset[str]:
    """What is claimed of the code that calls the cell; with `said`, by its name, docstrings and comments alone."""
    event, read = cell.event, said_of if said else claims_of
    scopes = {event.function, *(c.function for c in event.calls)}
    return frozenset().union(*(read(trace, s) for s in scopes if s))


def place_of(attention: Attention, cell: Cell) -> Span:
    """Where the decoder attends: the call of its scorer, or the query itself where the score is worked out in place."""
    ours, theirs = attention.softmax.event.calls, cell.event.calls
    shared = 0
    while shared < min(len(ours), len(theirs)) and ours[shared].id == theirs[shared].id:
        shared += 1
    if shared < len(ours) and ours[shared].span.line:
        return ours[shared].span
    query = attention.score.query[0]
    return query.span if query.span is not None else attention.score.event.span


def step_of(attention: Attention, cell: Cell) -> Span:
    """Where the decoder takes a step: the call of the cell; of one that is written out, what the decoder calls."""
    if not cell.is_by_hand:
        return cell.event.span
    ours, theirs = cell.event.calls, attention.softmax.event.calls
    shared = 0
    while shared < min(len(ours), len(theirs)) and ours[shared].id == theirs[shared].id:
        shared += 1
    return ours[shared].span if shared < len(ours) and ours[shared].span.line else cell.event.span


def query_text(trace: Trace, attention: Attention) -> str:
    """The query in the author's words: the state, before it was mapped and laid out."""
    g, operand = graph(trace), attention.score.query[0]
    for _ in range(20):
        event = g.producer(operand.value)
        if event is None or event.short not in SHAPING | LINEAR:
            break
        inner = next(iter(tensor_operands(event)), None)
        if inner is None:
            break
        operand = inner
    if isinstance(operand.value, Tensor) and operand.value.name:
        return operand.value.name
    text = trace.source(operand.span) if operand.span is not None and not operand.span.path else ""
    return text if 0 < len(text) <= 48 else "the query"


def is_after_only(g: Graph, attention: Attention, cell: Cell) -> bool:
    """Whether the query is a cell's new state and the context reaches no cell, in this round or another.

    A step that is given its last context, or a vector that a caller may have made of it, is not judged.
    """
    if attention.feeds_anywhere or attention.fed or not attention.known or attention.before is not None:
        return False
    entering = cell.inputs if cell.inputs is not None else sources(g, cell.event.value("input"))
    fed = [s for s in entering if s.kind in ("input", "made", "unknown")]
    given = [s for s in fed if s.kind != "made" or _is_handed_in(g, s, cell)]
    return not given or (len(given) == 1 and len(fed) == 1 and given[0].kind != "unknown")


def _is_handed_in(g: Graph, source: Source, cell: Cell) -> bool:
    """Whether the caller of a single step made a vector: it may be the context of the step before."""
    if cell.event.loops or not cell.event.calls or not isinstance(source.key, int):
        return False
    return cell.event.calls[-1].id not in {call.id for call in g.trace.events[source.key].calls}


def is_read_out(trace: Trace, g: Graph, attention: Attention, cell: Cell) -> bool:
    """Whether the context is joined with the very state that asked for it, and the first step gets a context of zeros.

    A loop that makes the context of the next step at its end has made the first one before it, from the first state.
    """
    at_once = any(c.event.loops == cell.event.loops for c in attention.fed)
    if not attention.known or at_once or not joins(g, attention.joined, cell):
        return False
    first = next((e for e in trace.events if e.op == cell.event.op and e.span == cell.event.span), None)
    made = g.producer(first.value("input")) if first is not None else None
    made = g.origin(made, SHAPING | LINEAR) if made is not None else None
    if made is None or made.short not in ("cat", "concat"):
        return False
    parts = (g.producer(o.value) for o in tensor_operands(made))
    return any(p is not None and g.origin(p, SHAPING).short in _ZEROS for p in parts)
