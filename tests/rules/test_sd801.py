"""SD801: rotary angles run along time, are as wide as what they turn, and are paired alike."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


def half_turned(x):
    a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-b, a), dim=-1)


def table(width, longest):
    rate = 1.0 / 10000 ** (torch.arange(0, width, 2).float() / width)
    grid = torch.einsum("i,j->ij", torch.arange(longest).float(), rate)
    return torch.cat((grid, grid), dim=-1)

"""

WRONG = {
    "no axis for the heads": """
class Turn(nn.Module):
    def __init__(self, c, heads, longest=64):
        super().__init__()
        self.heads, self.width, self.both = heads, c // heads, nn.Linear(c, 2 * c)
        grid = table(self.width, longest)
        self.register_buffer("up", grid.cos())
        self.register_buffer("out", grid.sin())

    def forward(self, x):
        N, L, c = x.shape
        q, k = self.both(x).view(N, L, self.heads, 2 * self.width).chunk(2, dim=-1)
        up = self.up[:L]  # <- SD801
        out = self.out[:L]  # <- SD801
        return q * up + half_turned(q) * out, k * up + half_turned(k) * out
""",
    "one angle for two features": """
def turn(x):
    N, H, L, c = x.shape
    rate = 1.0 / 10000 ** (torch.arange(0, c, 2).float() / c)
    grid = torch.outer(torch.arange(L).float(), rate)
    up = grid.cos()  # <- SD801
    out = grid.sin()  # <- SD801
    return x * up + half_turned(x) * out
""",
    "counted along the batch": """
def turn(x):
    batch, time, c = x.shape
    rate = 1.0 / 10000 ** (torch.arange(0, c, 2).float() / c)
    steps = torch.arange(batch).float()  # <- SD801
    grid = (steps[:, None] * rate)[:, None]
    up, out = grid.cos(), grid.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * up - b * out, a * out + b * up), dim=-1).flatten(-2)
""",
    "counted along another axis than scores compare": """
def scores(q, k):
    N, L, G, c = q.shape
    rate = 1.0 / 10000 ** (torch.arange(0, c, 2).float() / c)
    grid = torch.outer(torch.arange(G).float(), rate)  # <- SD801
    grid = torch.cat((grid, grid), dim=-1)
    q = (q * grid.cos() + half_turned(q) * grid.sin()).transpose(1, 2)
    k = (k * grid.cos() + half_turned(k) * grid.sin()).transpose(1, 2)
    return (q @ k.transpose(-2, -1)).softmax(-1)
""",
    "halves repeated, neighbours turned": """
def turn(x):
    N, H, L, c = x.shape
    rate = 1.0 / 10000 ** (torch.arange(0, c, 2).float() / c)
    grid = torch.outer(torch.arange(L).float(), rate)
    grid = torch.cat((grid, grid), dim=-1)  # <- SD801
    a, b = x[..., ::2], x[..., 1::2]
    return x * grid.cos() + torch.stack((-b, a), dim=-1).flatten(-2) * grid.sin()
""",
}

RIGHT = {
    "an axis for the heads": """
def turn(x):
    N, L, H, c = x.shape
    grid = table(c, L)[:, None]
    return x * grid.cos() + half_turned(x) * grid.sin()
""",
    "heads before time": """
def turn(x):
    N, H, L, c = x.shape
    grid = table(c, L)
    return x * grid.cos() + half_turned(x) * grid.sin()
""",
    "neighbours": """
def turn(x):
    N, H, L, c = x.shape
    rate = 1.0 / 10000 ** (torch.arange(0, c, 2).float() / c)
    grid = torch.outer(torch.arange(L).float(), rate).repeat_interleave(2, dim=-1)
    a, b = x[..., ::2], x[..., 1::2]
    return x * grid.cos() + torch.stack((-b, a), dim=-1).flatten(-2) * grid.sin()
""",
    "positions that are added": """
def add(x):
    N, L, c = x.shape
    rate = 1.0 / 10000 ** (torch.arange(0, c, 2).float() / c)
    grid = torch.outer(torch.arange(L).float(), rate)
    return x + torch.cat((grid.sin(), grid.cos()), dim=-1)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD801", "SD102", "SD201") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD801", "SD102", "SD201") == []
