"""SD301 additive-attention-on-new-state."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.trace import Trace
from shapedoc.core.value import NoneValue
from shapedoc.rules.attention import LINEAR
from shapedoc.rules.cells import Cell, Source, sources
from shapedoc.rules.contractions import names, tensor_operands
from shapedoc.rules.flow import SHAPING, Graph, graph
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.timing import Attention, attentions, decoder_claims, joins, place_of, query_text, step_of
from shapedoc.rules.wording import call_labels, finding, label

__all__ = ["RULE", "is_after_only", "is_read_out"]

_ZEROS = names("zeros new_zeros zeros_like")


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for attention in attentions(trace):
        cell = attention.after
        if cell is None or attention.score.form != "additive":
            continue
        if not is_after_only(g, attention, cell) and not is_read_out(trace, g, attention, cell):
            continue
        said = decoder_claims(trace, cell)
        if "bahdanau" in said and "luong" not in said:
            sure = "bahdanau" in decoder_claims(trace, cell, said=True)
            yield _found(trace, attention, cell, "error" if sure else "warning")


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


def _found(trace: Trace, attention: Attention, cell: Cell, severity: Severity) -> Finding:
    event, query = attention.softmax.event, query_text(trace, attention)
    given = cell.event.operand("hx")
    before = trace.source(given.span) if given is not None and given.span is not None and not given.span.path else ""
    old = f"`{before}`, which goes into `{cell.layer.name or 'the cell'}`" if before else "the state before the step"
    none = given is None or isinstance(given.value, NoneValue)
    return finding(
        trace,
        event,
        place_of(attention, cell),
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"Bahdanau attention queries {query}, the state s_t that the cell has just returned, not s_(t-1)",
        tensor=query,
        actual="s_t",
        expected="s_(t-1)",
        labels=label(step_of(attention, cell), "the cell returns s_t here, without a context")
        + label(attention.score.event.span, "additive score: query and memory are summed here")
        + label(event.span, "the weights")
        + call_labels(event),
        why="in Bahdanau's decoder s_t = f(s_(t-1), y_(t-1), c_t): the context is of s_(t-1), and the cell takes it",
        notes=("the context goes into no cell",) if not attention.fed else (),
        help="attend first, and join the context with the input of the cell"
        if none
        else f"attend before the cell, with {old}, and join the context with the input of the cell",
    )


RULE = Rule(
    code="SD301",
    name="additive-attention-on-new-state",
    severity="error",
    summary="A decoder that says it is Bahdanau's attends with the state after the step instead of the one before.",
    what="Follows the decoder's state through its cell, the query back to the state it is made of, and the context on "
    "to where it is used. Reports additive attention whose query is the state that the cell has just returned, and "
    "whose context goes into no cell, where the decoder's name, docstring or comments claim Bahdanau's paper. A loop "
    "that computes the context for the next call of the cell is the same decoder rotated, and right.",
    why="Bahdanau's context takes part in making the new state. Computed from the new state and used for the output "
    "only, the recurrence never sees the source.",
    instead="Attend with the state that goes into the cell, and give the cell the context beside the embedding.",
    source="Bahdanau et al. 2015, section 3.1, equations 4 to 6, and appendix A.1.2.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class BahdanauDecoder(nn.Module):
    def __init__(self, d_emb, d_s, d_h, d_attn, vocab):
        super().__init__()
        self.W, self.U, self.v = nn.Linear(d_s, d_attn), nn.Linear(d_h, d_attn), nn.Linear(d_attn, 1)
        self.embed = nn.Embedding(vocab, d_emb)
        self.cell = nn.GRUCell(d_emb, d_s)
        self.out = nn.Linear(d_s + d_h, vocab)

    def attend(self, state, memory):
        scores = self.v(torch.tanh(self.W(state).unsqueeze(1) + self.U(memory)))
        weights = torch.softmax(scores, dim=1)
        return (weights * memory).sum(dim=1)

    def forward(self, token, state, memory):
        state = self.cell(self.embed(token), state)
        context = self.attend(state, memory)  # <- SD301
        return self.out(torch.cat((state, context), dim=1)), state


torch.manual_seed(0)
decoder = BahdanauDecoder(3, 4, 7, 5, 11)
result, state = decoder(torch.tensor([1, 2]), torch.zeros(2, 4), torch.randn(2, 6, 7))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class BahdanauDecoder(nn.Module):
    def __init__(self, d_emb, d_s, d_h, d_attn, vocab):
        super().__init__()
        self.W, self.U, self.v = nn.Linear(d_s, d_attn), nn.Linear(d_h, d_attn), nn.Linear(d_attn, 1)
        self.embed = nn.Embedding(vocab, d_emb)
        self.cell = nn.GRUCell(d_emb + d_h, d_s)
        self.out = nn.Linear(d_s + d_h, vocab)

    def attend(self, state, memory):
        scores = self.v(torch.tanh(self.W(state).unsqueeze(1) + self.U(memory)))
        weights = torch.softmax(scores, dim=1)
        return (weights * memory).sum(dim=1)

    def forward(self, token, state, memory):
        context = self.attend(state, memory)
        state = self.cell(torch.cat((self.embed(token), context), dim=1), state)
        return self.out(torch.cat((state, context), dim=1)), state


torch.manual_seed(0)
decoder = BahdanauDecoder(3, 4, 7, 5, 11)
result, state = decoder(torch.tensor([1, 2]), torch.zeros(2, 4), torch.randn(2, 6, 7))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: exchanges the two steps; where the cell takes no context, "
        "joins the context with its input and builds it for both."
    ),
    kind="silent",
)
