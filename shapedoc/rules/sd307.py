"""SD307 target-not-shifted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Tensor, Value
from shapedoc.rules.cells import CELLS
from shapedoc.rules.contractions import names, tensor_operands
from shapedoc.rules.encoders import spelled
from shapedoc.rules.flow import SHAPING, Graph, graph
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.wording import call_labels, finding, label, text_of

__all__ = ["RULE"]

_LOSSES = names("cross_entropy CrossEntropyLoss.forward nll_loss NLLLoss.forward")
_CUTS = names("getitem select narrow")
_LAYOUTS = SHAPING - _CUTS - {"roll", "flip", "stack", "phi", "chunk", "split", "unbind", "repeat_interleave"}
# What keeps every position of a decoder's input at its place on the way to its scores.
_ON = _LAYOUTS | names(
    "Linear.forward linear log_softmax LogSoftmax.forward Dropout.forward dropout LayerNorm.forward add mul tanh relu "
    "gelu ReLU.forward Tanh.forward GELU.forward"
)
_LOOKUPS = names("Embedding.forward embedding")


@dataclass(frozen=True, slots=True)
class Cut:
    """A tensor of tokens, and where it was cut: the event or the input that made it, and every index on the way."""

    tensor: int
    cuts: tuple[str, ...]


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for event in trace.events:
        if event.short not in _LOSSES:
            continue
        scores, target = event.operand("input"), event.operand("target")
        if scores is None or target is None:
            continue
        wanted = _cut(g, target.value)
        for lookup, tokens in _decoded(g, scores.value):
            if wanted is not None and _cut(g, tokens.value) == wanted:
                yield _found(trace, event, target, lookup, tokens)
                break


def _cut(g: Graph, value: Value | None) -> Cut | None:
    """Where tokens come from and how they were cut; None where that is not known."""
    cuts: list[str] = []
    for _ in range(60):
        if not isinstance(value, Tensor):
            return None
        event = g.producer(value)
        inner = next(iter(tensor_operands(event)), None) if event is not None else None
        if event is None:
            return Cut(-value.uid, tuple(cuts))
        if event.short in _CUTS and inner is not None:
            # The same number means another step in another round of a loop.
            cuts.append(f"{spelled(event.value('index'))} in {event.loops}")
        elif event.short not in _LAYOUTS or inner is None:
            return None if event.lost else Cut(event.index, tuple(cuts))
        value = inner.value
    return None


def _decoded(g: Graph, value: Value | None) -> Iterator[tuple[Event, Operand]]:
    """The embeddings of a decoder's input, from its scores: through causal steps only, no other sequence, no cut."""
    causal = False
    for _ in range(80):
        event = g.producer(value)
        if event is None:
            return
        operands = tensor_operands(event)
        if event.short in _LOOKUPS:
            tokens = event.operand("input")
            if causal and tokens is not None:
                yield event, tokens
            return
        if event.short in CELLS:
            causal = causal or not _two_way(event)
            if _two_way(event):
                return
            inner = event.operand("input")
        elif event.short == "TransformerDecoder.forward" and event.operand("tgt_mask") is not None:
            causal = True
            inner = event.operand("tgt")
        elif event.short == "cat":
            inner = next((o for o in operands if _leads_to_lookup(g, o)), None)
        elif event.short in _ON:
            inner = next((o for o in operands if _leads_to_lookup(g, o)), None) or next(iter(operands), None)
        else:
            return
        if inner is None:
            return
        value = inner.value


def _two_way(event: Event) -> bool:
    layer = event.value("self")
    config = getattr(layer, "config", {})
    return isinstance(config.get("bidirectional"), Bool) and config["bidirectional"].value is not False


def _leads_to_lookup(g: Graph, operand: Operand) -> bool:
    event = g.producer(operand.value)
    through = _ON | CELLS | _LOOKUPS | {"cat", "TransformerDecoder.forward"}
    return event is not None and any(
        e.short in _LOOKUPS or e.short in CELLS or e.short == "TransformerDecoder.forward"
        for e in g.back(event, lambda e: e.short in through - CELLS)
    )


def _found(trace: Trace, event: Event, target: Operand, lookup: Event, tokens: Operand) -> Finding:
    text = text_of(trace, target)
    return finding(
        trace,
        event,
        target.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"the decoder is fed the very tokens that it is asked to predict: {text}",
        tensor=text,
        labels=label(lookup.span, f"{text_of(trace, tokens)} goes in here") + call_labels(event),
        why="at step t a decoder reads the tokens before t and predicts token t; fed token t it learns to copy",
        help="feed `tokens[:, :-1]`, and compare with `tokens[:, 1:]`",
    )


RULE = Rule(
    code="SD307",
    name="target-not-shifted",
    severity="error",
    summary="Input and target of a decoder are the same tokens, not shifted by one.",
    what="Follows a loss back through a decoder (a cell, a recurrent module, a masked Transformer decoder) to the "
    "tokens that were embedded, and compares where they were cut out with the target's cut.",
    why="The loss falls to nothing, as the answer is in the input, and generation gives nonsense.",
    instead="Feed `tokens[:, :-1]`, and compare with `tokens[:, 1:]`.",
    source="Sutskever et al. 2014, section 2; Vaswani et al. 2017, section 3.1: outputs shifted right.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, vocab, d_emb, d_h):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_emb)
        self.rnn = nn.GRU(d_emb, d_h, batch_first=True)
        self.out = nn.Linear(d_h, vocab)

    def forward(self, tokens, state):
        outputs, state = self.rnn(self.embed(tokens), state)
        return self.out(outputs)


torch.manual_seed(0)
tokens = torch.tensor([[1, 2, 3, 4], [4, 3, 2, 1]])
scores = Decoder(11, 3, 7)(tokens, torch.zeros(1, 2, 7))
result = nn.CrossEntropyLoss()(scores.reshape(-1, 11), tokens.reshape(-1))  # <- SD307
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, vocab, d_emb, d_h):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_emb)
        self.rnn = nn.GRU(d_emb, d_h, batch_first=True)
        self.out = nn.Linear(d_h, vocab)

    def forward(self, tokens, state):
        outputs, state = self.rnn(self.embed(tokens), state)
        return self.out(outputs)


torch.manual_seed(0)
tokens = torch.tensor([[1, 2, 3, 4], [4, 3, 2, 1]])
scores = Decoder(11, 3, 7)(tokens[:, :-1], torch.zeros(1, 2, 7))
result = nn.CrossEntropyLoss()(scores.reshape(-1, 11), tokens[:, 1:].reshape(-1))
"""
        ),
    ),
    check=check,
    kind="silent",
)
