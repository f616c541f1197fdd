"""SD408: queries ask, keys answer, values are read."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a memory that nothing reads": """
class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.own = nn.MultiheadAttention(d, heads, batch_first=True)
        self.across = nn.MultiheadAttention(d, heads, batch_first=True)

    def forward(self, x, encoder_outputs, ahead):
        x = x + self.own(x, x, x, attn_mask=ahead)[0]
        return x + self.across(x, x, x)[0]  # <- SD408
""",
    "a context that is joined with itself": """
class Step(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)
        self.out = nn.Linear(2 * d, d)

    def attend(self, state, memory):
        scores = torch.bmm(self.k(memory), self.q(state).unsqueeze(2)).squeeze(2)
        return torch.bmm(F.softmax(scores, dim=1).unsqueeze(1), memory).squeeze(1)

    def forward(self, state, words, pictures):
        context = self.attend(state, words)
        shown = self.attend(state, pictures)
        context = torch.cat((context, context), dim=1)  # <- SD408
        return self.out(context)
""",
    "scores from the values": """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.key, self.query, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        k, q, v = self.key(x), self.query(x), self.value(x)
        p = F.softmax(torch.bmm(q, v.transpose(1, 2)) / math.sqrt(x.size(-1)), dim=-1)  # <- SD408
        return torch.bmm(p, v)

Attention(8)(torch.randn(2, 5, 8))
""",
    "a context from the keys": """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.wq, self.wk, self.wv = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = self.wq(x), self.wk(x), self.wv(x)
        p = (q @ k.transpose(-2, -1) / math.sqrt(x.size(-1))).softmax(-1)
        return p @ k  # <- SD408

Attention(8)(torch.randn(2, 5, 8))
""",
    "values of the queries' sequence": """
class Cross(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)

    def forward(self, x, memory):
        return self.attn(query=x, key=memory, value=x)[0]  # <- SD408

Cross(8)(torch.randn(2, 5, 8), torch.randn(2, 5, 8))
""",
    "the memory asks": """
class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attn, self.norm = nn.MultiheadAttention(d, 2), nn.LayerNorm(d)

    def forward(self, tgt, memory):
        found, _ = self.attn(memory, tgt, tgt)  # <- SD408
        return self.norm(tgt + found)

Layer(8)(torch.randn(5, 2, 8), torch.randn(5, 2, 8))
""",
}

RIGHT = {
    "a memory that is read, or that one attention alone is given": """
class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.own = nn.MultiheadAttention(d, heads, batch_first=True)
        self.across = nn.MultiheadAttention(d, heads, batch_first=True)

    def forward(self, x, encoder_outputs, ahead):
        x = x + self.own(x, x, x, attn_mask=ahead)[0]
        return x + self.across(x, encoder_outputs, encoder_outputs)[0]

class Own(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.own = nn.MultiheadAttention(d, heads, batch_first=True)

    def forward(self, x, memory, ahead):
        return x + self.own(x, x, x, attn_mask=ahead)[0]
""",
    "angles that are joined with themselves, and a context that is read elsewhere": """
class Step(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)
        self.out = nn.Linear(2 * d, d)

    def attend(self, state, memory):
        scores = torch.bmm(self.k(memory), self.q(state).unsqueeze(2)).squeeze(2)
        return torch.bmm(F.softmax(scores, dim=1).unsqueeze(1), memory).squeeze(1)

    def forward(self, state, words, pictures, angles):
        context = self.attend(state, words)
        shown = self.attend(state, pictures)
        twice = torch.cat((context, context), dim=1)
        return self.out(twice) + shown, torch.cat((angles, angles), dim=-1)
""",
    "self-attention": """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.key, self.query, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        k, q, v = self.key(x), self.query(x), self.value(x)
        p = F.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(x.size(-1)), dim=-1)
        return torch.bmm(p, v)

Attention(8)(torch.randn(2, 5, 8))
""",
    "a memory that is key and value": """
class Luong(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Linear(d, d)

    def forward(self, state, memory):
        p = torch.bmm(self.w(state), memory.transpose(1, 2)).softmax(-1)
        return torch.bmm(p, memory)

Luong(8)(torch.randn(2, 3, 8), torch.randn(2, 5, 8))
""",
    "positions on keys and queries, not on values": """
class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.own, self.cross = nn.MultiheadAttention(d, 2), nn.MultiheadAttention(d, 2)

    def forward(self, tgt, memory, query_pos, pos):
        q = tgt + query_pos
        tgt = tgt + self.own(q, q, value=tgt)[0]
        return tgt + self.cross(query=tgt + query_pos, key=memory + pos, value=memory)[0]

Layer(8)(torch.randn(5, 2, 8), torch.randn(6, 2, 8), torch.randn(5, 2, 8), torch.randn(6, 2, 8))
""",
    "one projection for keys and values, two in all": """
class Shared(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.kv = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        q, kv = self.q(x), self.kv(x)
        return (q @ kv.transpose(-2, -1) / math.sqrt(x.size(-1))).softmax(-1) @ kv

Shared(8)(torch.randn(2, 5, 8))
""",
    "attention in both directions": """
def align(a, b):
    s = torch.bmm(a, b.transpose(1, 2))
    return torch.bmm(s.softmax(2), b), torch.bmm(s.transpose(1, 2).softmax(2), a)

align(torch.randn(2, 5, 8), torch.randn(2, 6, 8))
""",
    "a residual of the queries": """
class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attn, self.norm = nn.MultiheadAttention(d, 2), nn.LayerNorm(d)

    def forward(self, tgt, memory):
        found, _ = self.attn(self.norm(tgt), memory, memory)
        return tgt + found

Layer(8)(torch.randn(5, 2, 8), torch.randn(5, 2, 8))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD408") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD408") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["scores from the values"], "SD408") + "\n" == MESSAGE


MESSAGE = """\
error[SD408] swapped-roles: the scores are made from v, and k is never used
  --> model.py:15:36
   |
14 |         k, q, v = self.key(x), self.query(x), self.value(x)
   |                   ----------- k is made here and used nowhere
15 |         p = F.softmax(torch.bmm(q, v.transpose(1, 2)) / math.sqrt(x.size(-1)), dim=-1)  # <- SD408
   |                                    ^^^^^^^^^^^^^^^^^
16 |         return torch.bmm(p, v)
   |                --------------- v is used here too
18 | Attention(8)(torch.randn(2, 5, 8))
   | ---------------------------------- in this call of `Attention.forward`
   = why: scores compare queries with keys, and the context sums values: values in the scores leave a projecti\
on without a gradient
   = help: use k here
   = more: shapedoc explain SD408
"""
