"""SD304: additive scores without a nonlinearity."""

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
    "copies of the query beside the memory, the padding filled row by row": """
class Concat(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.d = d
        self.score = nn.Linear(d_in + 3 * d, 1)

    def forward(self, memory, x, state):
        state = state.view(-1, 1, self.d)
        queries = torch.cat([x, state], dim=-1).repeat(1, memory.size(1), 1)
        scores = self.score(torch.cat([queries, memory], dim=-1))  # <- note SD304
        for i, n in enumerate((memory != 0).any(-1).sum(-1).tolist()):
            scores[i, n:] = -float("inf")
        weights = torch.softmax(scores, dim=1)
        return torch.sum(weights * memory, dim=1)
""",
    "a state of unknown rank, copied for every key": """
class Attn(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attn, self.v = nn.Linear(2 * width, width), nn.Parameter(torch.rand(width))

    def forward(self, hidden, memory):
        T = memory.size(0)
        states = hidden.repeat(T, 1, 1).transpose(0, 1)
        memory = memory.transpose(0, 1)
        energy = self.attn(torch.cat([states, memory], 2)).transpose(2, 1)  # <- SD304
        v = self.v.repeat(memory.size(0), 1).unsqueeze(1)
        return F.softmax(torch.bmm(v, energy).squeeze(1), dim=1)
""",
    "a sum": """
class Attention(nn.Module):
    def __init__(self, enc, dec, units):
        super().__init__()
        self.w1, self.w2, self.v = nn.Linear(enc, units), nn.Linear(dec, units), nn.Linear(units, 1)

    def forward(self, features, hidden):
        e = self.w1(features) + self.w2(hidden).unsqueeze(1)  # <- SD304
        a = F.softmax(self.v(e).squeeze(-1), dim=1)
        return (a.unsqueeze(-1) * features).sum(1)

Attention(8, 4, 6)(torch.randn(2, 5, 8), torch.randn(2, 4))
""",
    "a concatenation, time first": """
class Attention(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.attn, self.v = nn.Linear(2 * h, h), nn.Parameter(torch.randn(h))

    def forward(self, hidden, outputs):
        T, B, H = outputs.shape
        both = torch.cat((hidden.expand(T, -1, -1), outputs), 2)  # <- SD304
        scores = (self.attn(both) * self.v).sum(dim=2)
        return F.softmax(scores, dim=0)

Attention(8)(torch.randn(1, 3, 8), torch.randn(5, 3, 8))
""",
    "NumPy": """
def attend(encoder_states, state, W, U, v):
    combined = encoder_states @ U + state @ W  # <- SD304
    scores = combined @ v
    e = np.exp(scores - scores.max())
    return (e / e.sum(axis=0)) @ encoder_states

U, W, v = np.random.randn(8, 6), np.random.randn(4, 6), np.random.randn(6)
attend(np.random.randn(5, 8), np.random.randn(4), W, U, v)
""",
}

WRONG |= {
    "a concatenation that is mapped to scores at once": """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.score = nn.Linear(2 * d, 1)

    def forward(self, state, memory):
        state = state.unsqueeze(1).expand(-1, memory.size(1), -1)
        weights = self.score(torch.cat([state, memory], -1)).softmax(1)  # <- note SD304
        return (weights * memory).sum(1)

Attention(8)(torch.randn(2, 8), torch.randn(2, 5, 8))
""",
    "two vectors of weights": """
class Attention(nn.Module):
    def __init__(self, d_s, d_h):
        super().__init__()
        self.w_s, self.w_h = nn.Parameter(torch.randn(d_s, 1)), nn.Parameter(torch.randn(d_h, 1))

    def forward(self, state, memory):
        scores = state.matmul(self.w_s) + memory.matmul(self.w_h).transpose(1, 2)  # <- SD304
        return scores.softmax(-1) @ memory

Attention(4, 8)(torch.randn(2, 1, 4), torch.randn(2, 5, 8))
""",
    "a method by name, one key after the other": """
class Scorer(nn.Module):
    def __init__(self, kind, d):
        super().__init__()
        self.kind = kind
        if kind == "bilinear":
            self.map = nn.Linear(d, d)
        elif kind == "joined":
            self.map = nn.Linear(2 * d, d)
            self.out = nn.Parameter(torch.randn(1, d))

    def forward(self, state, memory):
        T, B = memory.size(0), memory.size(1)
        scores = torch.zeros(B, T)
        for b in range(B):
            for t in range(T):
                scores[b, t] = self.score(state[:, b], memory[t, b].unsqueeze(0))
        return F.softmax(scores, dim=1)

    def score(self, s, h):
        if self.kind == "plain":
            return s.squeeze(0).dot(h.squeeze(0))
        elif self.kind == "bilinear":
            return s.squeeze(0).dot(self.map(h).squeeze(0))
        elif self.kind == "joined":
            return self.out.squeeze(0).dot(self.map(torch.cat((s, h), 1)).squeeze(0))  # <- SD304
""",
    "a list of scores": """
class Scorer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.score = nn.Linear(2 * d, 1)

    def forward(self, state, memory):
        scores = []
        for t in range(memory.size(1)):
            scores.append(self.score(torch.cat([state[0], memory[:, t]], dim=1)))  # <- note SD304
        return torch.cat(scores, dim=1).softmax(dim=1)

Scorer(8)(torch.randn(1, 2, 8), torch.randn(2, 5, 8))
""",
}

WRONG |= {
    "noise that is one number": """
def choose(query, keys):
    scores = torch.bmm(query, keys)
    return (scores + np.random.gumbel()).softmax(dim=-1).max(dim=-1)  # <- SD304
""",
    "noise in a tensor of one element": """
def choose(scores):
    return F.softmax(scores + torch.randn(1), dim=-1)  # <- SD304
""",
}

RIGHT = {
    "a state of unknown rank, copied for every key, and a tanh": """
class Attn(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attn, self.v = nn.Linear(2 * width, width), nn.Parameter(torch.rand(width))

    def forward(self, hidden, memory):
        T = memory.size(0)
        states = hidden.repeat(T, 1, 1).transpose(0, 1)
        memory = memory.transpose(0, 1)
        energy = torch.tanh(self.attn(torch.cat([states, memory], 2))).transpose(2, 1)
        v = self.v.repeat(memory.size(0), 1).unsqueeze(1)
        return F.softmax(torch.bmm(v, energy).squeeze(1), dim=1)
""",
    "noise for every score": """
def choose(scores, temperature):
    noise = torch.rand_like(scores)
    blurred = torch.sigmoid(scores + torch.randn(1))
    return F.softmax((scores - torch.log(-torch.log(noise))) / temperature, dim=-1), blurred
""",
    "words of a caption, each normalised over the vocabulary": """
class Words(nn.Module):
    def __init__(self, d, V):
        super().__init__()
        self.out = nn.Linear(2 * d, V)

    def forward(self, image, words):
        logits = []
        for t in range(words.size(1)):
            logits.append(self.out(torch.cat([image, words[:, t]], dim=1)))
        return torch.stack(logits, dim=1).softmax(dim=2)

Words(8, 11)(torch.randn(2, 8), torch.randn(2, 5, 8))
""",
    "tanh": """
class Attention(nn.Module):
    def __init__(self, enc, dec, units):
        super().__init__()
        self.w1, self.w2, self.v = nn.Linear(enc, units), nn.Linear(dec, units), nn.Linear(units, 1)

    def forward(self, features, hidden):
        e = torch.tanh(self.w1(features) + self.w2(hidden).unsqueeze(1))
        return F.softmax(self.v(e).squeeze(-1), dim=1)

Attention(8, 4, 6)(torch.randn(2, 5, 8), torch.randn(2, 4))
""",
    "graph attention": """
class Graph(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.left, self.right = nn.Linear(d, 1), nn.Linear(d, 1)

    def forward(self, nodes):
        n, d = nodes.shape
        e = F.leaky_relu(self.left(nodes) + self.right(nodes).transpose(0, 1))
        return F.softmax(e, dim=1) @ nodes

Graph(8)(torch.randn(5, 8))
""",
    "a product and a bias": """
def attend(q, k, v, bias):
    return (q @ k.transpose(1, 2) + bias).softmax(-1) @ v

attend(torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.randn(2, 3, 1))
""",
    "position embeddings": """
class Pool(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.position, self.score = nn.Parameter(torch.zeros(1, n, d)), nn.Linear(d, 1)

    def forward(self, x):
        return self.score(x + self.position).softmax(1)

Pool(8, 5)(torch.randn(2, 5, 8))
""",
    "centred logits": """
def target(logits, centre, temperature):
    return F.softmax((logits - centre) / temperature, dim=-1)
""",
    "relu by a module": """
class Attention(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(2 * h, h), nn.ReLU(), nn.Linear(h, 1))

    def forward(self, state, memory):
        state = state.unsqueeze(1).expand(-1, memory.size(1), -1)
        return self.score(torch.cat([state, memory], -1)).softmax(1)

Attention(8)(torch.randn(2, 8), torch.randn(2, 5, 8))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD304") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD304") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a sum"], "SD304") + "\n" == MESSAGE


MESSAGE = """\
error[SD304] query-cancels-in-softmax: self.w2(hidden).unsqueeze(1) adds the same to every score and cancels: \
no nonlinearity follows the sum
  --> model.py:13:13
   |
13 |         e = self.w1(features) + self.w2(hidden).unsqueeze(1)  # <- SD304
   |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ self.w2(hidden).unsqueeze(1) is (2, 1, units)
   |             ----------------- self.w1(features) differs from key to key
   |                                 ---------------------------- self.w2(hidden).unsqueeze(1) is the same for\
 every key
14 |         a = F.softmax(self.v(e).squeeze(-1), dim=1)
   |             --------------------------------------- the softmax over `5`
17 | Attention(8, 4, 6)(torch.randn(2, 5, 8), torch.randn(2, 4))
   | ----------------------------------------------------------- in this call of `Attention.forward`
   = why: softmax(a + c) is softmax(a): without a nonlinearity over the sum the score is one term of the query\
 plus one of the key, and attention does not depend on the query at all
   = help: put `torch.tanh` around the sum, before the projection to one score
   = more: shapedoc explain SD304
"""
