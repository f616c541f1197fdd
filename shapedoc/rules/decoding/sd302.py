"""SD302 multiplicative-attention-on-old-state."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.trace import Trace
from shapedoc.rules.decoding.timing import Attention, attentions, decoder_claims, place_of, query_text, step_of
from shapedoc.rules.reading.cells import Cell
from shapedoc.rules.reading.wording import call_labels, finding, label
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    for attention in attentions(trace):
        cell = attention.before
        if cell is None or attention.feeds_own or not attention.known:
            continue
        severity = _severity(trace, attention, cell)
        if severity is not None:
            yield _found(trace, attention, cell, severity)


def _severity(trace: Trace, attention: Attention, cell: Cell) -> Severity | None:
    """How sure it is that the new state was meant.

    The context does not go into the cell of its step, so this is not Bahdanau's decoder; it is joined with what the
    cell returned, and the next step may be fed with both. An error where the decoder says that it is Luong's, or where
    the product comes after the cell and takes the old state.
    """
    said = decoder_claims(trace, cell)
    if (cell.is_by_hand or attention.shifted) and "luong" not in said:
        return None
    if attention.score.form == "multiplicative":
        if "bahdanau" in said and not attention.is_stale:
            return None
        return "error" if attention.is_stale or "luong" in said else "warning"
    return "warning" if attention.is_stale else None


def _found(trace: Trace, attention: Attention, cell: Cell, severity: Severity) -> Finding:
    event, query = attention.softmax.event, query_text(trace, attention)
    kind = "multiplicative" if attention.score.form == "multiplicative" else "additive"
    after = "after the cell has returned s_t" if attention.is_stale else "and its context is joined with s_t"
    new = cell.event.target
    step = f"`{new}`" if new else "the state that the cell returns"
    return finding(
        trace,
        event,
        place_of(attention, cell),
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"{kind} attention queries {query}, the old state s_(t-1), {after}",
        tensor=query,
        actual="s_(t-1)",
        expected="s_t",
        labels=label(step_of(attention, cell), "the same state goes into the cell here, which returns s_t")
        + label(attention.score.event.span, "the score is made here")
        + tuple(lb for e in attention.joined[:1] for lb in label(e.span, "the context is joined with s_t here"))
        + call_labels(event),
        why="in Luong's decoder the context is made with s_t and joined with s_t: h~_t = tanh(W_c [c_t; s_t]). With "
        "s_(t-1) the weights are one step late",
        notes=("the context goes into no cell, as it would in Bahdanau's decoder",),
        help=f"attend after the cell, with {step}",
    )


RULE = Rule(
    code="SD302",
    name="multiplicative-attention-on-old-state",
    severity="error",
    summary="The context is made with the state before the step and joined with the one after it.",
    what="Follows the decoder's state through its cell. Reports attention whose query is the very state that goes into "
    "the cell, while its context goes into no cell and is joined with what the cell returns: Luong's decoder with last "
    "step's query, or an old variable that is used after the cell has returned a new one.",
    why="The weights are one step late: at the first step they come from the encoder's last state, and the last state "
    "of the decoder never attends.",
    instead="Run the cell first, and attend with the state that it returns.",
    source="Luong et al. 2015, section 3, equation 5 and section 3.1.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, d_emb, d_h, vocab):
        super().__init__()
        self.embed, self.cell = nn.Embedding(vocab, d_emb), nn.GRUCell(d_emb, d_h)
        self.out = nn.Linear(2 * d_h, vocab)

    def attend(self, state, memory):
        scores = torch.bmm(memory, state.unsqueeze(2)).squeeze(2)
        weights = torch.softmax(scores, dim=1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)

    def forward(self, tokens, state, memory):
        outputs = []
        for t in range(tokens.size(1)):
            new_state = self.cell(self.embed(tokens[:, t]), state)
            context = self.attend(state, memory)  # <- SD302
            outputs.append(self.out(torch.cat((new_state, context), dim=1)))
            state = new_state
        return torch.stack(outputs, dim=1)


torch.manual_seed(0)
result = Decoder(3, 7, 11)(torch.tensor([[1, 2], [3, 4]]), torch.zeros(2, 7), torch.randn(2, 6, 7))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, d_emb, d_h, vocab):
        super().__init__()
        self.embed, self.cell = nn.Embedding(vocab, d_emb), nn.GRUCell(d_emb, d_h)
        self.out = nn.Linear(2 * d_h, vocab)

    def attend(self, state, memory):
        scores = torch.bmm(memory, state.unsqueeze(2)).squeeze(2)
        weights = torch.softmax(scores, dim=1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)

    def forward(self, tokens, state, memory):
        outputs = []
        for t in range(tokens.size(1)):
            state = self.cell(self.embed(tokens[:, t]), state)
            context = self.attend(state, memory)
            outputs.append(self.out(torch.cat((state, context), dim=1)))
        return torch.stack(outputs, dim=1)


torch.manual_seed(0)
result = Decoder(3, 7, 11)(torch.tensor([[1, 2], [3, 4]]), torch.zeros(2, 7), torch.randn(2, 6, 7))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: runs the cell first, or attends with the state that it returns.",
    kind="silent",
)
