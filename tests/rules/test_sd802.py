"""SD802: causal masks of steps with a cache."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a triangle of new rows and all columns": """
class Reader(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b, self.v = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, c)

    def forward(self, x, old=None):
        N, L, c = x.shape
        q, k, v = self.a(x), self.b(x), self.v(x)
        if old is not None:
            k, v = torch.cat([old[0], k], dim=1), torch.cat([old[1], v], dim=1)
        M = k.shape[1]
        future = torch.ones(L, M, dtype=torch.bool).triu(diagonal=1)  # <- SD802
        s = (q @ k.transpose(1, 2) / c**0.5).masked_fill(future, float("-inf"))
        return s.softmax(-1) @ v, (k, v)
""",
    "positions from zero at every step": """
class Writer(nn.Module):
    def __init__(self, n, c):
        super().__init__()
        self.table, self.place = nn.Embedding(n, c), nn.Embedding(64, c)
        self.a, self.b, self.v = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, c)

    def forward(self, words, old_k, old_v):
        N, L = words.shape
        first = 0  # <- SD802
        x = self.table(words) + self.place(torch.arange(first, first + L).unsqueeze(0))
        k, v = torch.cat([old_k, self.b(x)], dim=1), torch.cat([old_v, self.v(x)], dim=1)
        return F.scaled_dot_product_attention(self.a(x), k, v), k, v
""",
    "the flag, with the cache in a dict": """
class Step(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.proj = heads, nn.Linear(dim, 3 * dim)

    def forward(self, x, past):
        B, T, C = x.shape
        q, k, v = self.proj(x).split(C, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        keys = torch.cat([past["k"], k], dim=-2)
        values = torch.cat([past["v"], v], dim=-2)
        return F.scaled_dot_product_attention(q, keys, values, is_causal=True)  # <- SD802
""",
    "the first rows of a square mask": """
class Cached(nn.Module):
    def __init__(self, d, longest):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.register_buffer("mask", torch.triu(torch.ones(longest, longest, dtype=torch.bool), diagonal=1))

    def forward(self, x, old_k, old_v):
        B, T, d = x.shape
        q = self.q(x)
        k = torch.cat((old_k, self.k(x)), dim=1)
        v = torch.cat((old_v, self.v(x)), dim=1)
        S = k.size(1)
        scores = torch.bmm(q, k.transpose(1, 2)) / d**0.5
        scores = scores.masked_fill(self.mask[:T, :S], float("-inf"))  # <- SD802
        return torch.bmm(scores.softmax(-1), v)
""",
}

RIGHT = {
    "a triangle whose diagonal is moved": """
class Reader(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b, self.v = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, c)

    def forward(self, x, old=None):
        N, L, c = x.shape
        q, k, v = self.a(x), self.b(x), self.v(x)
        if old is not None:
            k, v = torch.cat([old[0], k], dim=1), torch.cat([old[1], v], dim=1)
        M = k.shape[1]
        future = torch.ones(L, M, dtype=torch.bool).triu(diagonal=1 + M - L)
        s = (q @ k.transpose(1, 2) / c**0.5).masked_fill(future, float("-inf"))
        return s.softmax(-1) @ v, (k, v)
""",
    "positions behind the cache": """
class Writer(nn.Module):
    def __init__(self, n, c):
        super().__init__()
        self.table, self.place = nn.Embedding(n, c), nn.Embedding(64, c)
        self.a, self.b, self.v = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, c)

    def forward(self, words, old_k, old_v):
        N, L = words.shape
        first = old_k.size(1)
        x = self.table(words) + self.place(torch.arange(first, first + L).unsqueeze(0))
        k, v = torch.cat([old_k, self.b(x)], dim=1), torch.cat([old_v, self.v(x)], dim=1)
        return F.scaled_dot_product_attention(self.a(x), k, v), k, v
""",
    "a start that callers change": """
class Writer(nn.Module):
    def __init__(self, n, c):
        super().__init__()
        self.table, self.place = nn.Embedding(n, c), nn.Embedding(64, c)
        self.a, self.b, self.v = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, c)

    def forward(self, words, old_k, old_v, first=0):
        N, L = words.shape
        x = self.table(words) + self.place(torch.arange(first, first + L).unsqueeze(0))
        k, v = torch.cat([old_k, self.b(x)], dim=1), torch.cat([old_v, self.v(x)], dim=1)
        return F.scaled_dot_product_attention(self.a(x), k, v), k, v
""",
    "tokens that are read anew with every word": """
class Writer(nn.Module):
    def __init__(self, n, c):
        super().__init__()
        self.table, self.place, self.say = nn.Embedding(n, c), nn.Embedding(64, c), nn.Linear(c, n)

    def forward(self, words):
        x = self.table(words) + self.place(torch.arange(words.size(1)))
        s = (x @ x.transpose(1, 2)).softmax(-1)
        return self.say(s @ x)

    def write(self, words, count):
        for _ in range(count):
            word = torch.multinomial(self(words)[:, -1].softmax(-1), 1)
            words = torch.cat((words, word), dim=1)
        return words
""",
    "positions as further features": """
class Reader(nn.Module):
    def __init__(self, n, c):
        super().__init__()
        self.place, self.mix = nn.Embedding(64, c), nn.Linear(2 * c, c)

    def forward(self, x):
        N, L, c = x.shape
        where = self.place(torch.arange(L)).expand(N, L, c)
        x = self.mix(torch.cat([x, where], dim=-1))
        return F.scaled_dot_product_attention(x, x, x)
""",
    "no cache": """
def attend(x, w):
    B, T, d = x.shape
    q, k, v = w(x), w(x), w(x)
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
""",
    "the flag only where it fits": """
def attend(x, w, past_k, past_v):
    B, T, d = x.shape
    q, k, v = w(x), torch.cat((past_k, w(x)), 1), torch.cat((past_v, w(x)), 1)
    return F.scaled_dot_product_attention(q, k, v, is_causal=q.size(1) == k.size(1))
""",
    "the last rows of the mask": """
class Cached(nn.Module):
    def __init__(self, d, longest):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)
        self.register_buffer("mask", torch.triu(torch.ones(longest, longest, dtype=torch.bool), diagonal=1))

    def forward(self, x, old_k):
        B, T, d = x.shape
        k = torch.cat((old_k, self.k(x)), dim=1)
        S = k.size(1)
        scores = torch.bmm(self.q(x), k.transpose(1, 2)) / d**0.5
        scores = scores.masked_fill(self.mask[S - T : S, :S], float("-inf"))
        return torch.bmm(scores.softmax(-1), k)
""",
    "context joined to the tokens of both sides": """
def attend(context, x, w):
    both = torch.cat((context, x), dim=1)
    q, k, v = w(both), w(both), w(both)
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
""",
}


@pytest.mark.parametrize("program", WRONG.values(), ids=WRONG)
def test_wrong_programs_are_found(program: str) -> None:
    assert found(HEAD + program, "SD802") == expected(HEAD + program)


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_right_programs_are_left_alone(program: str) -> None:
    assert found(HEAD + program, "SD802") == []
