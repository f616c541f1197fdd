"""SD307 target-not-shifted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Int, NoneValue, Seq, SliceValue, Tensor, Value
from shapedoc.rules.reading.cells import CELLS
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.encoders import is_whole, spelled
from shapedoc.rules.reading.flow import SHAPING, Graph, graph
from shapedoc.rules.reading.masks import masks
from shapedoc.rules.reading.sinks import mask_sinks
from shapedoc.rules.reading.wording import call_labels, finding, label, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_LOSSES = names("cross_entropy CrossEntropyLoss.forward nll_loss NLLLoss.forward")
_CUTS = names("getitem select narrow")
_LAYOUTS = SHAPING - _CUTS - {"roll", "flip", "stack", "phi", "chunk", "split", "unbind", "repeat_interleave"}
# What keeps every position of a decoder's input at its place on the way to its scores.
_ON = _LAYOUTS | names(
    "Linear.forward linear log_softmax LogSoftmax.forward Dropout.forward dropout LayerNorm.forward add mul tanh relu "
    "gelu ReLU.forward Tanh.forward GELU.forward"
)
_TRANSFORMERS = names("TransformerDecoder.forward Transformer.forward")
_LOOKUPS = names("Embedding.forward embedding")


@dataclass(frozen=True, slots=True)
class Cut:
    """A tensor of tokens, and where it was cut: the event or the input that made it, and every index on the way.

    at: the events that cut it, the last first; they say where, not what.
    """

    tensor: int
    cuts: tuple[str, ...]
    at: tuple[Event, ...] = field(default=(), compare=False)


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    seen: set[Span] = set()
    for event in trace.events:
        if event.short not in _LOSSES:
            continue
        scores, target = event.operand("input"), event.operand("target")
        if scores is None or target is None or event.span in seen:
            continue
        wanted = _cut(g, target.value)
        found = _fed(trace, g, scores.value, wanted) if wanted is not None else None
        if found is not None and wanted is not None:
            seen.add(event.span)
            yield _found(trace, event, target, wanted, *found)
        elif _first_slot(g, scores.value):
            seen.add(event.span)
            yield _never_written(trace, event, scores)


def _fed(trace: Trace, g: Graph, scores: Value, wanted: Cut) -> tuple[Event, Operand] | None:
    """What is fed with the very tokens that are wanted: an embedding, or a model of which nothing is known."""
    for lookup, tokens, step in _decoded(trace, g, scores):
        cut = _cut(g, tokens.value)
        if cut is not None and step and cut.cuts:
            cut = Cut(cut.tensor, cut.cuts[1:], cut.at[1:]) if _is_first(cut.at[0]) else None
        if cut == wanted:
            return lookup, tokens
    call = g.producer(scores) or next(iter(g.producers(scores)), None)
    call = g.origin(call, _LAYOUTS) if call is not None else None
    if call is None or not call.lost or not any(_shift(e) for e in wanted.at):
        return None
    given = next((o for o in call.operands if isinstance(o.value, Tensor) and _cut(g, o.value) == wanted), None)
    return (call, given) if given is not None else None


def _is_first(event: Event) -> bool:
    """Whether a step is taken at place 0, in the first round of a loop."""
    index = event.value("index")
    parts = index.items if isinstance(index, Seq) else (index,)
    return any(isinstance(p, Int) and p.value == 0 for p in parts)


def _shift(event: Event) -> str:
    """Which end of a sequence a slice leaves out: "first", "last", or "" where it is no shift by one."""
    index = event.value("index")
    for part in index.items if isinstance(index, Seq) else (index,):
        if isinstance(part, SliceValue):
            if isinstance(part.lower, Int) and part.lower.value == 1 and isinstance(part.upper, NoneValue):
                return "first"
            if isinstance(part.upper, Int) and part.upper.value == -1:
                return "last"
    return ""


def _cut(g: Graph, value: Value | None) -> Cut | None:
    """Where tokens come from and how they were cut; None where that is not known."""
    cuts: list[str] = []
    at: list[Event] = []
    for _ in range(60):
        if not isinstance(value, Tensor):
            return None
        event = g.producer(value)
        inner = next(iter(tensor_operands(event)), None) if event is not None else None
        if event is None:
            return Cut(-value.uid, tuple(cuts), tuple(at))
        if event.short in _CUTS and inner is not None:
            # The same number means another step in another round of a loop.
            cuts.append(f"{spelled(event.value('index'))} in {event.loops}")
            at.append(event)
        elif event.short not in _LAYOUTS or inner is None:
            return None if event.lost else Cut(event.index, tuple(cuts), tuple(at))
        value = inner.value
    return None


def _decoded(trace: Trace, g: Graph, value: Value | None) -> Iterator[tuple[Event, Operand, bool]]:
    """The embeddings of a decoder's input, from its scores: through causal steps only, no other sequence, no cut.

    With each, whether the scores were stacked step by step.
    """
    causal, step = False, False
    for _ in range(200):
        event = g.producer(value)
        if event is None:
            return
        operands = tensor_operands(event)
        if event.short in _LOOKUPS:
            tokens = event.operand("input")
            if (causal or _is_masked(trace, g, event)) and tokens is not None:
                yield event, tokens, step
            return
        if event.short in CELLS:
            causal = causal or not _two_way(event)
            if _two_way(event):
                return
            inner = event.operand("input")
        elif event.short in _TRANSFORMERS and event.operand("tgt_mask") is not None:
            causal = True
            inner = event.operand("tgt")
        elif event.short == "stack" and not step:
            step, value = True, _first_of(g, event)
            continue
        elif event.short == "cat":
            inner = next((o for o in operands if _leads_to_lookup(g, o)), None)
        elif event.short in _ON:
            inner = next((o for o in operands if _leads_to_lookup(g, o)), None) or next(iter(operands), None)
        else:
            return
        if inner is None:
            return
        value = inner.value


def _first_of(g: Graph, event: Event) -> Value | None:
    """What the first round of a loop put into the list that is stacked."""
    value = event.value("tensors")
    if isinstance(value, Seq):
        value = value.items[0] if value.items else value.rest
    made = g.producer(value)
    return made.operands[0].value if made is not None and made.short == "phi" and made.operands else value


def _is_masked(trace: Trace, g: Graph, lookup: Event) -> bool:
    """Whether what was looked up is attended to under a causal mask."""
    reached = {e.index for e in g.forward(lookup, lambda e: not e.lost)}
    for sink in mask_sinks(trace):
        if sink.event.index in reached:
            meaning = masks(trace).of(sink.mask.value)
            if meaning is not None and meaning.kind in ("causal", "both"):
                return True
    fused = (e for e in trace.events if e.short == "scaled_dot_product_attention" and e.index in reached)
    return any(isinstance(v := e.value("is_causal"), Bool) and v.value is True for e in fused)


def _two_way(event: Event) -> bool:
    layer = event.value("self")
    config = getattr(layer, "config", {})
    return isinstance(config.get("bidirectional"), Bool) and config["bidirectional"].value is not False


def _leads_to_lookup(g: Graph, operand: Operand) -> bool:
    event = g.producer(operand.value)
    through = _ON | CELLS | _LOOKUPS | _TRANSFORMERS | {"cat"}
    return event is not None and any(
        e.short in _LOOKUPS or e.short in CELLS or e.short in _TRANSFORMERS
        for e in g.back(event, lambda e: e.short in through - CELLS)
    )


def _found(trace: Trace, event: Event, target: Operand, wanted: Cut, lookup: Event, tokens: Operand) -> Finding:
    text = text_of(trace, target)
    place = _fault(trace, event, target, wanted, lookup, tokens)
    return finding(
        trace,
        event,
        place,
        code=RULE.code,
        name=RULE.name,
        severity="warning" if lookup.lost else "error",
        message=f"the decoder is fed the very tokens that it is asked to predict: {text}",
        tensor=text,
        labels=label(lookup.span, f"{text_of(trace, tokens)} goes in here")
        + label(target.span, f"{text} is to be predicted")
        + call_labels(event),
        why="at step t a decoder reads the tokens before t and predicts token t; fed token t it learns to copy",
        help="feed `tokens[:, :-1]`, and compare with `tokens[:, 1:]`",
    )


def _fault(trace: Trace, event: Event, target: Operand, wanted: Cut, lookup: Event, tokens: Operand) -> Span | None:
    """The target, where the last token is left out of both or it is one step; else where the tokens are fed."""
    slices = [e for e in wanted.at if not e.span.path]
    if slices and all(_shift(e) != "first" for e in slices):
        whole = [e for e in slices if not _is_step(e)]
        return whole[0].span if whole else target.span
    shared = {call.id for call in event.calls}
    for call in lookup.calls:
        if call.id not in shared:
            return call.span if call.span.line and not call.span.path else target.span
    if lookup.lost:
        return lookup.span
    return tokens.span if tokens.span is not None and not tokens.span.path else target.span


def _is_step(event: Event) -> bool:
    index = event.value("index")
    parts = index.items if isinstance(index, Seq) else (index,)
    return not any(isinstance(p, SliceValue) and not is_whole(p) for p in parts)


def _first_slot(g: Graph, scores: Value) -> bool:
    """Whether scores are a buffer of zeros that a loop fills from place 1 on, all of it."""
    event = g.producer(scores)
    while event is not None and event.short in _LAYOUTS | {"phi"}:
        event = g.main_source(event)
    rounds: list[Event] = []
    while event is not None and (event.short == "setitem" or (event.short == "phi" and rounds)):
        if event.short == "setitem":
            rounds.append(event)
        event = g.main_source(event)
    if event is None or event.short not in ("zeros", "new_zeros") or not rounds or not rounds[-1].loops:
        return False
    index = rounds[-1].value("index")
    parts = index.items if isinstance(index, Seq) else (index,)
    numbers = [p.value for p in parts if isinstance(p, Int)]
    return numbers == [1]


def _never_written(trace: Trace, event: Event, scores: Operand) -> Finding:
    text = text_of(trace, scores)
    return finding(
        trace,
        event,
        scores.span,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"place 0 of {text} is never written, and the loss counts its zeros",
        tensor=text,
        labels=call_labels(event),
        why="the loop begins at place 1, as the first token is given: scores that are all 0 say that every word is as "
        "likely, and the loss never falls below what they cost",
        help="leave the first place out of both: `outputs[1:]` and `tokens[1:]`",
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
scores = Decoder(11, 3, 7)(tokens, torch.zeros(1, 2, 7))  # <- SD307
result = nn.CrossEntropyLoss()(scores.reshape(-1, 11), tokens.reshape(-1))
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
    fix="Unsafe, since it changes results: shifts input or target by one.",
    kind="silent",
)
