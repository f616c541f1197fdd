"""SD101, SD108, SD401: heads, classes and probabilities along axes whose sizes nobody gives."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)

    def cut(self, x):
        return x.view(x.size(0), -1, self.heads, self.size)

"""

WRONG = {
    "queries whose heads are not in front": """
    def forward(self, a, b):
        q, k, v = self.cut(self.q(a)), self.cut(self.k(b)).transpose(1, 2), self.cut(self.v(b)).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.size)  # <- SD101
        return F.softmax(scores, dim=-1) @ v
""",
    "keys whose heads are not in front": """
    def forward(self, a, b):
        q, k, v = self.cut(self.q(a)).transpose(1, 2), self.cut(self.k(b)), self.cut(self.v(b)).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.size)  # <- SD101
        return F.softmax(scores, dim=-1) @ v
""",
    "values whose heads are not in front": """
    def forward(self, a, b):
        q, k, v = self.cut(self.q(a)).transpose(1, 2), self.cut(self.k(b)).transpose(1, 2), self.cut(self.v(b))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.size)
        return F.softmax(scores, dim=-1) @ v  # <- SD101
""",
    "classes of unknown number on the last axis": """
class Speller(nn.Module):
    def __init__(self, width, words):
        super().__init__()
        self.embed, self.out = nn.Embedding(len(words), width), nn.Linear(width, len(words))

    def forward(self, tokens):
        T, B = tokens.shape
        return F.cross_entropy(self.out(self.embed(tokens)), tokens)  # <- SD108
""",
    "sorted probabilities that are added up along another axis": """
def nucleus(logits, share):
    ordered, places = torch.sort(logits, descending=True, dim=-1)
    total = torch.cumsum(F.softmax(ordered, dim=-2), dim=-1)  # <- SD401
    return total > share
""",
    "scores that were flattened for the softmax": """
def attend(query, memory):
    B, T, d = query.shape
    B, S, d = memory.shape
    scores = torch.bmm(query, memory.transpose(1, 2))
    shares = F.softmax(scores.view(-1, S), dim=0).view(B, -1, S)  # <- SD401
    return torch.bmm(shares, memory)
""",
}

RIGHT = {
    "heads in front": """
    def forward(self, a, b):
        q, k, v = (self.cut(m(x)).transpose(1, 2) for m, x in ((self.q, a), (self.k, b), (self.v, b)))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.size)
        return F.softmax(scores, dim=-1) @ v
""",
    "heads that attend to heads of one step": """
    def forward(self, a, b):
        q, k, v = self.cut(self.q(a)), self.cut(self.k(a)), self.cut(self.v(a))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.size)
        return F.softmax(scores, dim=-1) @ v
""",
    "pairs of pairs": """
def triangles(x, y):
    B, N, M, d = x.shape
    assert N == M
    return x.permute(0, 3, 1, 2) @ y.permute(0, 3, 1, 2)
""",
    "classes on axis 1": """
class Speller(nn.Module):
    def __init__(self, width, words):
        super().__init__()
        self.embed, self.out = nn.Embedding(len(words), width), nn.Linear(width, len(words))

    def forward(self, tokens):
        T, B = tokens.shape
        return F.cross_entropy(self.out(self.embed(tokens)).transpose(1, 2), tokens)
""",
    "sorted probabilities that are added up along their axis": """
def nucleus(logits, share):
    ordered, places = torch.sort(logits, descending=True, dim=-1)
    return torch.cumsum(F.softmax(ordered, dim=-1), dim=-1) > share
""",
    "coverage: weights of all steps so far": """
def coverage(scores):
    weights = F.softmax(scores, dim=1)
    return torch.cumsum(weights, dim=2) - weights
""",
    "flattened, and normalised along the keys": """
def attend(query, memory):
    B, T, d = query.shape
    B, S, d = memory.shape
    scores = torch.bmm(query, memory.transpose(1, 2))
    shares = F.softmax(scores.view(-1, S), dim=1).view(B, -1, S)
    return torch.bmm(shares, memory)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert [f for f in found(text, "SD101", "SD108", "SD401") if not f.note] == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD101", "SD108", "SD401") == []
