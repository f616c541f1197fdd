"""SD304 query-cancels-in-softmax."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.decoding.key_by_key import linear_scores
from shapedoc.rules.decoding.noise import one_number_for_all
from shapedoc.rules.reading.attention import LINEAR, Score, score_of
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import KEEPS, Graph, graph
from shapedoc.rules.reading.softmaxes import Softmax, softmaxes
from shapedoc.rules.reading.wording import call_labels, finding, label, named, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_COMPARES = names("max amax logsumexp softmax Softmax.forward sigmoid Sigmoid.forward topk argmax")


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for softmax in softmaxes(trace):
        if softmax.kind == "sum" or softmax.event.doubtful:
            continue
        score = score_of(g, softmax)
        if score is None or score.event.doubtful:
            continue
        if score.form == "linear" and not _counts_elsewhere(g, score.event, softmax):
            yield _found(trace, softmax, score)
    for found in linear_scores(trace):
        score = Score("linear", found.event, (found.query,), (found.key,), found.maps)
        yield _found(trace, found.softmax, score)
    for event, noise, taker in one_number_for_all(trace):
        yield _noise(trace, event, noise, taker)


def _noise(trace: Trace, event: Event, noise: Operand, softmax: Event) -> Finding:
    text = text_of(trace, noise)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{text} is one number: it adds the same to every score and cancels",
        tensor=text,
        labels=label(softmax.span, "the softmax") + call_labels(event),
        why="softmax(a + c) is softmax(a), and the largest score stays the largest: noise has to be drawn for every "
        "score",
        help="draw as many numbers as there are scores: `torch.rand_like(scores)`, or `size=scores.shape`",
    )


def _counts_elsewhere(g: Graph, event: Event, softmax: Softmax) -> bool:
    """Whether the scores are also compared along another axis, where what is the same for every key here is not."""
    users = g.forward(event, lambda e: e.short in KEEPS or e.short in LINEAR)
    return any(e.short in _COMPARES and e is not softmax.event for e in users)


def _found(trace: Trace, softmax: Softmax, score: Score) -> Finding:
    event = score.event
    query, memory = named(trace, score.query[0]), named(trace, score.memory[0])
    sizes = softmax.event.sizes
    keys = sizes.show(softmax.axis.dim) if sizes is not None and softmax.axis is not None else ""
    numpy = isinstance(event.result, Tensor) and event.result.library == "numpy"
    tanh = "np.tanh" if numpy else "torch.tanh"
    meet = "concatenation" if event.short == "cat" else "sum"
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="note" if event.short == "cat" and score.maps < 2 else "error",
        message=f"{query} adds the same to every score and cancels: no nonlinearity follows the {meet}",
        tensor=query,
        actual=shape_text(event, score.query[0].shape),
        labels=label(softmax.event.span, f"the softmax over `{keys}`" if keys and "?" not in keys else "the softmax")
        + label(score.query[0].span, f"{query} is the same for every key")
        + label(score.memory[0].span, f"{memory} differs from key to key")
        + call_labels(event),
        why="softmax(a + c) is softmax(a): without a nonlinearity over the sum the score is one term of the query plus "
        "one of the key, and attention does not depend on the query at all",
        help=f"put `{tanh}` around the {meet}, before the projection to one score",
    )


RULE = Rule(
    code="SD304",
    name="query-cancels-in-softmax",
    severity="error",
    summary="An additive score without a nonlinearity: the query's part is the same for every key and cancels.",
    what="Looks for scores that are a linear map of a sum or a concatenation of query and memory, with no "
    "nonlinearity between the sum and the softmax, be they worked out for all keys at once or for one after the other: "
    "a note where the concatenation is mapped to scores at once, as some tutorials do. Noise that is one number for "
    "all scores cancels too, and is reported.",
    why="A softmax does not change when the same number is added to all scores. Without the tanh, the query adds such "
    "a number: the weights are the same at every decoder step, whatever the state is.",
    instead="`scores = v(torch.tanh(W(query).unsqueeze(1) + U(memory)))`.",
    source="Bahdanau et al. 2015, appendix A.1.2; Luong et al. 2015, section 3.1 (concat).",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Additive(nn.Module):
    def __init__(self, d_s, d_h, d_attn):
        super().__init__()
        self.W = nn.Linear(d_s, d_attn)
        self.U = nn.Linear(d_h, d_attn)
        self.v = nn.Linear(d_attn, 1)

    def forward(self, state, memory):
        scores = self.v(self.W(state).unsqueeze(1) + self.U(memory))  # <- SD304
        weights = torch.softmax(scores, dim=1)
        return (weights * memory).sum(dim=1)


torch.manual_seed(0)
result = Additive(4, 7, 5)(torch.randn(2, 4), torch.randn(2, 3, 7))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Concat(nn.Module):
    def __init__(self, d_s, d_h, d_attn):
        super().__init__()
        self.attn = nn.Linear(d_s + d_h, d_attn)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def forward(self, state, memory):
        T_enc = memory.size(1)
        state = state.unsqueeze(1).repeat(1, T_enc, 1)
        energy = self.attn(torch.cat((state, memory), dim=2))  # <- SD304
        weights = torch.softmax(self.v(energy).squeeze(2), dim=1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


torch.manual_seed(0)
result = Concat(4, 7, 5)(torch.randn(2, 4), torch.randn(2, 3, 7))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Additive(nn.Module):
    def __init__(self, d_s, d_h, d_attn):
        super().__init__()
        self.W = nn.Linear(d_s, d_attn)
        self.U = nn.Linear(d_h, d_attn)
        self.v = nn.Linear(d_attn, 1)

    def forward(self, state, memory):
        scores = self.v(torch.tanh(self.W(state).unsqueeze(1) + self.U(memory)))
        weights = torch.softmax(scores, dim=1)
        return (weights * memory).sum(dim=1)


torch.manual_seed(0)
result = Additive(4, 7, 5)(torch.randn(2, 4), torch.randn(2, 3, 7))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Concat(nn.Module):
    def __init__(self, d_s, d_h, d_attn):
        super().__init__()
        self.attn = nn.Linear(d_s + d_h, d_attn)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def forward(self, state, memory):
        T_enc = memory.size(1)
        state = state.unsqueeze(1).repeat(1, T_enc, 1)
        energy = torch.tanh(self.attn(torch.cat((state, memory), dim=2)))
        weights = torch.softmax(self.v(energy).squeeze(2), dim=1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


torch.manual_seed(0)
result = Concat(4, 7, 5)(torch.randn(2, 4), torch.randn(2, 3, 7))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: puts `tanh` around the sum, before it is projected.",
    kind="silent",
)
