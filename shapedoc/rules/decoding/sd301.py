"""SD301 additive-attention-on-new-state."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.trace import Trace
from shapedoc.core.value import NoneValue
from shapedoc.rules.decoding.timing import (
    Attention,
    attentions,
    decoder_claims,
    is_after_only,
    is_read_out,
    place_of,
    query_text,
    step_of,
)
from shapedoc.rules.reading.cells import Cell
from shapedoc.rules.reading.flow import graph
from shapedoc.rules.reading.wording import call_labels, finding, label
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


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
