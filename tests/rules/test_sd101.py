"""SD101: the sizes that a product sums over."""

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
    "states with time in front, beside weights with the batch in front": """
class Reader(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.score = nn.Linear(d, 1)

    def forward(self, states):
        weights = torch.softmax(self.score(states).squeeze(2).t(), dim=1)
        return weights.unsqueeze(1).bmm(states)  # <- SD101
""",
    "a forgotten transpose, batch first": """
def attend(q, k, v):
    n, len_q, width = q.shape
    n, len_k, width = k.shape
    logits = torch.matmul(q, k)  # <- SD101
    return torch.matmul(logits.softmax(-1), v)
""",
    "a forgotten transpose in NumPy, numbers from the driver": """
def logits(states, keys):
    return states @ keys  # <- SD101

logits(np.zeros((4, 6)), np.zeros((9, 6)))
""",
    "a forgotten transpose of heads": """
class Heads(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.count = count
        self.size = width // count
        self.to_q = nn.Linear(width, width)
        self.to_k = nn.Linear(width, width)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.to_q(x).view(b, t, self.count, self.size).transpose(1, 2)
        k = self.to_k(x).view(b, t, self.count, self.size).transpose(1, 2)
        return q @ k  # <- SD101
""",
    "a weight built the other way round": """
class Bilinear(nn.Module):
    def __init__(self, state_size, memory_size):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(memory_size, state_size))  # <- SD101

    def forward(self, state, memory):
        return torch.bmm(memory, torch.matmul(state, self.W).unsqueeze(-1)).squeeze(-1)

Bilinear(6, 10)(torch.randn(3, 6), torch.randn(3, 5, 10))
""",
    "rows times a weight that stands on the left": """
class Cell:
    def __init__(self, n_in, n_hidden, rng):
        self.w = rng.normal(size=(n_hidden, n_in))

    def step(self, x):
        return np.tanh(self.w @ x)  # <- SD101

Cell(3, 4, np.random.default_rng(0)).step(np.zeros((7, 3)))
""",
    "the general form with a map of the wrong size": """
class General(nn.Module):
    def __init__(self, state_size, memory_size):
        super().__init__()
        self.memory_size = memory_size
        self.map = nn.Linear(state_size, state_size)  # <- SD101
        self.out = nn.Linear(memory_size, 1)

    def forward(self, state, memory):
        logits = torch.bmm(memory, self.map(state).unsqueeze(2)).squeeze(2)
        return logits.softmax(-1)

General(6, 10)(torch.randn(3, 6), torch.randn(3, 5, 10))
""",
    "einsum with one letter for two sizes": """
def mix(weights, values):
    b, q, k = weights.shape
    b, k, d = values.shape
    return torch.einsum("bqk,bdk->bqd", weights, values)  # <- SD101
""",
    "a letter for a size that a comment names as the constructor does": """
class Heads(nn.Module):
    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.W_q = nn.Parameter(torch.randn(n_heads, d_model, d_head))

    def forward(self, query):  # query (B, T, d_model)
        return torch.einsum("btm,hdm->bhtd", query, self.W_q)  # <- SD101
""",
    "bmm over two batches": """
def mix(weights, values):
    steps, b, k = weights.shape
    b, k, d = values.shape
    return torch.bmm(weights, values)  # <- SD101
""",
    "a one that was put there, and a width": """
class Reader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.GRU(width, width, batch_first=True)

    def forward(self, x, weights):
        states, _ = self.cell(x)
        return torch.bmm(states, weights.unsqueeze(1))  # <- SD101
""",
}

RIGHT = {
    "states with time in front, turned beside weights with the batch in front": """
class Reader(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.score = nn.Linear(d, 1)

    def forward(self, states):
        weights = torch.softmax(self.score(states).squeeze(2).t(), dim=1)
        return weights.unsqueeze(1).bmm(states.transpose(0, 1))


def among(x):
    return torch.bmm(x, x.transpose(1, 2)).bmm(x)
""",
    "an outer product": """
class Outer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return torch.bmm(self.a(x).unsqueeze(2), self.b(x).unsqueeze(1))

Outer(4)(torch.randn(2, 4))
""",
    "a letter for a size that a comment names as the constructor does": """
class Heads(nn.Module):
    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.W_q = nn.Parameter(torch.randn(n_heads, d_model, d_head))

    def forward(self, query):  # query (B, T, d_model)
        return torch.einsum("btm,hmd->bhtd", query, self.W_q)
""",
    "a comment that calls an axis as the constructor calls something else": """
class Mix(nn.Module):
    def __init__(self, n, dim):
        super().__init__()
        self.parts = nn.Parameter(torch.randn(n, dim))
        self.map = nn.Linear(dim, dim)

    def forward(self, x):  # x (b, n, dim)
        return self.map(x) @ self.parts.t()
""",
    "attention in its parts": """
def attend(q, k, v):
    n, len_q, width = q.shape
    n, len_k, width = k.shape
    return torch.matmul(torch.matmul(q, k.transpose(-2, -1)).softmax(-1), v)

attend(torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8))
""",
    "a matrix that both batches share": """
def project(x, w):
    b, t, d = x.shape
    return x @ w

project(torch.randn(2, 3, 8), torch.randn(8, 5))
""",
    "linear attention": """
def linear_attention(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    kv = torch.einsum("btd,bte->bde", k, v)
    norm = torch.einsum("btd,bd->bt", q, k.sum(dim=1))
    return torch.einsum("btd,bde->bte", q, kv) / norm.unsqueeze(-1)

linear_attention(torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 6))
""",
    "F.linear, whose weight has the output first": """
class Tied(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)

    def forward(self, x):
        return F.linear(x, self.embed.weight)

Tied(50, 8)(torch.randn(2, 5, 8))
""",
    "a learned query of one row": """
class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, x):
        weights = (self.query @ x.transpose(1, 2)).softmax(-1)
        return weights @ x

Pool(8)(torch.randn(2, 5, 8))
""",
    "vectors in NumPy": """
def step(state, memory, W):
    scores = memory @ (W @ state)
    weights = np.exp(scores) / np.exp(scores).sum()
    return weights @ memory

step(np.zeros(4), np.zeros((7, 6)), np.zeros((6, 4)))
""",
    "sizes of two functions with other names": """
def first(x, w):
    b, width = x.shape
    return x @ w

def second(a, w):
    n, dim = a.shape
    return first(a, w)
""",
    "grouped queries by broadcasting": """
def grouped(q, k):
    b, h, t, d = q.shape
    q = q.view(b, h // 2, 2, t, d)
    return q @ k.unsqueeze(2).transpose(-2, -1)

grouped(torch.randn(2, 4, 5, 8), torch.randn(2, 2, 5, 8))
""",
    "a projection for each head": """
class PerHead(nn.Module):
    def __init__(self, heads, width, size):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(heads, width, size))

    def forward(self, x):
        return torch.matmul(x.unsqueeze(1), self.W)

PerHead(3, 8, 4)(torch.randn(2, 5, 8))
""",
    "a batch of one that is expanded": """
def attend(query, memory):
    b, t, d = memory.shape
    return torch.bmm(query.expand(b, -1, -1), memory.transpose(1, 2))

attend(torch.randn(1, 1, 8), torch.randn(3, 5, 8))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD101", "SD109") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD101", "SD109") == []


def test_the_letters_of_an_einsum_are_put_as_the_axes_are() -> None:
    text = full_text(HEAD + WRONG["einsum with one letter for two sizes"], "SD101")
    assert 'help: name the axes of values as they are: "bqk,bkd->bqd"' in text


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a forgotten transpose, batch first"], "SD101") + "\n" == MESSAGE


MESSAGE = """\
error[SD101] mismatched-product: `matmul` needs equal inner sizes, got `width` and `len_k`
  --> model.py:10:14
   |
10 |     logits = torch.matmul(q, k)  # <- SD101
   |              ^^^^^^^^^^^^^^^^^^ k is (n, len_k, width), should be (n, width, len_k)
   = why: q is (n, len_q, width) and k is (n, len_k, width): a product sums over one size that both have
   = note: runs only if width == len_k
   = help: torch.matmul(q, k.transpose(-2, -1))
   = more: shapedoc explain SD101
"""


def test_a_learned_matrix_of_which_an_einsum_reads_the_diagonal() -> None:
    program = """\
import torch
import torch.nn as nn


class Metric(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.metric = nn.Parameter(torch.randn(d, d))

    def wrong(self, gap):
        B, T, d = gap.shape
        return torch.einsum("dd,btd->btd", self.metric, gap)  # <- SD101

    def right(self, gap):
        B, T, d = gap.shape
        return torch.einsum("dk,btk->btd", self.metric, gap)

    def trace(self):
        return torch.einsum("dd->", self.metric)
"""
    assert found(program, "SD101") == expected(program)
