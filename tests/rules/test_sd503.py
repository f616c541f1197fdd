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
    "a mask that a decoder takes and does not hand on": """
class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attn, self.v = nn.Linear(2 * width, width), nn.Linear(width, 1)

    def forward(self, state, memory, mask=None):
        states = state.unsqueeze(1).repeat(1, memory.shape[1], 1)
        scores = self.v(torch.tanh(self.attn(torch.cat((states, memory), dim=2)))).squeeze(2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e10)
        return F.softmax(scores, dim=1)


class Decoder(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.attention, self.embedding = Attention(width), nn.Embedding(words, width)
        self.rnn = nn.GRU(2 * width, width, batch_first=True)

    def forward(self, token, state, memory, mask):  # <- SD503
        weights = self.attention(state, memory).unsqueeze(1)
        x = torch.cat((self.embedding(token.unsqueeze(1)), torch.bmm(weights, memory)), dim=2)
        return self.rnn(x, state.unsqueeze(0))
""",
    "causal in training, and not where it generates": """
class Translator(nn.Module):
    def __init__(self, vocabulary, width, heads, layers):
        super().__init__()
        self.words, self.out = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(width, heads, batch_first=True), layers)

    def forward(self, memory, target):
        T = target.size(1)
        future = torch.triu(torch.full((T, T), float("-inf")), diagonal=1)
        return self.out(self.decoder(self.words(target), memory, tgt_mask=future))

    def translate(self, memory, first, steps):
        tokens = torch.full((memory.size(0), 1), first)
        for _ in range(steps):
            states = self.decoder(self.words(tokens), memory)  # <- SD503
            tokens = torch.cat((tokens, self.out(states[:, -1]).argmax(-1, keepdim=True)), dim=1)
        return tokens
""",
    "the second mask begins at the bare scores": """
class Attention(nn.Module):
    def hide(self, scores, padding=None, future=None):
        if padding is not None:
            hidden = scores.masked_fill(padding[:, None, None, :], float("-inf"))  # <- SD503
        if future is not None:
            hidden = scores.masked_fill(future == 0, float("-inf"))
        return hidden

    def forward(self, q, k, v, padding=None, future=None):
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        return self.hide(scores, padding, future).softmax(dim=-1) @ v
""",
    "masked scores that the softmax does not take": """
def attend(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    masked = scores.masked_fill(mask == 0, -1e9)  # <- SD503
    return torch.softmax(scores, dim=-1) @ v
""",
    "rows of a copy, filled from a length on": """
def attend(q, k, v, lengths):
    scores = q @ k.transpose(1, 2) / q.size(-1) ** 0.5
    shape = scores.shape
    rows = scores.reshape(-1, shape[-1]).clone()
    for i, row in enumerate(rows):
        row[int(lengths[i]) :] = -1e6  # <- SD503
    return torch.softmax(scores.reshape(shape), dim=-1) @ v
""",
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

WRONG |= {
    "a module of its own gives the weights": """
class Weigh(nn.Module):
    def __init__(self, d_h, d_s):
        super().__init__()
        self.join, self.v = nn.Linear(d_h + d_s, d_s), nn.Linear(d_s, 1, bias=False)

    def forward(self, state, memory, mask):  # <- SD503
        B, T, d_h = memory.shape
        state = state.unsqueeze(1).repeat(1, T, 1)
        energy = torch.tanh(self.join(torch.cat((state, memory), dim=2)))
        return torch.softmax(self.v(energy).squeeze(2), dim=1)
""",
}

RIGHT = {
    "a module of its own gives masked weights": """
class Weigh(nn.Module):
    def __init__(self, d_h, d_s):
        super().__init__()
        self.join, self.v = nn.Linear(d_h + d_s, d_s), nn.Linear(d_s, 1, bias=False)

    def forward(self, state, memory, mask):
        B, T, d_h = memory.shape
        state = state.unsqueeze(1).repeat(1, T, 1)
        energy = torch.tanh(self.join(torch.cat((state, memory), dim=2)))
        return torch.softmax(self.v(energy).squeeze(2).masked_fill(mask, -1e9), dim=1)
""",
    "classes of what is read, whatever is padding": """
class Judge(nn.Module):
    def __init__(self, d, classes):
        super().__init__()
        self.out = nn.Linear(d, classes)

    def forward(self, notes, mask):
        return torch.softmax(self.out(notes), dim=-1)
""",
    "padding, and its reverse that nobody needs": """
class Refiner(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.embed, self.out = nn.Embedding(words, d), nn.Linear(d, words)

    def forward(self, tokens):
        padding = tokens.eq(0)
        words = tokens.ne(0)
        x = self.embed(tokens)
        scores = (x @ x.transpose(1, 2)).masked_fill(padding.unsqueeze(1), -1e9)
        return self.out(scores.softmax(dim=-1) @ x)
""",
    "padding that the decoder hides by itself": """
class Decoder(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.embed, self.out = nn.Embedding(words, d), nn.Linear(d, words)

    def forward(self, tokens, memory):
        x = self.embed(tokens)
        hidden = tokens.eq(0).unsqueeze(1)
        scores = (x @ x.transpose(1, 2)).masked_fill(hidden, -1e9)
        return self.out(scores.softmax(dim=-1) @ x + memory.mean(1, keepdim=True))

class Refiner(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.decoder = Decoder(words, d)

    def forward(self, tokens, memory):
        padding = tokens.eq(0)
        return self.decoder(tokens, memory)

    def refine(self, tokens, memory):
        padding, words = tokens.eq(0), tokens.ne(0)
        probs = self.decoder(tokens, memory).softmax(dim=-1).max(dim=-1)[0]
        return probs.masked_fill(padding, 1.0)
""",
    "a mask that a decoder takes and hands on": """
class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attn, self.v = nn.Linear(2 * width, width), nn.Linear(width, 1)

    def forward(self, state, memory, mask=None):
        states = state.unsqueeze(1).repeat(1, memory.shape[1], 1)
        scores = self.v(torch.tanh(self.attn(torch.cat((states, memory), dim=2)))).squeeze(2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e10)
        return F.softmax(scores, dim=1)


class Decoder(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.attention, self.embedding = Attention(width), nn.Embedding(words, width)
        self.rnn = nn.GRU(2 * width, width, batch_first=True)

    def forward(self, token, state, memory, mask):
        weights = self.attention(state, memory, mask).unsqueeze(1)
        x = torch.cat((self.embedding(token.unsqueeze(1)), torch.bmm(weights, memory)), dim=2)
        return self.rnn(x, state.unsqueeze(0))
""",
    "a mask that a decoder takes beside the one that it hands on": """
class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attn, self.v = nn.Linear(2 * width, width), nn.Linear(width, 1)

    def forward(self, state, memory, mask=None):
        states = state.unsqueeze(1).repeat(1, memory.shape[1], 1)
        scores = self.v(torch.tanh(self.attn(torch.cat((states, memory), dim=2)))).squeeze(2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e10)
        return F.softmax(scores, dim=1)


class Decoder(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.attention, self.embedding = Attention(width), nn.Embedding(words, width)
        self.rnn = nn.GRU(2 * width, width, batch_first=True)

    def forward(self, token, state, memory, trg_mask, mask):
        weights = self.attention(state, memory, mask).unsqueeze(1)
        x = torch.cat((self.embedding(token.unsqueeze(1)), torch.bmm(weights, memory)), dim=2)
        return self.rnn(x, state.unsqueeze(0))
""",
    "causal in training and where it generates": """
class Translator(nn.Module):
    def __init__(self, vocabulary, width, heads, layers):
        super().__init__()
        self.words, self.out = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(width, heads, batch_first=True), layers)

    def forward(self, memory, target):
        T = target.size(1)
        future = torch.triu(torch.full((T, T), float("-inf")), diagonal=1)
        return self.out(self.decoder(self.words(target), memory, tgt_mask=future))

    def translate(self, memory, first, steps):
        tokens = torch.full((memory.size(0), 1), first)
        for _ in range(steps):
            T = tokens.size(1)
            future = torch.ones(T, T, dtype=torch.bool).triu(1)
            states = self.decoder(self.words(tokens), memory, tgt_mask=future)
            tokens = torch.cat((tokens, self.out(states[:, -1]).argmax(-1, keepdim=True)), dim=1)
        return tokens
""",
    "one layer, whose last position may see all": """
class Translator(nn.Module):
    def __init__(self, vocabulary, width, heads, layers):
        super().__init__()
        self.words, self.out = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(width, heads, batch_first=True), 1)

    def forward(self, memory, target):
        T = target.size(1)
        future = torch.triu(torch.full((T, T), float("-inf")), diagonal=1)
        return self.out(self.decoder(self.words(target), memory, tgt_mask=future))

    def translate(self, memory, first, steps):
        tokens = torch.full((memory.size(0), 1), first)
        for _ in range(steps):
            states = self.decoder(self.words(tokens), memory)
            tokens = torch.cat((tokens, self.out(states[:, -1]).argmax(-1, keepdim=True)), dim=1)
        return tokens
""",
    "one layer, by a name of its own": """
class Translator(nn.Module):
    def __init__(self, vocabulary, width, heads):
        super().__init__()
        depth = 1
        self.words, self.out = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(width, heads, batch_first=True), depth)

    def forward(self, memory, target):
        T = target.size(1)
        future = torch.triu(torch.full((T, T), float("-inf")), diagonal=1)
        return self.out(self.decoder(self.words(target), memory, tgt_mask=future))

    def translate(self, memory, first, steps):
        tokens = torch.full((memory.size(0), 1), first)
        for _ in range(steps):
            states = self.decoder(self.words(tokens), memory)
            tokens = torch.cat((tokens, self.out(states[:, -1]).argmax(-1, keepdim=True)), dim=1)
        return tokens
""",
    "one mask or the other": """
def attend(q, k, v, padding=None, future=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if padding is not None:
        hidden = scores.masked_fill(padding[:, None, None, :], float("-inf"))
    elif future is not None:
        hidden = scores.masked_fill(future, float("-inf"))
    else:
        hidden = scores
    return hidden.softmax(dim=-1) @ v
""",
    "the second mask has the first in it": """
def attend(q, k, v, future, padding=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    hidden = scores.masked_fill(future, float("-inf"))
    if padding is not None:
        hidden = scores.masked_fill(future | padding[:, None, None, :], float("-inf"))
    return hidden.softmax(dim=-1) @ v
""",
    "one after the other": """
def attend(q, k, v, future, padding=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    hidden = scores.masked_fill(future, float("-inf"))
    if padding is not None:
        hidden = hidden.masked_fill(padding[:, None, None, :], float("-inf"))
    return hidden.softmax(dim=-1) @ v
""",
    "masked scores that are given away beside the weights of all": """
def attend(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    masked = scores.masked_fill(mask == 0, -1e9)
    return torch.softmax(scores, dim=-1) @ v, masked
""",
    "rows of the scores themselves, filled from a length on": """
def attend(q, k, v, lengths):
    scores = q @ k.transpose(1, 2) / q.size(-1) ** 0.5
    shape = scores.shape
    rows = scores.reshape(-1, shape[-1]).clone()
    for i, row in enumerate(rows):
        row[int(lengths[i]) :] = -1e6
    return torch.softmax(rows.reshape(shape), dim=-1) @ v
""",
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
