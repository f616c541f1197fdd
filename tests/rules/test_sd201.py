"""SD201: tensors with fewer axes that are broadcast along axes that are not their own."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "the smallest of the largest, of every row at once": """
class Writer(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.words, self.out = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)

    def choose(self, tokens, k):
        B, T = tokens.shape
        logits = self.out(self.words(tokens))[:, -1, :]
        largest, _ = torch.topk(logits, k)
        return logits.masked_fill(logits < largest[:, -1], float("-inf"))  # <- SD201
""",
    "the smallest of the largest, whatever the rank": """
def choose(logits, k):
    largest, _ = torch.topk(logits, k)
    logits[logits < largest[:, -1]] = float("-inf")  # <- SD201
    return logits
""",
    "the first entry of every row, whatever the rank": """
def from_first(x):
    return x - x[:, 0]  # <- SD201
""",
    "a state beside time steps, batch first": """
class Score(nn.Module):
    def __init__(self, d_s, d_h, d_a):
        super().__init__()
        self.w = nn.Linear(d_s, d_a)
        self.u = nn.Linear(d_h, d_a)

    def forward(self, state, memory):
        B, T, _ = memory.size()
        B, _ = state.size()
        return torch.tanh(self.u(memory) + self.w(state))  # <- SD201
""",
    "a decoder cell's state beside what an encoder gives": """
class Model(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.cell = nn.GRUCell(width, width)
        self.v = nn.Linear(width, 1)

    def forward(self, source, step):
        B, T = source.shape
        memory, last = self.encoder(self.embed(source))
        state = self.cell(step, last.squeeze(0))
        return self.v(torch.tanh(memory + state))  # <- SD201
""",
    "lengths beside a table of batch and time": """
def scale(scores, lengths):
    B, T = scores.shape
    lengths = lengths.view(B)
    return scores / lengths  # <- SD201
""",
    "gates in numpy": """
def gate(memory, g):
    batch, T, d = memory.shape
    batch, d = g.shape
    return memory * g  # <- SD201
""",
    "scores of hypotheses along the classes": """
def beam_search(model, state, width, steps):
    scores = torch.zeros(width)
    for _ in range(steps):
        log_probs = F.log_softmax(model(state), dim=-1)
        total = scores + log_probs  # <- SD201
        scores, best = total.view(-1).topk(width)
        state = state[best % width]
    return scores
""",
    "scores of hypotheses expanded along the classes": """
def beam_search(model, state, width, steps):
    scores = torch.zeros(1)
    for _ in range(steps):
        log_probs = F.log_softmax(model(state), dim=-1)
        total = (scores.expand_as(log_probs) + log_probs).view(-1)  # <- SD201
        best, places = total.topk(width)
        kept = []
        for score, place in zip(best, places):
            kept.append(score.item())
        scores = torch.tensor(kept)
    return scores
""",
    "a beam's indices expanded along its steps": """
def reorder(sequences, beams):
    n, k, steps = sequences.shape
    n, k = beams.shape
    return sequences.gather(1, beams.expand_as(sequences))  # <- SD201
""",
}

RIGHT = {
    "an entry whose axis is kept": """
def choose(logits, k):
    largest, _ = torch.topk(logits, k)
    logits[logits < largest[:, [-1]]] = float("-inf")
    return logits - logits[:, :1] - logits[:, 0, None] - logits[:, 0].unsqueeze(1)
""",
    "the first row, and the last feature of each": """
def from_first(x):
    return (x - x[0]) * (x - x[..., -1:])
""",
    "an entry of what is a square of distances": """
def centred(x):
    n, d = x.shape
    gaps = (x[:, None] - x[None]).pow(2).sum(-1)
    return gaps - gaps.diagonal() - gaps[0]
""",
    "the axis is inserted": """
def score(state, memory, w, u):
    B, T, d = memory.shape
    B, d = state.shape
    return torch.tanh(memory @ u + (state @ w).unsqueeze(1))
""",
    "time first": """
def score(state, memory):
    T, B, d = memory.shape
    B, d = state.shape
    return memory + state
""",
    "a gate of one number for each example": """
def gate(context, g):
    B, d = context.shape
    return context * g.view(B, 1)
""",
    "a bias and a scale per feature": """
class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(self, x):
        B, T, d = x.shape
        return x * self.gain + x.mean(dim=(0, 1))
""",
    "a mask of square scores": """
def attend(x):
    B, T, d = x.shape
    scores = x @ x.transpose(1, 2) / d**0.5
    mask = torch.ones(T, T, dtype=torch.bool).triu(1)
    return scores.masked_fill(mask, float("-inf")).softmax(-1) @ x
""",
    "a key bias on square scores": """
def attend(x, w):
    T, d = x.shape
    bias = x @ w.view(d)
    scores = x @ x.transpose(0, 1) / d**0.5
    return (scores + bias).softmax(-1) @ x
""",
    "per head scales": """
def scale(x, temperature):
    B, H, T, d = x.shape
    return x * temperature.view(H, 1, 1)
""",
    "nothing is known": """
def add(x, y):
    return x + y
""",
    "scores of hypotheses, one for all classes": """
def beam_search(model, state, width, steps):
    scores = torch.zeros(width)
    for _ in range(steps):
        log_probs = F.log_softmax(model(state), dim=-1)
        total = scores.unsqueeze(1).expand_as(log_probs) + log_probs
        scores, best = total.view(-1).topk(width)
        state = state[best % width]
    return scores
""",
    "a penalty for each class": """
def beam_search(model, state, width, steps, penalty):
    bias = torch.tensor([0.0, 0.0, -1.0])
    scores = torch.zeros(width)
    for _ in range(steps):
        log_probs = F.log_softmax(model(state), dim=-1) + bias
        scores, best = (scores[:, None] + log_probs).view(-1).topk(width)
        state = state[best % width]
    return scores
""",
    "a beam's indices expanded along their own axes": """
def reorder(sequences, beams):
    n, k, steps = sequences.shape
    n, k = beams.shape
    return sequences.gather(1, beams.unsqueeze(-1).expand_as(sequences))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD201", "SD102", "SD204", "SD202") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD201", "SD102", "SD204", "SD202", "SD205") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["gates in numpy"], "SD201") + "\n" == MESSAGE


MESSAGE = """\
error[SD201] silent-broadcast: g (batch, d) is repeated along memory (batch, T, d): its `batch` lines up with `T`
  --> model.py:10:21
   |
10 |     return memory * g  # <- SD201
   |                     ^ g is (batch, d), should be (batch, 1, d)
   |            ---------- memory is (batch, T, d)
   = why: axes meet from the right, whatever they are called: a tensor with fewer axes gets the missing ones in front
   = note: runs only if batch == T, and mixes rows then
   = help: g.unsqueeze(1)
   = more: shapedoc explain SD201
"""
