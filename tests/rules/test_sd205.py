"""SD205: masks that vary along the wrong axis."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from tests.rules.expectations import expected, found, full_text

CODES = ("SD205", "SD102", "SD201", "SD501")
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a list of rows of a batch, beside what a comment says of a parameter that is turned": """
class Score(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attend, self.v = nn.Linear(2 * d, d), nn.Parameter(torch.rand(d))

    def forward(self, hidden, memory, lengths):
        \"\"\"hidden: the state of the decoder, (layers, B, H); memory: (T, B, H).\"\"\"
        hidden = hidden.repeat(memory.size(0), 1, 1).transpose(0, 1)
        memory = memory.transpose(0, 1)  # [B*T*H]
        energies = self.score(hidden, memory)
        rows = []
        for b in range(lengths.size(0)):
            rows.append([0] * lengths[b].item() + [1] * (memory.size(1) - lengths[b].item()))
        mask = moved(torch.ByteTensor(rows).unsqueeze(1))  # [B,1,T]
        return F.softmax(energies.masked_fill(mask, -1e18), dim=-1)  # <- SD205

    def score(self, hidden, memory):
        energy = torch.tanh(self.attend(torch.cat([hidden, memory], 2))).transpose(2, 1)
        return torch.bmm(self.v.repeat(memory.shape[0], 1).unsqueeze(1), energy).squeeze(1)
""",
    "padding along the queries": """
class Attend(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)

    def forward(self, tokens):
        x = self.embed(tokens)
        scores = torch.matmul(x, x.transpose(-2, -1))
        padding = (tokens == 0).unsqueeze(-1)
        return F.softmax(scores.masked_fill(padding, -1e9), dim=-1) @ x  # <- SD205
""",
    "a mask of batch and keys on scores with heads": """
def attend(q, k, v, lengths):
    B, H, T, d = q.shape
    keep = torch.arange(T)[None, :] < lengths.view(B)[:, None]
    scores = q @ k.transpose(-2, -1)
    scores = scores.masked_fill(~keep, float("-inf"))  # <- SD205
    return scores.softmax(-1) @ v
""",
    "a mask of batch and keys on one query": """
def attend(state, memory, lengths):
    B, T, d = memory.shape
    keep = torch.arange(T) < lengths.view(B, 1)
    scores = torch.bmm(state.unsqueeze(1), memory.transpose(1, 2))
    weights = scores.masked_fill(~keep, float("-inf")).softmax(-1)  # <- SD205
    return torch.bmm(weights, memory)
""",
    "padding along the queries, in numpy": """
def attend(x, tokens, pad):
    B, T = tokens.shape
    B, T, d = x.shape
    scores = x @ x.transpose(0, 2, 1)
    real = tokens != pad
    scores = np.where(real[:, :, None], scores, -1e9)  # <- SD205
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ x
""",
    "a mask without an axis for the heads, in a model that a function puts together": """
class Heads(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.width = heads, d // heads
        self.query, self.key, self.value = (nn.Linear(d, d) for _ in range(3))

    def forward(self, x, mask):
        n, t, d = x.shape
        q, k, v = (f(x).view(n, t, self.heads, self.width).transpose(1, 2) for f in (self.query, self.key, self.value))
        scores = (q @ k.transpose(-2, -1)).masked_fill(mask, -1e9)
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(n, t, d)

class Stack(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return x

class Model(nn.Module):
    def __init__(self, table, body):
        super().__init__()
        self.table, self.body = table, body

    def forward(self, tokens):
        mask = (tokens == 0).unsqueeze(1)  # <- SD205
        return self.body(self.table(tokens), mask)

def build(vocab, d, heads, depth):
    body = Stack(nn.ModuleList([Heads(d, heads) for _ in range(depth)]))
    return Model(nn.Embedding(vocab, d), body)
""",
}

WRONG |= {
    "padding along the rows of a causal mask": """
class Model(nn.Module):
    def __init__(self, pad):
        super().__init__()
        self.pad = pad

    def forward(self, words):
        real = (words != self.pad).unsqueeze(1).unsqueeze(3)  # <- SD205
        n = words.shape[1]
        past = torch.tril(torch.ones(n, n)).bool()
        return real & past
""",
    "padding along the rows of a mask of the future": """
def hidden(words, pad):
    b, n = words.shape
    blank = (words == pad)[:, None, :, None]  # <- SD205
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    return blank | future
""",
}

RIGHT = {
    "padding along both axes, and a causal mask": """
def visible(words, pad):
    b, n = words.shape
    real = words != pad
    past = torch.tril(torch.ones(n, n)).bool()
    return real.unsqueeze(1) & real.unsqueeze(2) & past
""",
    "padding along the columns of a causal mask": """
def visible(words, pad):
    b, n = words.shape
    past = torch.tril(torch.ones(n, n)).bool()
    return (words != pad).unsqueeze(1).unsqueeze(2) & past
""",
    "rows of examples beside what is not known": """
def visible(words, pad, shown):
    b, n = words.shape
    past = torch.tril(torch.ones(n, n)).bool()
    return (words != pad).unsqueeze(2) & shown & past
""",
    "padding along the keys": """
class Attend(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)

    def forward(self, tokens):
        x = self.embed(tokens)
        scores = torch.matmul(x, x.transpose(-2, -1))
        padding = (tokens == 0).unsqueeze(-2)
        return F.softmax(scores.masked_fill(padding, -1e9), dim=-1) @ x
""",
    "time first, normalised over axis 0": """
def attend(scores, memory, lengths):
    T, B = scores.shape
    keep = torch.arange(T)[:, None] < lengths.view(1, B)
    weights = scores.masked_fill(~keep, float("-inf")).softmax(0)
    return (weights.unsqueeze(-1) * memory).sum(0)
""",
    "one column of scores, normalised over axis 1": """
def attend(scores, memory, lengths):
    B, T, one = scores.shape
    keep = torch.arange(T)[None, :, None] < lengths.view(B, 1, 1)
    weights = scores.view(B, T, 1).masked_fill(~keep, -1e9).softmax(1)
    return (weights * memory).sum(1)
""",
    "scores that get an axis after they were masked": """
class Attend(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, memory, mask):
        B, T = mask.shape
        q, k, v = self.q(x), self.k(memory), self.v(memory)
        scores = torch.bmm(q, k.transpose(1, 2)).masked_fill(~mask.unsqueeze(1), -1e9)
        v = v.unsqueeze(1)
        weights = scores.unsqueeze(3).softmax(2)
        return (v * weights).sum(2)
""",
    "a docstring with one letter for queries and for keys": """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)

    def weights(self, query, key, mask):
        '''
        :param query: (N, length, d)
        :param key: (N, length, d)
        '''
        scores = query @ key.transpose(-2, -1)  # (N, length, length)
        return scores.masked_fill(mask == 0, -1e9).softmax(-1)

    def forward(self, query, key, mask):
        B = query.size(0)
        return self.weights(self.q(query).view(B, -1, 8), self.k(key).view(B, -1, 8), mask)


class Decoder(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.attention = Attention(d)

    def forward(self, target, memory):
        x = self.embed(target)
        n_queries = target.size(1)
        mask = torch.ones((n_queries, memory.size(1)))
        return self.attention(x, memory, mask)
""",
    "layers of another class, which take the positions": """
class Relative(nn.Module):
    def forward(self, x, positions, mask=None):
        return (x @ x.transpose(1, 2) + positions).masked_fill(mask, -1e9).softmax(2) @ x


class Plain(nn.Module):
    def forward(self, x, mask=None):
        scores = x @ x.transpose(1, 2)
        if mask is not None:
            scores = scores.masked_fill(mask[:, :, None] > 0, -1e9)
        return scores.softmax(1) @ x


class Model(nn.Module):
    def __init__(self, vocab, d, kind):
        super().__init__()
        self.kind = kind
        self.embed = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList()
        if kind == 0:
            for i in range(4):
                self.layers.append(Relative())
        elif kind == 1:
            for i in range(4):
                self.layers.append(Plain())

    def forward(self, words):
        x = self.embed(words)
        B, T, d = x.shape
        positions = torch.randn(B, 1, T)
        mask = torch.triu(torch.ones(T, T), diagonal=1).bool()
        for layer in self.layers:
            if self.kind == 0:
                x = layer(x, positions, mask=mask)
        return x
""",
    "slots that compete, in one branch": """
class Attend(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, slots, memory, mask, inverted):
        B, T = mask.shape
        q, k, v = self.q(slots), self.k(memory), self.v(memory)
        scores = torch.bmm(q, k.transpose(1, 2)).masked_fill(~mask.unsqueeze(1), -1e9)
        if inverted:
            weights = scores.softmax(dim=-2)
            weights = F.normalize(weights.masked_fill(~mask.unsqueeze(1), 0.0), p=1, dim=-1)
        else:
            weights = scores.softmax(dim=-1)
        return weights @ v
""",
    "slots that compete, where a caller asks for it": """
class Slots(nn.Module):
    def forward(self, query, memory, blank, inverted=False):
        scores = torch.bmm(query, memory.transpose(1, 2))
        scores.masked_fill_(blank.unsqueeze(1), -1e9)
        if inverted:
            share = scores.softmax(dim=-2)
            share = share / share.sum(-1, keepdim=True)
        else:
            share = scores.softmax(dim=-1)
        return torch.bmm(share, memory)
""",
    "queries and keys, each masked": """
def attend(x, lengths):
    B, T, d = x.shape
    keep = torch.arange(T) < lengths.view(B, 1)
    scores = x @ x.transpose(1, 2)
    scores = scores.masked_fill(~keep.unsqueeze(1), -1e9)
    scores = scores.masked_fill(~keep.unsqueeze(2), -1e9)
    return scores.softmax(-1) @ x
""",
    "rows blanked after the softmax": """
def attend(x, lengths):
    B, T, d = x.shape
    keep = torch.arange(T) < lengths.view(B, 1)
    weights = (x @ x.transpose(1, 2)).masked_fill(~keep.unsqueeze(1), -1e9).softmax(-1)
    return (weights @ x).masked_fill(~keep.unsqueeze(2), 0.0)
""",
    "examples without any key": """
def attend(scores, memory, keep):
    B, T = scores.shape
    keep = keep.view(B, T).bool()
    some = keep.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~keep, float("-inf")).masked_fill(~some, 0.0)
    return scores.softmax(-1)
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
    assert full_text(HEAD + WRONG["padding along the queries"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD205] mask-on-wrong-axis: the mask padding (*tokens, ?, 1) is the same for every key: it does not vary \
along the axis that the softmax normalises
  --> model.py:16:45
   |
16 |         return F.softmax(scores.masked_fill(padding, -1e9), dim=-1) @ x  # <- SD205
   |                                             ^^^^^^^ padding is (*tokens, ?, 1)
   |                ---------------------------------------------------- normalised over axis -1 here
   = why: a mask hides keys; one that hides all of a query's keys or none leaves the weights as they are, or NaN
   = help: put the axis of size 1 where the queries are, and the mask's own along the keys
   = more: shapedoc explain SD205
"""


SCORER = """\
import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, hidden):
        scores = self.q(x) @ self.k(x).transpose(1, 2)
        return scores.unsqueeze(1).masked_fill(hidden.unsqueeze(1), -1e9).softmax(-1) @ x.unsqueeze(1)
"""
READER = """\
from torch import nn

from scorer import Scorer


class Reader(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.words, self.scorer = nn.Embedding(words, d), Scorer(d)

    def forward(self, words):
        B, T = words.shape
        hidden = (words == 0).unsqueeze(%s)
        return self.scorer(self.words(words), hidden)
"""


@pytest.mark.parametrize(("axis", "lines"), [("2", [13]), ("1", [])])
def test_a_mask_that_is_used_in_another_file_is_told_where_it_is_laid_out(
    tmp_path: Path, axis: str, lines: list[int]
) -> None:
    (tmp_path / "scorer.py").write_text(SCORER)
    reader = tmp_path / "reader.py"
    reader.write_text(READER % axis)
    findings = analyse(str(reader), reader.read_text(), Settings(roots=(str(tmp_path),))).findings
    assert [f.span.line for f in findings if f.code == "SD205"] == lines
