"""SD404: masks that come after the softmax."""

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
    "minus infinity in weights": """
class Attention(nn.Module):
    def forward(self, query, memory, padding=None):
        scores = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
        weights = F.dropout(F.softmax(scores, 1), 0.1)
        if padding is not None:
            weights = weights.masked_fill(padding, -1e9)  # <- SD404
        return torch.bmm(weights.unsqueeze(1), memory)
""",
    "times a mask": """
def attend(query, memory, tokens):
    B, T, D = memory.shape
    mask = (tokens != 0).float()
    weights = torch.softmax(torch.einsum("bd,btd->bt", query, memory), -1)
    return torch.einsum("bt,btd->bd", weights * mask, memory)  # <- SD404

attend(torch.randn(2, 7), torch.randn(2, 5, 7), torch.zeros(2, 5, dtype=torch.long))
""",
    "in NumPy, written out": """
def attend(q, k, v, keep):
    s = q @ k.T
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    w = w / w.sum(axis=-1, keepdims=True)
    w = np.where(keep, w, -np.inf)  # <- SD404
    return w @ v

attend(np.zeros((3, 8)), np.zeros((5, 8)), np.zeros((5, 8)), np.tril(np.ones((3, 5))) > 0)
""",
    "causal, after": """
def attend(q, k, v):
    T = q.size(1)
    p = (q @ k.transpose(1, 2)).softmax(-1)
    p = p.masked_fill(torch.triu(torch.ones(T, T), diagonal=1).bool(), 0.0)  # <- SD404
    return p @ v

attend(torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8))
""",
}

RIGHT = {
    "another attention's weights, called a mask": """
class Twice(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.along, self.across = nn.Linear(width, 1), nn.Linear(width, width)

    def forward(self, x):
        B, N, C = x.shape
        width_mask = self.across(x).mean(1, keepdim=True).softmax(2)
        place_mask = self.along(x).softmax(1)
        return x * width_mask * place_mask
""",
    "a gate, called a mask": """
def attend(scores, gates, values):
    B, T, S = scores.shape
    mask = torch.sigmoid(gates)
    return (scores.softmax(-1) * mask.view(B, 1, S)) @ values

attend(torch.randn(2, 3, 5), torch.randn(2, 5), torch.randn(2, 5, 8))
""",
    "before": """
def attend(q, k, v, mask):
    s = (q @ k.transpose(1, 2)).masked_fill(mask == 0, float("-inf"))
    return s.softmax(-1) @ v

attend(torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.ones(2, 5, 5))
""",
    "before and after, for rows without keys": """
def attend(q, k, v, mask):
    s = (q @ k.transpose(1, 2)).masked_fill(mask, -1e9)
    p = s.softmax(-1).masked_fill(mask, 0.0)
    return p @ v

attend(torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.ones(2, 5, 5) > 0)
""",
    "normalised again": """
def attend(scores, memory, mask):
    w = scores.softmax(1) * mask
    w = w / (w.sum(1, keepdim=True) + 1e-13)
    return (w.unsqueeze(-1) * memory).sum(1)

attend(torch.randn(2, 5), torch.randn(2, 5, 8), torch.ones(2, 5))
""",
    "normalised again by a norm": """
def attend(scores, memory, mask):
    w = F.normalize(scores.softmax(1) * mask, p=1, dim=1)
    return (w.unsqueeze(-1) * memory).sum(1)

attend(torch.randn(2, 5), torch.randn(2, 5, 8), torch.ones(2, 5))
""",
    "a gate": """
def attend(scores, memory, gate):
    w = scores.softmax(1) * gate
    return (w.unsqueeze(-1) * memory).sum(1)

attend(torch.randn(2, 5), torch.randn(2, 5, 8), torch.rand(2, 1))
""",
    "padded queries": """
def attend(q, k, v, query_mask):
    p = (q @ k.transpose(1, 2)).softmax(-1) * query_mask.unsqueeze(-1)
    return p @ v

attend(torch.randn(2, 5, 8), torch.randn(2, 6, 8), torch.randn(2, 6, 8), torch.ones(2, 5))
""",
    "padded queries, repeated along the keys": """
def attend(q, k, v, query_mask):
    rows = query_mask.unsqueeze(-1).repeat(1, 1, k.size(1))
    rows = rows.repeat(2, 1, 1)
    p = (q @ k.transpose(1, 2)).softmax(-1) * rows
    return p @ v

attend(torch.randn(4, 5, 8), torch.randn(4, 6, 8), torch.randn(4, 6, 8), torch.ones(2, 5))
""",
    "scores that one branch masks": """
def attend(q, k, v, keys, mask=None):
    B, T, d = k.shape
    s = q @ k.transpose(1, 2)
    if mask is not None:
        p = s.masked_fill(mask, -1e9).softmax(-1)
    else:
        p = s.softmax(-1)
    return (p * (keys != 0).unsqueeze(1)) @ v
""",
    "the step that is chosen among those not visited": """
def choose(state, cities, free):
    B, T, d = cities.shape
    p = torch.softmax(torch.bmm(cities, state.unsqueeze(2)).squeeze(2), dim=1)
    mask = free > 0
    best, place = (p * mask).max(1)
    return place

choose(torch.randn(2, 8), torch.randn(2, 6, 8), torch.ones(2, 6))
""",
    "values chosen by truth": """
def attend(states, memory, active):
    kept = memory[active > 0]
    B, T, d = kept.shape
    p = torch.softmax(torch.bmm(kept, states.unsqueeze(2)), dim=1)
    return (kept * p).sum(1)

attend(torch.randn(3, 8), torch.randn(3, 6, 8), torch.ones(3))
""",
    "heads that are switched off": """
def attend(q, k, v, head_mask):
    return ((q @ k.transpose(2, 3)).softmax(-1) * head_mask) @ v

attend(torch.randn(2, 4, 5, 8), torch.randn(2, 4, 6, 8), torch.randn(2, 4, 6, 8), torch.ones(4, 1, 1))
""",
    "dropout by hand": """
def attend(q, k, v):
    p = (q @ k.transpose(1, 2)).softmax(-1)
    dropout_mask = (torch.rand(p.shape) > 0.1).float()
    return (p * dropout_mask / 0.9) @ v

attend(torch.randn(2, 5, 8), torch.randn(2, 6, 8), torch.randn(2, 6, 8))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD404") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD404") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["times a mask"], "SD404") + "\n" == MESSAGE


MESSAGE = """\
warning[SD404] mask-after-softmax: attention weights are masked after the softmax and do not sum to 1 any more
  --> model.py:11:39
   |
10 |     weights = torch.softmax(torch.einsum("bd,btd->bt", query, memory), -1)
   |               ------------------------------------------------------------ weights is normalised here, be\
fore the mask
11 |     return torch.einsum("bt,btd->bd", weights * mask, memory)  # <- SD404
   |                                       ^^^^^^^^^^^^^^
13 | attend(torch.randn(2, 7), torch.randn(2, 5, 7), torch.zeros(2, 5, dtype=torch.long))
   | ------------------------------------------------------------------------------------ in this call of `attend`
   = why: what the masked keys got in the softmax is lost: the other weights sum to less than 1, by a share th\
at depends on the masked scores
   = help: mask the scores before the softmax: `torch.einsum("bd,btd->bt", query, memory).masked_fill(mask == \
0, float("-inf"))`
   = more: shapedoc explain SD404
"""
