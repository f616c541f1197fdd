"""SD204: reductions that lost the axis that they are combined along."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD204", "SD201", "SD102")
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "with a number, of what certainly has another axis": """
class Routed(nn.Module):
    def __init__(self, width, n_heads, d_head):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.map = nn.Linear(width, n_heads * d_head)

    def forward(self, x, k):
        router = torch.sigmoid(self.map(x).unflatten(-1, (self.n_heads, self.d_head)))
        return router / (router.sum(dim=-1) + 1e-9)  # <- SD204
""",
    "over a later axis, with a number": """
def shares(weights):
    return weights / weights.sum(dim=1).clamp(min=1e-9)  # <- SD204
""",
    "of a rank that is not known, which the sum after it keeps": """
def softmax(x):
    above = torch.exp(x - torch.max(x, dim=-1)[0])  # <- SD204
    return above / torch.sum(above, dim=-1, keepdim=True)
""",
    "a sum of what meets other weights by their axes": """
class Pool(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.words, self.out = nn.Embedding(words, width), nn.Linear(width, 1)

    def forward(self, words):
        states = self.words(words)
        weights = self.normalised(self.out(states).squeeze(-1), words != 0)
        return torch.einsum("blf,bl->bf", states, weights)

    def normalised(self, scores, mask):
        weights = torch.exp(scores) * mask.float()
        return weights / torch.sum(weights, dim=1)  # <- SD204
""",
    "a layer norm that keeps no axis": """
class Norm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.gain, self.shift, self.eps = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width)), eps

    def forward(self, x):
        mean = x.mean(-1)  # <- SD204
        return self.gain * (x - mean) / (x.std(-1) + self.eps) + self.shift
""",
    "what a layer made, by its largest": """
class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.out = nn.Linear(width, classes)

    def forward(self, x):
        B, T, width = x.shape
        logits = self.out(x)[:, -1, :]
        return (logits - logits.max(dim=-1).values).exp()  # <- SD204
""",
    "weights divided by their sum": """
def normalise(w):
    B, T = w.shape
    total = w.sum(dim=1)  # <- SD204
    return w / total
""",
    "a softmax in numpy": """
def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1)  # <- SD204
""",
    "a layer norm by hand": """
class Norm(nn.Module):
    def forward(self, x):
        B, T, d = x.shape
        mean = x.mean(-1)  # <- SD204
        return x - mean
""",
    "vectors of length one": """
x = torch.randn(4, 6)
unit = x / x.norm(dim=1)  # <- SD204
""",
    "over axis 1 of whatever": """
def softmax(z):
    e = np.exp(z)
    return e / e.sum(axis=1)  # <- SD204
""",
    "of a rank that is not known, beside one that keeps its axis": """
class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        mean = x.mean(-1)  # <- SD204
        deviation = x.std(-1, keepdim=True)
        return self.gain * (x - mean) / (deviation + 1e-6)
""",
    "in a layer that is fed by another of its kind": """
class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        mean = x.mean(-1)  # <- SD204
        return self.gain * (x - mean) / (x.std(-1, keepdim=True) + 1e-6)


class Twice(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.before, self.after = Norm(width), Norm(width)
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        B, T, width = x.shape
        return self.after(x + self.mix(self.before(x)))
""",
    "the field of what a maximum gives": """
def centred(scores):
    B, T = scores.shape
    top = scores.max(dim=-1).values  # <- SD204
    return scores - top
""",
}

RIGHT = {
    "a vector, or rows of one, with a number": """
def shares(weights, rows):
    return weights / (weights.sum(dim=-1) + 1e-9), rows.unsqueeze(-2) / (rows.unsqueeze(-2).sum(-1) + 1e-9)
""",
    "over the first axis from the end that is known": """
def centred(x):
    x = x.unflatten(-1, (4, 8))
    return x - (x.mean(-1, keepdim=True) + 1.0), x.sum(0) - (x.sum(0) + 1.0)
""",
    "a vector by its own mean": """
class Centre(nn.Module):
    def forward(self, x):
        return x - x.mean(-1)
""",
    "the axis is kept": """
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
    "one vector": """
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum(axis=-1)
""",
    "over the first axis": """
def standard(x):
    n, d = x.shape
    return (x - x.mean(0)) / x.std(0)
""",
    "over everything": """
def share(x):
    B, T = x.shape
    return x / x.sum()
""",
    "inserted again": """
def normalise(w):
    B, T = w.shape
    return w / w.sum(1).unsqueeze(1)
""",
    "indexed again": """
def normalise(w):
    B, T = w.shape
    total = w.sum(axis=1)
    return w / total[:, None]
""",
    "a column of a table": """
def columns(table):
    n, m = table.shape
    return table / table.sum(axis=0)
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
    assert full_text(HEAD + WRONG["weights divided by their sum"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD204] lost-keepdim: `sum` drops an axis of w (B, T), and its result is combined with it again
  --> model.py:9:13
   |
 9 |     total = w.sum(dim=1)  # <- SD204
   |             ^^^^^^^^^^^^ total is (B,), should be (B, 1)
10 |     return w / total
   |            --------- total lines up with the last axes of w
   = why: without the reduced axis, axes meet from the right: the result for row i is applied to column i
   = note: runs only where the tensor is square
   = help: give `sum` keepdim=True
   = more: shapedoc explain SD204
"""
