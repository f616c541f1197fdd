"""SD505: masks that are added as they are."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD505", "SD501")
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "truth values": """
def attend(scores, tokens, pad):
    mask = tokens == pad
    return (scores + mask).softmax(-1)  # <- SD505
""",
    "ones and zeros": """
def attend(q, k, v):
    T = q.size(1)
    causal = torch.tril(torch.ones(T, T))
    return (q @ k.transpose(1, 2) + causal).softmax(-1) @ v  # <- SD505
""",
    "the fused function": """
def attend(q, k, v, tokens):
    keep = (tokens != 0).float()
    embed = nn.Embedding(9, 4)(tokens)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])  # <- SD505
""",
    "an array": """
def attend(scores, lengths):
    B, T = scores.shape
    keep = np.arange(T) < lengths.reshape(B, 1)
    scores = scores + keep  # <- SD505
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True)
""",
}

WRONG |= {
    "a fill with a tiny number": """
def attend(query, key, value, mask):
    scores = torch.bmm(query, key.transpose(1, 2)) / query.size(-1) ** 0.5
    scores = scores.masked_fill(mask == 0, 1e-9)  # <- SD505
    return torch.bmm(scores.softmax(-1), value)
""",
    "a fill with zero": """
def attend(query, key, value, words):
    B, T, d = key.shape
    B, T = words.shape
    scores = torch.bmm(query, key.transpose(1, 2))
    scores = scores.masked_fill((words == 0).unsqueeze(1), 0.0)  # <- SD505
    return torch.bmm(scores.softmax(-1), value)
""",
    "a product with a mask of the past": """
def attend(query, key, value):
    T = query.size(1)
    past = torch.tril(torch.ones(T, T))
    scores = query @ key.transpose(1, 2) / query.size(-1) ** 0.5
    scores = scores * past  # <- SD505
    return scores.softmax(-1) @ value
""",
}

WRONG |= {
    "a product in place with truth values": """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, y, padded=None):
        B, Tx, _ = x.size()
        B, Ty, _ = y.size()
        q, k, v = self.q(x), self.k(y), self.v(y)
        scores = q @ k.transpose(1, 2) / q.size(-1) ** 0.5
        if padded is not None:
            scores *= torch.logical_not(padded.view(B, 1, Ty))  # <- SD505
        return torch.softmax(scores, dim=-1) @ v
""",
    "a product with truth values that a parameter gives": """
def attend(query, key, value, padded):
    B, Tq, d = query.size()
    B, Tk, d = key.size()
    scores = query @ key.transpose(1, 2) / d**0.5
    scores = scores * (padded.view(B, 1, Tk) == 0)  # <- SD505
    return torch.softmax(scores, dim=-1) @ value
""",
}

RIGHT = {
    "a product in place with the mask, and a fill": """
def attend(query, key, value, padded):
    B, Tq, d = query.size()
    B, Tk, d = key.size()
    scores = query @ key.transpose(1, 2) / d**0.5
    hidden = torch.logical_not(padded).view(B, 1, Tk)
    scores *= hidden
    scores = scores.masked_fill(~hidden, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value
""",
    "rows of padded queries set to zero": """
def attend(query, key, value, padded):
    B, Tq, d = query.size()
    B, Tk, d = key.size()
    scores = query @ key.transpose(1, 2) / d**0.5
    scores *= torch.logical_not(padded).view(B, Tq, 1)
    return torch.softmax(scores, dim=-1) @ value
""",
    "nothing hidden of a prompt": """
class Attention(nn.Module):
    def attend(self, q, k, v, mask):
        scores = q @ k.mT / q.size(-1) ** 0.5
        return F.softmax(scores + mask, dim=-1) @ v

class Prompted(Attention):
    def forward(self, q, prompt):
        T, P = q.size(2), prompt.size(2)
        seen = torch.ones(T, P, dtype=torch.bool)
        return self.attend(q, prompt, prompt, seen)
""",
    "a product, and what is added besides": """
def attend(scores, value, words):
    B, T = words.shape
    mask = (words != 0).float().unsqueeze(1)
    scores = mask * torch.bmm(scores, value) + (1 - mask) * -1e30
    return torch.bmm(scores.softmax(-1), value)
""",
    "a product before and after, and the weights normalised again": """
def attend(query, key, value, words):
    B, T = words.shape
    mask = (words != 0).float().unsqueeze(1)
    scores = torch.bmm(query, key.transpose(1, 2))
    weights = (scores * mask).softmax(-1) * mask
    weights = weights / (weights.sum(-1, keepdim=True) + 1e-13)
    return torch.bmm(weights, value)
""",
    "zeros where another mask hides them": """
def attend(query, key, value, words):
    B, T = words.shape
    hidden = (words == 0).unsqueeze(1)
    scores = torch.bmm(query, key.transpose(1, 2)).masked_fill(hidden, 0.0)
    scores = scores.masked_fill(hidden, float("-inf"))
    return torch.bmm(scores.softmax(-1), value)
""",
    "zeros for padded queries": """
def attend(query, key, value, words):
    B, T = words.shape
    scores = torch.bmm(query, key.transpose(1, 2)).masked_fill((words == 0).unsqueeze(2), 0.0)
    return torch.bmm(scores.softmax(-1), value)
""",
    "scaled": """
def attend(scores, tokens, pad):
    mask = (tokens == pad).float()
    return (scores + mask * -1e9).softmax(-1)
""",
    "filled zeros": """
def attend(q, k, v):
    T = q.size(1)
    mask = torch.zeros(T, T).masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf"))
    return (q @ k.transpose(1, 2) + mask).softmax(-1) @ v
""",
    "a bias": """
def attend(scores, bias):
    return (scores + bias).softmax(-1)
""",
    "a boolean mask for the fused function": """
def attend(q, k, v):
    T = q.size(-2)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(T, T).tril().bool())
""",
    "joined additive masks": """
def attend(scores, tokens, pad):
    B, T = tokens.shape
    padding = (tokens == pad).float()[:, None, :] * -1e9
    causal = torch.triu(torch.full((T, T), float("-inf")), 1)
    return (scores + (padding + causal)).softmax(-1)
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
    assert full_text(HEAD + WRONG["truth values"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD505] additive-boolean-mask: `+` adds mask to scores as it is: the ones and zeros of a mask hide nothing
 --> model.py:9:13
  |
8 |     mask = tokens == pad
  |            ------------- made of ones and zeros here
9 |     return (scores + mask).softmax(-1)  # <- SD505
  |             ^^^^^^^^^^^^^ mask is 0 or 1, should be 0 where something is to be seen, -inf where not
  = why: a score that is larger by 1 is e times as likely: what is to be hidden still gets its share
  = help: scores.masked_fill(mask, float("-inf"))
  = more: shapedoc explain SD505
"""
