"""SD501: masks that are the other way round."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD501", "SD502", "SD505")
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a keep mask filled": """
class Pool(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.score = nn.Linear(d, 1)

    def forward(self, tokens):
        x = self.embed(tokens)
        mask = tokens != 0
        scores = self.score(x).squeeze(-1).masked_fill(mask, float("-inf"))  # <- SD501
        return torch.bmm(scores.softmax(1).unsqueeze(1), x).squeeze(1)
""",
    "lengths, with where": """
def attend(scores, lengths):
    B, T = scores.shape
    mask = torch.arange(T)[None] >= lengths.view(B, 1)
    return torch.where(mask, scores, torch.tensor(-1e9)).softmax(-1)  # <- SD501
""",
    "what torch's module hides": """
class Layer(nn.Module):
    def __init__(self, vocab, d, heads):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.layer = nn.TransformerEncoderLayer(d, heads, batch_first=True)

    def forward(self, tokens):
        keep = tokens.ne(0)  # <- SD501
        return self.layer(self.embed(tokens), src_key_padding_mask=keep)
""",
    "the past is filled": """
def attend(q, k, v):
    T = q.size(-2)
    past = torch.tril(torch.ones(T, T))
    scores = q @ k.transpose(-2, -1)
    return scores.masked_fill(past == 1, -1e9).softmax(-1) @ v  # <- SD501
""",
    "what the fused function keeps": """
def attend(q, k, v):
    T = q.size(-2)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)  # <- SD501
    return F.scaled_dot_product_attention(q, k, v, attn_mask=future)
""",
    "an additive mask of the words, in numpy": """
def attend(scores, tokens, pad):
    B, T = scores.shape
    real = (tokens != pad).astype(float)
    scores = scores + real * -1e9  # <- SD501
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
    "two meanings joined": """
def masks(tokens, pad):
    B, T = tokens.shape
    keep = (tokens != pad).unsqueeze(1)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return keep & future  # <- SD501
""",
    "filled, and filled again": """
def windows(ids):
    mask = ids.unsqueeze(1) - ids.unsqueeze(2)
    return mask.masked_fill(mask != 0, -100.0).masked_fill(mask != 0, 0.0)  # <- SD501
""",
    "a mask of ones": """
def attend(scores, n):
    mask = torch.ones((scores.size(0), n), dtype=torch.bool)
    mask = F.pad(mask, (1, 0), value=True)[:, None, None, :]
    return scores.masked_fill(mask, -torch.finfo(scores.dtype).max).softmax(-1)  # <- SD501
""",
    "taken for both by turns": """
class Attention(nn.Module):
    def __init__(self, width, flash=True):
        super().__init__()
        self.flash = flash
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x, mask):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if self.flash:
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        return scores.masked_fill(mask, float("-inf")).softmax(-1) @ v  # <- SD501
""",
    "joined with what is kept": """
def attend(scores, mask, T):
    both = mask & torch.ones(T, T, dtype=torch.bool).tril()
    return scores.masked_fill(both, float("-inf")).softmax(-1)  # <- SD501
""",
    "the padding that the embedding says": """
class Encoder(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=1)
        self.encode = nn.TransformerEncoderLayer(width, 4, batch_first=True)

    def forward(self, ids):
        mask = ids.ne(1)  # <- SD501
        return self.encode(self.embed(ids), src_key_padding_mask=mask)
""",
}

WRONG |= {
    "one mask, hidden before and kept after": """
def block(x, bits, values):
    scores = x + bits.unsqueeze(1) * -1e30
    return (F.softmax(scores, dim=2) * bits.unsqueeze(2)) @ values  # <- SD501
""",
    "bytes turned round": """
def attend(scores, memory, lengths):
    real = memory.new(memory.size(0), memory.size(1)).byte().zero_()
    for i, n in enumerate(lengths):
        real[i, :n] = 1
    scores = scores.masked_fill(~real, -1e9)  # <- SD501
    return scores.softmax(1)
""",
}

WRONG |= {
    "positions of what is no padding set to zero": """
PAD = 0

class Positions(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(n, d))

    def forward(self, tokens):
        B, T = tokens.size()
        found = self.table[torch.arange(T).expand(B, T)]
        padded = tokens == PAD
        return found.masked_fill(padded.unsqueeze(-1) == 0, 0)  # <- SD501
""",
    "a mean over what was set to zero": """
def mean(memory, bits):
    memory = memory.masked_fill(bits.unsqueeze(-1), 0)  # <- SD501
    count = bits.long().sum(dim=1, keepdim=True)
    return memory.sum(dim=1) / count.float()
""",
    "a mean loss over how much padding there is": """
def mean(losses, lengths):
    padded = torch.arange(int(lengths.max())).unsqueeze(0) >= lengths.unsqueeze(1)
    losses = losses.masked_fill_(padded.view(-1), 0)
    return torch.sum(losses) / padded.sum()  # <- SD501
""",
}

RIGHT = {
    "positions of the padding set to zero": """
PAD = 0

class Positions(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(n, d))

    def forward(self, tokens):
        B, T = tokens.size()
        found = self.table[torch.arange(T).expand(B, T)]
        padded = tokens == PAD
        return found.masked_fill(padded.unsqueeze(-1), 0)
""",
    "a mean over what is real": """
def mean(memory, bits):
    memory = memory.masked_fill(bits.unsqueeze(-1) == 0, 0)
    count = bits.long().sum(dim=1, keepdim=True)
    return memory.sum(dim=1) / count.float()
""",
    "a mean over what is left": """
def mean(memory, bits):
    memory = memory.masked_fill(bits.unsqueeze(-1), 0)
    count = (~bits).sum(dim=1, keepdim=True)
    return memory.sum(dim=1) / count
""",
    "what real tokens are changed by": """
PAD = 0

def at_the_padding(tokens, found):
    real = tokens != PAD
    return (found - found.masked_fill(real.unsqueeze(-1), 0)).norm()
""",
    "one mask, kept both times": """
def block(x, bits, values):
    scores = x + (1 - bits.unsqueeze(1)) * -1e30
    return (F.softmax(scores, dim=2) * bits.unsqueeze(2)) @ values
""",
    "bytes made bool": """
def attend(scores, memory, lengths):
    real = torch.zeros(memory.size(0), memory.size(1), dtype=torch.uint8)
    real[:, 0] = 1
    return scores.masked_fill(~real.bool(), -1e9).softmax(1)
""",
    "filled where it is not kept": """
def attend(scores, tokens, pad):
    mask = tokens != pad
    return scores.masked_fill(~mask, float("-inf")).softmax(-1)
""",
    "filled where it is zero": """
def attend(scores, tokens, pad):
    mask = (tokens != pad).unsqueeze(1)
    return scores.masked_fill(mask == 0, -1e9).softmax(-1)
""",
    "a drop mask": """
def attend(scores, tokens, pad):
    mask = tokens == pad
    return scores.masked_fill(mask, float("-inf")).softmax(-1)
""",
    "one minus": """
def attend(scores, tokens, pad):
    mask = (tokens != pad).float()
    return (scores + (1.0 - mask) * -10000.0).softmax(-1)
""",
    "twice turned": """
def attend(scores, tokens, pad):
    mask = ~(tokens == pad)
    return torch.where(mask.logical_not(), torch.tensor(-1e9), scores).softmax(-1)
""",
    "a parameter of which nothing is known": """
def attend(scores, mask):
    return scores.masked_fill(mask, float("-inf")).softmax(-1)
""",
    "causal for the fused function": """
def attend(q, k, v):
    T = q.size(-2)
    seen = torch.ones(T, T, dtype=torch.bool).tril()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
""",
    "causal for torch's module": """
class Layer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, heads, batch_first=True)

    def forward(self, x):
        T = x.size(1)
        future = torch.triu(torch.full((T, T), float("-inf")), diagonal=1)
        return self.attention(x, x, x, attn_mask=future)[0]
""",
    "the mask of torch's own transformer": """
def mask(size):
    mask = (torch.triu(torch.ones(size, size)) == 1).transpose(0, 1)
    return mask.float().masked_fill(mask == 0, float("-inf")).masked_fill(mask == 1, float(0.0))


class Layer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(d, heads)

    def forward(self, x):
        return self.layer(x, mask(x.size(0)))
""",
    "padding and causal joined": """
def masks(tokens, pad):
    B, T = tokens.shape
    keep = (tokens != pad).unsqueeze(1)
    seen = torch.ones(T, T, dtype=torch.bool).tril()
    return keep & seen
""",
    "zeroed loss": """
def loss(per_token, tokens, pad):
    keep = (tokens != pad).float()
    return (per_token * keep).sum() / keep.sum()
""",
    "a comparison of values": """
def clipped(x):
    small = x < 0
    return x.masked_fill(small, -1e9).softmax(-1)
""",
    "filled elsewhere than emptied": """
def windows(ids):
    mask = ids.unsqueeze(1) - ids.unsqueeze(2)
    return mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0)
""",
    "ones that are turned round": """
def attend(scores, n):
    mask = torch.ones((scores.size(0), n), dtype=torch.bool)[:, None, None, :]
    return scores.masked_fill(~mask, float("-inf")).softmax(-1)
""",
    "one mask for what lies in it and what does not": """
def both(scores, mask):
    inside = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    outside = scores.masked_fill(mask, float("-inf")).softmax(-1)
    return inside, outside
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
    assert full_text(HEAD + WRONG["a keep mask filled"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD501] mask-polarity: mask is true where something is to be seen, but `masked_fill` hides what is true
  --> model.py:16:56
   |
15 |         mask = tokens != 0
   |                ----------- true for every real token
16 |         scores = self.score(x).squeeze(-1).masked_fill(mask, float("-inf"))  # <- SD501
   |                                                        ^^^^ mask is (?, ?), True means keep, should be True \
means drop
   = why: the softmax then reads what was to be hidden and nothing else; a row in which all is hidden becomes NaN
   = help: pass `~mask`, or make the mask the other way round
   = more: shapedoc explain SD501
"""
