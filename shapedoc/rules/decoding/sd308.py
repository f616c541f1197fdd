"""SD308 mixed-convention."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Trace
from shapedoc.rules.decoding.timing import (
    Attention,
    attentions,
    decoder_claims,
    is_after_only,
    is_read_out,
    place_of,
    query_text,
)
from shapedoc.rules.reading.cells import Cell, overlap
from shapedoc.rules.reading.flow import graph
from shapedoc.rules.reading.wording import call_labels, finding, label
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for attention in attentions(trace):
        form = attention.score.form
        cell = attention.after
        if form == "additive" and cell is not None:
            late = is_after_only(g, attention, cell) or is_read_out(trace, g, attention, cell)
            if late and "bahdanau" not in decoder_claims(trace, cell):
                yield _found(trace, attention, cell, "additive", "s_t", "Bahdanau's score with Luong's timing")
        elif form == "multiplicative":
            fed = next((c for c in attention.fed if overlap(attention.query, c.hidden)), None)
            if fed is not None and not any(_joined_before(attention, c) for c in (attention.after,) if c is not None):
                yield _found(trace, attention, fed, "multiplicative", "s_(t-1)", "Luong's score with Bahdanau's timing")


def _joined_before(attention: Attention, cell: Cell) -> bool:
    """Whether the context is also joined with the state that made it: input feeding, which is Luong's own."""
    return any(e.loops == cell.event.loops for e in attention.joined)


def _found(trace: Trace, attention: Attention, cell: Cell, form: str, state: str, what: str) -> Finding:
    query = query_text(trace, attention)
    return finding(
        trace,
        attention.softmax.event,
        place_of(attention, cell),
        code=RULE.code,
        name=RULE.name,
        severity="note",
        message=f"{form} attention queries {query}, which is {state}: {what}",
        tensor=query,
        actual=state,
        labels=label(cell.event.span, "the cell") + call_labels(attention.softmax.event),
        why="Bahdanau scores by a sum and queries s_(t-1), Luong by a product and queries s_t; mixtures are in use",
        help="keep it if it is meant; say so where the paper is named",
    )


RULE = Rule(
    code="SD308",
    name="mixed-convention",
    severity="note",
    summary="One paper's score with the other's timing.",
    what="Notes, where no claim is contradicted, additive attention that queries the state after the step and feeds no "
    "cell, or is read out together with that state, and multiplicative attention that queries the state before the "
    "step and feeds the cell.",
    why="Both work and both are published (OpenNMT's mlp attention, Listen, Attend and Spell). Results are comparable "
    "to neither paper's.",
    instead="Nothing, if it is meant.",
    source="Bahdanau et al. 2015, section 3.1; Luong et al. 2015, section 3.1; Chan et al. 2016, equation 6.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, d_emb, d_s, d_h, d_attn):
        super().__init__()
        self.W, self.U, self.v = nn.Linear(d_s, d_attn), nn.Linear(d_h, d_attn), nn.Linear(d_attn, 1)
        self.cell = nn.GRUCell(d_emb, d_s)

    def forward(self, embedded, state, memory):
        state = self.cell(embedded, state)
        scores = self.v(torch.tanh(self.W(state).unsqueeze(1) + self.U(memory)))  # <- SD308
        context = (torch.softmax(scores, dim=1) * memory).sum(dim=1)
        return torch.cat((state, context), dim=1), state


torch.manual_seed(0)
result, state = Decoder(3, 4, 7, 5)(torch.randn(2, 3), torch.zeros(2, 4), torch.randn(2, 6, 7))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, d_emb, d_s, d_h, d_attn):
        super().__init__()
        self.W, self.U, self.v = nn.Linear(d_s, d_attn), nn.Linear(d_h, d_attn), nn.Linear(d_attn, 1)
        self.cell = nn.GRUCell(d_emb + d_h, d_s)

    def forward(self, embedded, state, memory):
        scores = self.v(torch.tanh(self.W(state).unsqueeze(1) + self.U(memory)))
        context = (torch.softmax(scores, dim=1) * memory).sum(dim=1)
        state = self.cell(torch.cat((embedded, context), dim=1), state)
        return torch.cat((state, context), dim=1), state


torch.manual_seed(0)
result, state = Decoder(3, 4, 7, 5)(torch.randn(2, 3), torch.zeros(2, 4), torch.randn(2, 6, 7))
"""
        ),
    ),
    check=check,
    fix="No fix is offered: a note says that two papers are mixed, and not which one is meant.",
    kind="silent",
)
