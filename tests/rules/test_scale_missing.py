"""SD405: a scale that is missing where something lies between, or is added."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from kernels import masked_softmax, scaled_softmax


class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.r = nn.Linear(width, width)
        self.maps = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])
        self.near = nn.Parameter(torch.zeros(heads, width // heads))
        self.table = nn.Embedding(32, heads)

    def cut(self, x):
        return x.view(x.size(0), -1, self.heads, self.size).transpose(1, 2)

"""

WRONG = {
    "a mask of which nothing is known is added": """
    def forward(self, a, b, mask):
        q, k, v = self.cut(self.q(a)), self.cut(self.k(b)), self.cut(self.v(b))
        scores = torch.matmul(q, k.transpose(-2, -1))  # <- SD405
        if mask is not None:
            scores += mask * -1e9
        return F.softmax(scores, dim=-1) @ v
""",
    "relative positions that the query is compared with too": """
    def forward(self, x, places):
        b, t, width = x.shape
        q, k, v, r = self.cut(self.q(x)), self.cut(self.k(x)), self.cut(self.v(x)), self.cut(self.r(places))
        content = torch.matmul(q, k.transpose(-2, -1))  # <- SD405
        scores = content + torch.matmul(q, r.transpose(-2, -1))
        return F.softmax(scores, dim=-1) @ v
""",
    "a mask that is made with a number of its own": """
    def forward(self, x, mask=None):
        b, t, width = x.shape
        q, k, v = self.cut(self.q(x)), self.cut(self.k(x)), self.cut(self.v(x))
        scores = torch.matmul(q, k.transpose(-2, -1))  # <- SD405
        if mask is not None:
            scores += (mask.to(torch.int64) * -1e9).to(scores.dtype)
        return F.softmax(scores, dim=-1) @ v
""",
    "projections that are not followed, and a width that is read for nothing": '''
    @staticmethod
    def attend(query, key, value):
        """Scaled dot product attention."""
        d_k = query.size(-1)
        scores = torch.matmul(query, key.transpose(-2, -1))  # <- SD405
        return torch.matmul(F.softmax(scores, dim=-1), value)

    def forward(self, maps, x):
        return self.attend(*[self.cut(m(x)) for m in maps])
''',
    "the formula, and a softmax of another file": """
    def forward(self, x, mask):
        b, t, width = x.shape
        q, k, v = self.q(x), self.k(x), self.v(x)
        # A = softmax(Q K^T / sqrt(d)) V
        scores = torch.bmm(q, k.transpose(1, 2))  # <- SD405
        return torch.bmm(masked_softmax(scores, mask, dim=-1), v)
""",
}

RIGHT = {
    "the sum is scaled": """
    def forward(self, x, places):
        b, t, width = x.shape
        q, k, v, r = self.cut(self.q(x)), self.cut(self.k(x)), self.cut(self.v(x)), self.cut(self.r(places))
        scores = torch.matmul(q, k.transpose(-2, -1)) + torch.matmul(q, r.transpose(-2, -1))
        return F.softmax(scores / math.sqrt(self.size), dim=-1) @ v
""",
    "a bias for every distance, and no scale": """
    def forward(self, x, distances):
        b, t, width = x.shape
        q, k, v = self.cut(self.q(x)), self.cut(self.k(x)), self.cut(self.v(x))
        scores = torch.matmul(q, k.transpose(-2, -1)) + self.table(distances).permute(2, 0, 1)
        return F.softmax(scores, dim=-1) @ v
""",
    "a scale before a mask with a number": """
    def forward(self, x, mask=None):
        b, t, width = x.shape
        q, k, v = self.cut(self.q(x)), self.cut(self.k(x)), self.cut(self.v(x))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.size)
        if mask is not None:
            scores += (mask.to(torch.int64) * -1e9).to(scores.dtype)
        return F.softmax(scores, dim=-1) @ v
""",
    "a softmax of another file that is given the scale": """
    def forward(self, x, mask):
        b, t, width = x.shape
        q, k, v = self.q(x), self.k(x), self.v(x)
        # A = softmax(Q K^T / sqrt(d)) V
        scores = torch.bmm(q, k.transpose(1, 2))
        return torch.bmm(scaled_softmax(scores, mask, 1 / math.sqrt(width)), v)
""",
    "projections that are not followed may scale": """
    @staticmethod
    def attend(query, key, value):
        scores = torch.matmul(query, key.transpose(-2, -1))
        return torch.matmul(F.softmax(scores, dim=-1), value)

    def forward(self, maps, x):
        return self.attend(*[self.cut(m(x)) for m in maps])
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD405") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD405") == []
