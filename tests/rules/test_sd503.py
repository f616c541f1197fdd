"""SD503: masks that are never used."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD503",)
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a parameter that is never read": """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, mask=None):  # <- SD503
        scores = self.q(x) @ self.k(x).transpose(1, 2)
        return F.softmax(scores, dim=-1) @ x
""",
    "a causal mask that is built in vain": """
class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, heads, batch_first=True)

    def forward(self, x):
        T = x.size(1)
        causal = torch.triu(torch.ones(T, T), diagonal=1).bool()  # <- SD503
        out, _ = self.attention(x, x, x)
        return out
""",
    "memory attended without its padding": """
class Decoder(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.own = nn.MultiheadAttention(d, heads, batch_first=True)
        self.cross = nn.MultiheadAttention(d, heads, batch_first=True)

    def forward(self, x, memory, causal, memory_padding):
        x = x + self.own(x, x, x, attn_mask=causal)[0]
        return x + self.cross(x, memory, memory)[0]  # <- SD503
""",
    "memory attended with the padding of the target": """
class Decoder(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.own = nn.MultiheadAttention(d, heads, batch_first=True)
        self.cross = nn.MultiheadAttention(d, heads, batch_first=True)

    def forward(self, x, memory, source_padding, target_padding):
        x = x + self.own(x, x, x, key_padding_mask=target_padding)[0]
        return x + self.cross(x, memory, memory, key_padding_mask=target_padding)[0]  # <- SD503
""",
}

WRONG |= {
    "the line that masked is commented out": """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, mask):  # <- note SD503
        scores = self.q(x) @ self.k(x).transpose(1, 2)
        # for now the padding is learnt:
        # scores = scores.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        return F.softmax(scores, dim=-1) @ x
""",
    "prose about the mask": """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, mask):  # <- SD503
        # mask (B, T)
        # mask: torch.Tensor (B, T)
        scores = self.q(x) @ self.k(x).transpose(1, 2)  # (B, T, T)
        # apply the mask (see above)
        return F.softmax(scores, dim=-1) @ x
""",
    "the target's padding for the memory": """
class Model(nn.Module):
    def __init__(self, V, d):
        super().__init__()
        self.words, self.core = nn.Embedding(V, d), nn.Transformer(d, 4, batch_first=True)

    def forward(self, src, tgt, pad):
        blank = tgt == pad
        return self.core(
            self.words(src),
            self.words(tgt),
            src_key_padding_mask=src == pad,
            tgt_key_padding_mask=blank,
            memory_key_padding_mask=blank,  # <- SD503
        )
""",
}

RIGHT = {
    "one padding for both, of one sequence": """
class Model(nn.Module):
    def __init__(self, V, d):
        super().__init__()
        self.words, self.core = nn.Embedding(V, d), nn.TransformerDecoderLayer(d, 4, batch_first=True)

    def forward(self, words, pad):
        memory, blank = self.words(words), words == pad
        return self.core(memory * 2, memory, tgt_key_padding_mask=blank, memory_key_padding_mask=blank)
""",
    "the mask is used": """
def attend(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return scores.softmax(-1) @ v
""",
    "the mask is handed on": """
class Layer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, heads, batch_first=True)

    def forward(self, x, mask, padding):
        return self.attention(x, x, x, attn_mask=mask, key_padding_mask=padding)[0]
""",
    "classes, and no keys": """
class Head(nn.Module):
    def __init__(self, d, classes):
        super().__init__()
        self.out = nn.Linear(d, classes)

    def forward(self, x, mask=None):
        return self.out(x).softmax(-1)
""",
    "no attention": """
def mean(x, mask=None):
    return x.mean(1)
""",
    "a mask that is returned": """
def masks(tokens, pad):
    keep = tokens != pad
    return keep
""",
    "built in a branch, used after": """
def attend(q, k, v, causal):
    T = q.size(1)
    mask = torch.zeros(T, T, dtype=torch.bool)
    if causal:
        mask = torch.ones(T, T, dtype=torch.bool).triu(1)
    return (q @ k.transpose(1, 2)).masked_fill(mask, -1e9).softmax(-1) @ v
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
    assert full_text(HEAD + WRONG["a parameter that is never read"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
warning[SD503] mask-never-used: `mask` is accepted and never used, and `softmax` normalises scores that nothing masks
  --> model.py:12:26
   |
12 |     def forward(self, x, mask=None):  # <- SD503
   |                          ^^^^
14 |         return F.softmax(scores, dim=-1) @ x
   |                ------------------------- `softmax` normalises scores that nothing masks
   = why: callers believe that what they mask is hidden; it gets its share of the weights
   = help: mask the scores with it
   = more: shapedoc explain SD503
"""
