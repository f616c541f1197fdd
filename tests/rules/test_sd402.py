"""SD402: a softmax over an axis that has size 1 on purpose."""

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
    "the output of Linear(d, 1)": """
class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, states):
        logits = self.score(torch.tanh(states))
        weights = F.softmax(logits, dim=-1)  # <- SD402
        return (weights * states).sum(dim=1)

Pool(8)(torch.randn(2, 5, 8))
""",
    "the query's axis": """
def attend(state, memory):
    B, T, D = memory.shape
    logits = torch.bmm(state.unsqueeze(1), memory.transpose(1, 2))
    weights = logits.softmax(dim=1)  # <- SD402
    return torch.bmm(weights, memory).squeeze(1)

attend(torch.randn(2, 8), torch.randn(2, 5, 8))
""",
    "keepdims, in NumPy": """
def soft(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

def pool(x, w):
    logits = (x * w).sum(axis=2, keepdims=True)
    return (soft(logits) * x).sum(axis=1)  # <- SD402

pool(np.zeros((2, 5, 8)), np.zeros(8))
""",
    "a scorer in a Sequential, without driver": """
class Pool(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(d, d), nn.Tanh(), nn.Linear(d, 1))
        self.normalise = nn.Softmax(dim=2)  # <- SD402

    def forward(self, x):
        b, t, d = x.shape
        return (self.normalise(self.score(x)) * x).sum(1)
""",
    "scores of one learned column": """
class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Parameter(torch.randn(width, 1))

    def forward(self, memory):
        B, N, width = memory.shape
        weights = (memory @ self.query).softmax(-1)  # <- SD402
        return (weights * memory).sum(1)
""",
    "a batch of one that the code writes": """
class Decoder(nn.Module):
    def __init__(self, d, steps):
        super().__init__()
        self.d = d
        self.score = nn.Linear(d * 2, steps)

    def forward(self, token, hidden, memory):
        embedded = token.view(1, 1, self.d)
        scores = self.score(torch.cat((embedded[0], hidden[0]), 1))
        weights = F.softmax(scores, dim=0)  # <- SD402
        return torch.bmm(weights.unsqueeze(0), memory.unsqueeze(0))
""",
    "one key for a module, and the query of another tensor": """
class Fusion(nn.Module):
    def __init__(self, d, d_place, n_heads):
        super().__init__()
        self.place = nn.Linear(d_place, d)
        self.attend = nn.MultiheadAttention(d, n_heads, batch_first=True)

    def forward(self, features, place):
        query = self.place(place).unsqueeze(1)
        memory = features.unsqueeze(1)
        context, _ = self.attend(query, memory, memory)  # <- SD402
        return context.squeeze(1)

Fusion(8, 4, 2)(torch.randn(3, 8), torch.randn(3, 4))
""",
    "one key for the function": """
def fuse(x, image):
    B, T, d = x.shape
    key = image[:, None]
    return F.scaled_dot_product_attention(x, key, key)  # <- SD402

fuse(torch.randn(3, 5, 8), torch.randn(3, 8))
""",
}

RIGHT = {
    "shares of modalities, of which there may be one": """
class Mixer(nn.Module):
    def __init__(self, d, sizes):
        super().__init__()
        self.count = len(sizes)
        self.ask, self.score = nn.Linear(d, d), nn.Linear(d, 1, bias=False)

    def forward(self, parts):
        weights = []
        for i in range(self.count):
            weights.append(self.score(torch.tanh(self.ask(parts[i]))))
        weights = F.softmax(torch.cat(weights, dim=1), dim=1)
        return torch.bmm(weights.unsqueeze(1), torch.stack(parts, dim=1)).squeeze(1)

class Reader(nn.Module):
    def __init__(self, d, count=1):
        super().__init__()
        self.mixer = Mixer(d, [d] * count)

    def forward(self, states):
        return self.mixer(states if isinstance(states, list) else [states])

Reader(8)(torch.randn(2, 8))
""",
    "over the keys, the 1 stays": """
class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, states):
        return (F.softmax(self.score(states), dim=1) * states).sum(dim=1)

Pool(8)(torch.randn(2, 5, 8))
""",
    "a batch of one": """
def attend(q, k, v):
    return F.softmax(q @ k.transpose(0, 1), dim=1) @ v

attend(torch.randn(1, 8), torch.randn(1, 8), torch.randn(1, 8))
""",
    "one key that a caller passes": """
def attend(q, k, v):
    return F.softmax(q @ k.transpose(1, 2), dim=-1) @ v

x = torch.randn(2, 8)
attend(torch.randn(2, 5, 8), x.unsqueeze(1), x.unsqueeze(1))
""",
    "one class by default": """
class Head(nn.Module):
    def __init__(self, d, n_classes=1):
        super().__init__()
        self.out = nn.Linear(d, n_classes)

    def forward(self, x):
        return self.out(x).softmax(dim=-1)
""",
    "a window of one by default": """
class Windows(nn.Module):
    def __init__(self, dim, ws=1):
        super().__init__()
        self.ws = ws
        self.q, self.k = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q = self.q(x).reshape(B, N // self.ws, self.ws, C)
        k = self.k(x).reshape(B, N // self.ws, self.ws, C)
        return (q @ k.transpose(-2, -1)).softmax(dim=-1)
""",
    "a mapped memory of unknown rank": """
class Additive(nn.Module):
    def __init__(self, units, size):
        super().__init__()
        self.a, self.b, self.v = nn.Linear(size, units), nn.Linear(size, units), nn.Linear(units, 1)

    def forward(self, query, values):
        query = torch.squeeze(query, 0)
        score = self.v(torch.tanh(self.a(values) + self.b(torch.unsqueeze(query, 1))))
        weights = F.softmax(score, dim=1)
        return (weights * values).sum(1)
""",
    "one step that attends to itself, and a key that a caller passes": """
class Block(nn.Module):
    def __init__(self, d, n_heads):
        super().__init__()
        self.attend = nn.MultiheadAttention(d, n_heads, batch_first=True)
        self.ask = nn.MultiheadAttention(d, n_heads, batch_first=True, add_zero_attn=True)

    def forward(self, x, memory):
        x = x + self.attend(x, memory, memory)[0]
        one = x[:, 0].unsqueeze(1)
        return self.attend(one, one, one)[0] + self.ask(x, one, one)[0]

def step(block, x, memory):
    return block(x, memory.unsqueeze(1))

step(Block(8, 2), torch.randn(3, 5, 8), torch.randn(3, 8))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD401", "SD402") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD401", "SD402") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["the query's axis"], "SD401", "SD402") + "\n" == MESSAGE


MESSAGE = """\
error[SD402] softmax-over-singleton: softmax over an axis of size 1 of logits (2, 1, 5): every weight is 1
  --> model.py:10:34
   |
 9 |     logits = torch.bmm(state.unsqueeze(1), memory.transpose(1, 2))
   |                        ------------------ the axis of size 1 is made here
10 |     weights = logits.softmax(dim=1)  # <- SD402
   |                                  ^ logits is (2, 1, 5)
13 | attend(torch.randn(2, 8), torch.randn(2, 5, 8))
   | ----------------------------------------------- in this call of `attend`
   = why: a softmax shares 1 among the elements of its axis; one element gets all of it, whatever its score is
   = note: no gradient reaches the scores
   = help: normalise the axis of the keys: `dim=-1`
   = more: shapedoc explain SD402
"""


def test_a_vector_of_parameters_makes_one_score_for_each_row() -> None:
    text = """
import torch
import torch.nn as nn

class Pool(nn.Module):
    def __init__(self, d_h):
        super().__init__()
        self.direction = nn.Parameter(torch.zeros(d_h, 1))

    def forward(self, memory):
        batch_size, T_enc, d_h = memory.shape
        weights = (memory @ self.direction).softmax(-1)  # <- SD402
        return (weights * memory).sum(1)

class Right(nn.Module):
    def __init__(self, d_h):
        super().__init__()
        self.direction = nn.Parameter(torch.zeros(d_h, 1))

    def forward(self, memory):
        batch_size, T_enc, d_h = memory.shape
        weights = (memory @ self.direction).softmax(1)
        return (weights * memory).sum(1)
"""
    assert found(text, "SD402") == expected(text)
