"""SD403: a softmax that names no axis."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a matrix on one way, three axes on the other": """
def attend(scores, batch, length, hidden=None):
    scores = scores.view(batch, length)
    if hidden is not None:
        scores = scores + torch.zeros(batch, 1, length)
    return F.softmax(scores)  # <- SD403
""",
    "three axes": """
def attend(query, memory):
    scores = torch.bmm(query, memory.transpose(1, 2))
    return torch.bmm(F.softmax(scores), memory)  # <- SD403

attend(torch.randn(2, 3, 7), torch.randn(2, 5, 7))
""",
    "turned before, and not turned back": """
def normalised(scores):
    B, T, S = scores.shape
    turned = scores.transpose(1, 2)
    return F.softmax(turned) * 2  # <- SD403
""",
    "a module without dim": """
class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax()

    def forward(self, q, memory):
        B, T, D = memory.shape
        return self.softmax(torch.bmm(memory, q.unsqueeze(2)))  # <- SD403
""",
    "logarithms, of a step whose axis stays": """
class Words(nn.Module):
    def __init__(self, kind, width, hidden, layers, words):
        super().__init__()
        self.rnn_kind = kind
        self.layers, self.hidden = layers, hidden
        self.run = getattr(nn, self.rnn_kind.upper())(width, hidden, layers, bias=False)
        self.table = nn.Embedding(words, width)
        self.out = nn.Linear(hidden, words)

    def begin(self, size):
        weight = next(self.parameters()).data
        if self.rnn_kind == "lstm":
            return (weight.new(self.layers, size, self.hidden).zero_(), weight.new(self.layers, size, self.hidden).zero_())
        return weight.new(self.layers, size, self.hidden).zero_()

    def forward(self, tokens):
        state, found = self.begin(tokens.size(0)), []
        for t in range(tokens.size(1)):
            seen, state = self.run(self.table(tokens[:, t].view(-1)).unsqueeze(0), state)
            found.append(F.log_softmax(self.out(seen)))  # <- SD403
        return torch.cat(found, 1)
""",
    "four axes, over the heads": """
def attend(q, k, v):
    B, H, T, D = q.shape
    return F.softmax(q @ k.transpose(2, 3)) @ v  # <- SD403

attend(torch.randn(2, 4, 5, 8), torch.randn(2, 4, 6, 8), torch.randn(2, 4, 6, 8))
""",
}

BY_HAND = """
import numpy as np


def softmax(x):
    if x.ndim == 2:
        x = np.exp(x - x.max(axis=1, keepdims=True))
        x = x / x.sum(axis=1, keepdims=True)
    elif x.ndim == 1:
        x = np.exp(x - x.max())
        x = x / x.sum()
    return x


def attend(query, values):
    N, T, H = values.shape
    N, H = query.shape
"""

WRONG |= {
    "three axes for one that knows one and two": BY_HAND
    + """
    scores = np.sum(values * query[:, None, :], axis=2, keepdims=True)
    return np.sum(softmax(scores) * values, axis=1)  # <- SD403
""",
}

RIGHT = {
    "a matrix on one way, three axes on the other, and an axis that is given": """
def attend(scores, batch, length, hidden=None):
    scores = scores.view(batch, length)
    if hidden is not None:
        scores = scores + torch.zeros(batch, 1, length)
    return F.softmax(scores, dim=-1)
""",
    "a matrix on one way, four axes on the other": """
def attend(scores, batch, length, heads=None):
    scores = scores.view(batch, length)
    if heads is not None:
        scores = scores.view(1, batch, length, 1)
    return F.softmax(scores)
""",
    "two axes for one that knows one and two": BY_HAND
    + """
    scores = np.sum(values * query[:, None, :], axis=2)
    return np.sum(softmax(scores)[:, :, None] * values, axis=1)
""",
    "two axes": """
def weights(query, memory):
    return F.softmax(torch.bmm(memory, query.unsqueeze(2)).squeeze(2))

weights(torch.randn(2, 7), torch.randn(2, 5, 7))
""",
    "logarithms of a matrix": """
class Words(nn.Module):
    def __init__(self, rnn_type, width, words):
        super().__init__()
        self.run = getattr(nn, rnn_type)(width, width)
        self.out = nn.Linear(width, words)

    def forward(self, seen, state):
        seen, state = self.run(seen.unsqueeze(0), state)
        return F.log_softmax(self.out(seen.squeeze(0)))
""",
    "logarithms over the classes, which come first": """
class Pixels(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.out = nn.Conv2d(3, classes, 1)

    def forward(self, image):
        C, H, W = image.shape
        return F.log_softmax(self.out(image))
""",
    "time first, and summed over it": """
def pool(scores, outputs):
    T, B, D = outputs.shape
    return (F.softmax(scores) * outputs).sum(0)

pool(torch.randn(5, 2, 1), torch.randn(5, 2, 7))
""",
    "an axis is named": """
class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(-1)

    def forward(self, x):
        b, q, k = x.shape
        return self.softmax(x)
""",
    "an axis that is brought to the front for it, and back": """
def normalised(scores, axis):
    turned = scores.transpose(axis, 0).contiguous()
    return F.softmax(turned).transpose(axis, 0)


class Edges(nn.Module):
    def __init__(self, hidden, kinds):
        super().__init__()
        self.out = nn.Linear(hidden, kinds)

    def forward(self, pairs):
        B, E, hidden = pairs.shape
        return normalised(self.out(pairs), -1)
""",
    "a rank that nobody knows": """
def normalise(x):
    return F.softmax(x)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD401", "SD403") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD401", "SD403") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["three axes"], "SD401", "SD403") + "\n" == MESSAGE


MESSAGE = """\
error[SD403] implicit-softmax-axis: softmax without `dim` on 3-D scores (2, 3, 5) takes axis 0, `2`
  --> model.py:8:22
   |
 8 |     return torch.bmm(F.softmax(scores), memory)  # <- SD403
   |                      ^^^^^^^^^^^^^^^^^ scores is (2, 3, 5)
10 | attend(torch.randn(2, 3, 7), torch.randn(2, 5, 7))
   | -------------------------------------------------- in this call of `attend`
   = why: without `dim`, torch takes axis 0 of a tensor with 0, 1 or 3 axes and axis 1 of any other, and only warns
   = help: say which axis: `dim=-1` if the keys come last
   = more: shapedoc explain SD403
"""
