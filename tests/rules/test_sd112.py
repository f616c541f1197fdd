"""SD112: masks that attention does not take."""

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
    "a padding mask as a mask of queries and keys": """
class Layer(nn.Module):
    def __init__(self, vocab, width, heads):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, tokens):
        n, t = tokens.shape
        x = self.embed(tokens)
        pad = tokens == 0
        return self.attention(x, x, x, attn_mask=pad)[0]  # <- SD112

Layer(20, 8, 2)(torch.zeros(3, 5, dtype=torch.long))
""",
    "a padding mask of the other sequence": """
class Cross(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x, memory, pad):
        return self.attention(x, memory, memory, key_padding_mask=pad)[0]  # <- SD112

Cross(8, 2)(torch.randn(3, 4, 8), torch.randn(3, 6, 8), torch.zeros(3, 4, dtype=torch.bool))
""",
    "a padding mask for scaled_dot_product_attention": """
def attend(q, k, v, keep):
    n, h, t, d = q.shape
    n, h, s, d = k.shape
    return F.scaled_dot_product_attention(q, k, v, attn_mask=keep)  # <- SD112

shape = (3, 4, 5, 8)
attend(torch.randn(shape), torch.randn(3, 4, 6, 8), torch.randn(3, 4, 6, 8), torch.ones(3, 6, dtype=torch.bool))
""",
    "a mask and is_causal": """
def attend(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=True)  # <- SD112

attend(torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.ones(5, 5, dtype=torch.bool))
""",
}

RIGHT = {
    "masks as they are taken": """
class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x, pad):
        n, t, width = x.shape
        causal = torch.triu(torch.ones(t, t, dtype=torch.bool), diagonal=1)
        a = self.attention(x, x, x, key_padding_mask=pad, attn_mask=causal)[0]
        b = self.attention(x, x, x, attn_mask=causal.expand(n * self.heads, t, t))[0]
        return a + b

Layer(8, 2)(torch.randn(3, 5, 8), torch.zeros(3, 5, dtype=torch.bool))
""",
    "a mask and is_causal, where the caller chooses": """
class Block(nn.Module):
    def __init__(self, dim, fused=True):
        super().__init__()
        self.fused, self.project = fused, nn.Linear(dim, dim)

    def forward(self, x, mask=None, is_causal=False):
        q = self.project(x)
        if self.fused:
            return F.scaled_dot_product_attention(q, x, x, attn_mask=mask, is_causal=is_causal)
        scores = q @ x.mT
        if is_causal:
            scores = scores + torch.full(scores.shape[-2:], -torch.inf).triu(1)
        return scores.softmax(-1) @ x
""",
    "masks that broadcast": """
def attend(q, k, v, keep):
    n, h, t, d = q.shape
    a = F.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])
    b = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    c = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(t, k.size(2), dtype=torch.bool).tril())
    return a + b + c

attend(torch.randn(3, 4, 5, 8), torch.randn(3, 4, 5, 8), torch.randn(3, 4, 5, 8), torch.ones(3, 5, dtype=torch.bool))
""",
    "a transformer time first": """
layer = nn.TransformerEncoderLayer(8, 2)
encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
x = torch.randn(5, 3, 8)
y = encoder(x, mask=nn.Transformer.generate_square_subsequent_mask(5), src_key_padding_mask=torch.zeros(3, 5))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD112", "SD205") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD112", "SD205") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a padding mask as a mask of queries and keys"], "SD112") + "\n" == MESSAGE


MESSAGE = """\
error[SD112] mismatched-mask: `attention` takes (t, t) as `attn_mask`, got (n, t)
  --> model.py:17:50
   |
11 |         self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
   |                          ----------------------------------------------------- built here
16 |         pad = tokens == 0
   |               ----------- pad is (n, t)
17 |         return self.attention(x, x, x, attn_mask=pad)[0]  # <- SD112
   |                                                  ^^^ pad is (n, t), should be (t, t)
   = why: `attn_mask` has one row for each query, and is shared by the batch; which keys are padding is said in `key_padding_mask`
   = note: runs only if n == t
   = help: key_padding_mask=pad
   = more: shapedoc explain SD112
"""
