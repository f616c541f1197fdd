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
