"""SD103: views that cannot be."""

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
    "the width of a head that another size stands in for": """
class Heads(nn.Module):
    def __init__(self, query_size, hidden_size=None, n_heads=1):
        super().__init__()
        self.width = hidden_size or query_size
        self.n_heads = n_heads
        self.per_head = self.width / self.n_heads  # <- SD103
        self.query = nn.Linear(query_size, self.width)

    def forward(self, x):
        return self.query(x).view(x.size(0), x.size(1), self.n_heads, self.per_head).transpose(1, 2)
""",
    "heads that do not divide": """
class Attend(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.size = width // heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(n, t, self.heads, self.size)
        return q

attend = Attend(width=100, heads=8)  # <- SD103


attend(torch.randn(2, 5, 100))
""",
    "keys that are viewed with the length of the queries": """
def split(q, k, heads):
    n, len_q, width = q.shape
    n, len_k, width = k.shape
    size = width // heads
    q = q.reshape(n, len_q, heads, size)
    k = k.reshape(n, len_q, heads, size)  # <- SD103
    return q, k

split(torch.randn(2, 3, 8), torch.randn(2, 5, 8), 2)
""",
    "a size that went through a division": """
class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.size = width / heads  # <- SD103
        self.map = nn.Linear(width, width)

    def forward(self, x):
        return self.map(x).view(x.size(0), -1, self.heads, self.size)
""",
    "a layer of half a size": """
class Half(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.map = nn.Linear(width, width / 2)  # <- SD103

    def forward(self, x):
        return self.map(x)
""",
    "numbers in NumPy": """
x = np.zeros((4, 6))
y = x.reshape(5, 5)  # <- SD103
""",
    "MultiheadAttention with heads that do not divide": """
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)[0]

block = Block(10, 4)  # <- SD103


block(torch.randn(2, 5, 10))
""",
}

WRONG |= {
    "the number of a beam": """
def step(scores, state, beams, words):
    best, chosen = scores.view(-1).topk(beams)
    source = chosen / words  # <- SD103
    return state[source], chosen % words
""",
    "the number of a beam, selected by": """
def step(scores, history, beams):
    best, chosen = scores.view(-1).topk(beams)
    words = scores.size(1)
    source = (chosen / words).view(-1)  # <- SD103
    return history.index_select(0, source), history[:, source]
""",
    "the number of a beam, taken out of its tensor": """
def step(scores, lines, words, beams):
    best, chosen = scores.view(-1).topk(beams)
    longer = [[0]]
    for source, word in zip(chosen / words, chosen % words):  # <- SD103
        source = source.item()
        longer.append(longer[source] + [word.item()])
    return longer
""",
    "heads that are merged with the number of steps": """
class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)

    def split(self, x):
        n, t, width = x.size()
        size = width // self.heads
        return x.view(n, t, self.heads, size).transpose(1, 2)

    def merge(self, x):
        n, _, t, _ = x.size()
        width = t * self.heads
        return x.transpose(1, 2).contiguous().view(n, t, width)  # <- SD103

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = q @ k.transpose(-2, -1) / k.size(-1) ** 0.5
        return self.out(self.merge(torch.softmax(scores, dim=-1) @ v))
""",
}

RIGHT = {
    "the number of a beam, rounded and taken out of its tensor": """
def step(scores, lines, words, beams):
    best, chosen = scores.view(-1).topk(beams)
    longer = [[0]]
    for source, score in zip(chosen // words, best):
        longer.append(longer[source.item()] + [score.item() / words])
    return longer
""",
    "heads that are merged with their own width": """
class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)

    def split(self, x):
        n, t, width = x.size()
        return x.view(n, t, self.heads, width // self.heads).transpose(1, 2)

    def merge(self, x):
        n, _, t, size = x.size()
        return x.transpose(1, 2).contiguous().view(n, t, size * self.heads)

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = q @ k.transpose(-2, -1) / k.size(-1) ** 0.5
        return self.out(self.merge(torch.softmax(scores, dim=-1) @ v))
""",
    "segments as many as rows, by the design": """
class Rows(nn.Module):
    def __init__(self, width, segments):
        super().__init__()
        self.segments = segments
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        B, H, W, C = x.shape
        S = C // self.segments
        rows = x.reshape(B, H, W, self.segments, S).permute(0, 3, 2, 1, 4).reshape(B, self.segments, W, H * S)
        return self.mix(rows).reshape(B, self.segments, W, H, S).permute(0, 3, 2, 1, 4)
""",
    "the number of a beam, rounded": """
def step(scores, state, beams, words):
    best, chosen = scores.view(-1).topk(beams)
    source = chosen // words
    again = (chosen / words).long()
    third = torch.div(chosen, words, rounding_mode="floor")
    return state[source], state[again], state[third], scores[0] / words
""",
    "heads split and merged": """
class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        assert width % heads == 0
        self.heads, self.size = heads, width // heads

    def forward(self, x):
        n, t, width = x.shape
        h = x.view(n, t, self.heads, self.size).transpose(1, 2)
        return h.transpose(1, 2).reshape(n, t, width)

Heads(12, 3)(torch.randn(2, 5, 12))
""",
    "sizes that are worked out": """
def flat(x):
    n, t, d = x.shape
    y = x.view(-1, d)
    z = y.view(n, -1, d)
    return z.view(n, t * d).view(n, t, d)

flat(torch.randn(2, 5, 8))
""",
    "a scale is no size": """
class Scale(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.size = width // heads
        self.scale = 1 / self.size ** 0.5

    def forward(self, q, k):
        return q @ k.transpose(-2, -1) * self.scale

Scale(8, 2)(torch.randn(2, 5, 4), torch.randn(2, 5, 4))
""",
    "a whole number again": """
class Ratio(nn.Module):
    def __init__(self, width, ratio):
        super().__init__()
        self.up = nn.Linear(width, int(width * ratio))
        self.half = nn.Linear(width, int(width / 2))

    def forward(self, x):
        return self.up(x), self.half(x)

Ratio(8, 4.0)(torch.randn(2, 8))
""",
    "windows": """
def windows(x, size):
    n, h, w, c = x.shape
    x = x.view(n, h // size, size, w // size, size, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, size, size, c)

windows(torch.randn(2, 8, 8, 3), 4)
""",
    "directions of a state": """
def directions(h, layers):
    return h.view(layers, 2, h.size(1), h.size(2))

rnn = nn.GRU(8, 6, 3, bidirectional=True)
directions(rnn(torch.randn(5, 2, 8))[1], 3)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD103", "SD601") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD103", "SD601") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["heads that do not divide"], "SD103") + "\n" == MESSAGE


MESSAGE = """\
error[SD103] impossible-view: `width` (100) is not divisible by `heads` (8)
  --> model.py:21:10
   |
17 |         q, k, v = self.qkv(x).chunk(3, dim=-1)
   |                   ---------------------------- q is (2, 5, width)
18 |         q = q.view(n, t, self.heads, self.size)
   |             ----------------------------------- q is (2, 5, width)
21 | attend = Attend(width=100, heads=8)  # <- SD103
   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^ q is (2, 5, width)
24 | attend(torch.randn(2, 5, 100))
   | ------------------------------ in this call of `Attend.forward`
   = why: `width // heads` (line 11) is 12, rounded down, so that the parts do not make up the whole
   = help: choose a `heads` that divides `width`
   = more: shapedoc explain SD103
"""
