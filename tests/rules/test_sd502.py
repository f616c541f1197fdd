"""SD502: causal masks that are off by one."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD502", "SD501")
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "the diagonal is hidden": """
def attend(q, k, v):
    T = q.size(1)
    mask = torch.triu(torch.ones(T, T)).bool()  # <- SD502
    return (q @ k.transpose(1, 2)).masked_fill(mask, -1e9).softmax(-1) @ v
""",
    "the next is shown": """
class Attention(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)
        self.register_buffer("mask", torch.tril(torch.ones(n, n), diagonal=1))  # <- SD502

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(-2, -1)
        return scores.masked_fill(self.mask[:T, :T] == 0, float("-inf")).softmax(-1) @ v
""",
    "compared positions": """
def attend(q, k, v):
    T = q.size(1)
    place = torch.arange(T)
    keep = place[:, None] > place[None, :]  # <- SD502
    return (q @ k.transpose(1, 2)).masked_fill(~keep, -1e9).softmax(-1) @ v
""",
    "upper for lower, in numpy": """
def attend(q, k, v):
    T, d = q.shape
    keep = np.triu(np.ones((T, T))).astype(bool)  # <- SD502
    s = np.where(keep, q @ k.T, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v
""",
    "an additive triangle": """
class Layer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(d, heads)

    def forward(self, x):
        T = x.size(0)
        mask = torch.triu(torch.full((T, T), float("-inf")))  # <- SD502
        return self.layer(x, src_mask=mask)
""",
}

RIGHT = {
    "above the diagonal": """
def attend(q, k, v):
    T = q.size(1)
    mask = torch.triu(torch.ones(T, T), diagonal=1).bool()
    return (q @ k.transpose(1, 2)).masked_fill(mask, -1e9).softmax(-1) @ v
""",
    "on and below": """
def attend(q, k, v):
    T = q.size(1)
    mask = torch.tril(torch.ones(T, T))
    return (q @ k.transpose(1, 2)).masked_fill(mask == 0, -1e9).softmax(-1) @ v
""",
    "on and below, turned": """
def attend(q, k, v):
    T = q.size(1)
    mask = ~torch.ones(T, T, dtype=torch.bool).tril()
    return (q @ k.transpose(1, 2)).masked_fill(mask, -1e9).softmax(-1) @ v
""",
    "compared positions": """
def attend(q, k, v):
    T = q.size(1)
    place = torch.arange(T)
    keep = place[None, :] <= place[:, None]
    return (q @ k.transpose(1, 2)).masked_fill(~keep, -1e9).softmax(-1) @ v
""",
    "a cache, with a shifted triangle": """
def attend(q, k, v):
    T, S = q.size(1), k.size(1)
    mask = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
    return (q @ k.transpose(1, 2)).masked_fill(mask, -1e9).softmax(-1) @ v
""",
    "a triangle that is no mask": """
def cumulate(x):
    B, T, d = x.shape
    return torch.triu(torch.ones(T, T)).transpose(0, 1) @ x
""",
    "upper, transposed": """
def attend(q, k, v):
    T = q.size(1)
    keep = (torch.triu(torch.ones(T, T)) == 1).transpose(0, 1)
    return (q @ k.transpose(1, 2)).masked_fill(~keep, -1e9).softmax(-1) @ v
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, *CODES) == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], *CODES) == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["the diagonal is hidden"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD502] causal-mask-off-by-one: with this causal mask no position sees itself, and the first sees nothing
  --> model.py:9:12
   |
 9 |     mask = torch.triu(torch.ones(T, T)).bool()  # <- SD502
   |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ mask is (T, T), true on and above the diagonal, should be true above \
the diagonal
10 |     return (q @ k.transpose(1, 2)).masked_fill(mask, -1e9).softmax(-1) @ v
   |            ----------------------------------------------- mask is applied here
   = why: position t may look at the positions up to t, itself included: one more is the answer, one less leaves \
the first row without any key
   = help: triu(..., diagonal=1)
   = more: shapedoc explain SD502
"""
