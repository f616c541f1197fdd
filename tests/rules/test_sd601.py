"""SD601: views that regroup axes which are not neighbours."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD601",)
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "heads split by a view": """
class Heads(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.q = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.size()
        return self.q(x).view(B, self.h, T, d // self.h)  # <- SD601
""",
    "heads merged without a transpose": """
def merge(x):
    B, H, T, dk = x.shape
    return x.contiguous().view(B, T, H * dk)  # <- SD601
""",
    "a view for a transpose": """
def time_first(x):
    B, T, d = x.shape
    return x.reshape(T, B, d)  # <- SD601
""",
    "heads merged across time, whose length nobody names": """
class Attention(nn.Module):
    def __init__(self, h, d):
        super().__init__()
        self.h, self.dk = h, d // h
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))

    def split(self, x):
        return x.view(x.size(0), -1, self.h, self.dk).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        out = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        return out.reshape(x.size(0), -1, self.h * self.dk)  # <- SD601
""",
    "arrays": """
def split(x, n):
    T, d = x.shape
    return x.reshape(n, T, d // n)  # <- SD601
""",
    "what is done only where a ratio is not the default 1": """
class Reduced(nn.Module):
    def __init__(self, dim, ratio=1):
        super().__init__()
        self.ratio = ratio
        if ratio > 1:
            self.reduce = nn.Conv2d(dim, dim, ratio, ratio)

    def forward(self, x, H, W):
        B, N, C = x.shape
        if self.ratio > 1:
            image = x.reshape(B, C, H, W)  # <- SD601
            x = self.reduce(image).flatten(2).transpose(1, 2)
        return x
""",
}

WRONG |= {
    "copies of each feature, cut as copies of the row": """
class Spread(nn.Module):
    def __init__(self, steps, d):
        super().__init__()
        self.steps = steps
        self.run = nn.GRU(d, d, batch_first=True)

    def forward(self, state):
        B, d = state.shape
        rows = state.repeat_interleave(self.steps, dim=1).view(B, self.steps, -1)  # <- SD601
        return self.run(rows)[0]
""",
}

WRONG |= {
    "heads split by a view, of steps that nobody counts": """
class Heads(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.d_k = h, d // h
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, query, key):
        B = query.size(0)
        q = self.q(query).view(B, self.h, -1, self.d_k)  # <- SD601
        k = self.k(key).view(B, -1, self.h, self.d_k).transpose(1, 2)
        return q @ k.transpose(-2, -1)
""",
}

WRONG |= {
    "channels that a grid of no known size is joined in front of": """
class Grid(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(1, width, rows, rows))

    def forward(self, scale):
        width = self.table.shape[1]
        grid = F.interpolate(self.table, scale_factor=(scale, scale), mode="bicubic")
        return grid.view(1, -1, width)  # <- SD601
""",
}

WRONG |= {
    "heads joined as an attention that is not read gives them": """
from elsewhere import attend


class Heads(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.d_k = h, d // h
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, query, memory, mask):
        B = query.size(0)
        q = self.q(query).view(B, -1, self.h, self.d_k).transpose(1, 2)
        k = self.k(memory).view(B, -1, self.h, self.d_k).transpose(1, 2)
        v = self.v(memory).view(B, -1, self.h, self.d_k).transpose(1, 2)
        x, weights = attend(q, k, v, mask)
        return x.contiguous().view(B, -1, self.h * self.d_k)  # <- SD601
""",
}

RIGHT = {
    "groups of steps that are cut into heads, and put back": """
class Grouped(nn.Module):
    def __init__(self, width, heads, group):
        super().__init__()
        self.width, self.heads = width, heads
        self.size = width // heads * group
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x):
        B = x.size(0)
        q = self.q(x).reshape(B, -1, self.heads, self.size).transpose(1, 2)
        k = self.k(x).reshape(B, -1, self.heads, self.size).transpose(1, 2)
        v = self.v(x).reshape(B, -1, self.heads, self.size).transpose(1, 2)
        scores = q.matmul(k.transpose(2, 3)) / k.shape[-1] ** 0.5
        B, H, steps, places = scores.shape
        mixed = scores.softmax(dim=-1).matmul(v)
        return mixed.transpose(1, 2).reshape(B, -1, self.width)
""",
    "heads joined behind an attention that is not read": """
from elsewhere import attend, attend_steps_first


class Heads(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.d_k = h, d // h
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, query, memory, mask):
        B = query.size(0)
        q = self.q(query).view(B, -1, self.h, self.d_k)
        k = self.k(memory).view(B, -1, self.h, self.d_k)
        v = self.v(memory).view(B, -1, self.h, self.d_k)
        y = attend_steps_first(q, k, v).view(B, -1, self.h * self.d_k)
        x, weights = attend(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), mask)
        return x.transpose(1, 2).contiguous().view(B, -1, self.h * self.d_k) + y
""",
    "a grid that is joined behind its channels": """
class Grid(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(1, width, rows, rows))

    def forward(self, scale):
        width = self.table.shape[1]
        grid = F.interpolate(self.table, scale_factor=(scale, scale), mode="bicubic")
        return grid.view(1, width, -1).transpose(1, 2)
""",
    "heads split in their order, of steps that nobody counts": """
class Heads(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.d_k = h, d // h
        self.q = nn.Linear(d, d)

    def forward(self, query):
        B = query.size(0)
        return self.q(query).view(B, -1, self.h, self.d_k).transpose(1, 2)
""",
    "one query, cut into heads": """
class Heads(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.d_k = h, d // h
        self.q = nn.Linear(d, d)

    def forward(self, query):
        B, d = query.size()
        return self.q(query).view(B, self.h, -1, self.d_k)
""",
    "copies of the row, cut as such": """
class Spread(nn.Module):
    def __init__(self, steps, d):
        super().__init__()
        self.steps = steps
        self.run = nn.GRU(d, d, batch_first=True)

    def forward(self, state):
        B, d = state.shape
        rows = state.repeat_interleave(self.steps, dim=0).view(B, self.steps, -1)
        more = state.repeat(1, self.steps).view(B, self.steps, -1)
        return self.run(rows + more)[0]
""",
    "split and transposed": """
def split(x, h):
    B, T, d = x.shape
    return x.view(B, T, h, d // h).transpose(1, 2)
""",
    "transposed and merged": """
def merge(x):
    B, H, T, dk = x.shape
    return x.transpose(1, 2).reshape(B, T, H * dk)
""",
    "heads into the batch": """
def split(x, h):
    B, T, d = x.shape
    return x.view(B, T, h, d // h).permute(0, 2, 1, 3).reshape(B * h, T, d // h)
""",
    "time and batch joined and parted": """
def apply(layer, x):
    T, B, d = x.shape
    return layer(x.view(T * B, d)).view(T, B, -1)
""",
    "windows of steps": """
def windows(x, k):
    B, T, d = x.shape
    return x.view(B, T // k, k * d)
""",
    "relative positions": """
def shift(x):
    B, H, T, S = x.shape
    x = F.pad(x, (1, 0)).view(B, H, S + 1, T)
    return x[:, :, 1:].view(B, H, T, S)
""",
    "groups of channels": """
def shuffle(x, groups):
    B, C, H, W = x.shape
    return x.view(B, groups, C // groups, H, W).transpose(1, 2).reshape(B, C, H, W)
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


AGAIN = """
class Windows(nn.Module):
    def __init__(self, d, c):
        super().__init__()
        self.c = c
        self.conv = nn.Conv2d(d, c, 3, padding=1)

    def forward(self, x, H, W):
        B, N, d = x.shape
        image = x.reshape(B, d, H, W)
        image = self.conv(image)
        return image.view(B, H * W, self.c)
"""


def test_what_is_cut_anew_after_it_is_told_with_the_first() -> None:
    assert [f.line for f in found(HEAD + AGAIN, *CODES)] == [15]
    text = full_text(HEAD + AGAIN, CODES[0])
    assert "cut anew on line 17: right this one first" in text
    assert "x.reshape(B, H, W, d).permute(0, 3, 1, 2)" in text


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["heads split by a view"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD601] scrambled-view: `view` of self.q(x) (B, T, d) as (B, h, T, d//h) mixes up its axes: their order is \
not the same
  --> model.py:15:16
   |
15 |         return self.q(x).view(B, self.h, T, d // self.h)  # <- SD601
   |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ self.q(x) is (B, T, d), should be (B, T, h, d//h)
   |                --------- self.q(x) is (B, T, d)
   = why: `view` never moves elements: it cuts the memory of (B, T, d) anew, so that one row of the result holds \
pieces of several rows
   = help: self.q(x).view(B, T, h, d//h).transpose(1, 2)
   = more: shapedoc explain SD601
"""
