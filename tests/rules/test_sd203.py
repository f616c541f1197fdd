"""SD203: losses whose operands broadcast."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD203", "SD202", "SD108")
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a column against a row": """
class Regressor(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.out = nn.Linear(d, 1)
        self.loss = nn.MSELoss()

    def forward(self, x, target):
        B, d = x.shape
        return self.loss(self.out(x), target.view(B))  # <- SD203
""",
    "numbers": """
y = torch.randn(16)
p = nn.Linear(3, 1)(torch.randn(16, 3))
loss = F.mse_loss(p, y)  # <- SD203
""",
    "a target with an axis too many": """
def loss(states, target):
    B, d = states.shape
    value = states.mean(dim=1)
    return F.l1_loss(value, target.view(B, 1))  # <- SD203
""",
}

RIGHT = {
    "the axis is dropped": """
y = torch.randn(16)
p = nn.Linear(3, 1)(torch.randn(16, 3))
loss = F.mse_loss(p.squeeze(-1), y)
""",
    "both have it": """
y = torch.randn(16, 1)
p = nn.Linear(3, 1)(torch.randn(16, 3))
loss = nn.MSELoss()(p, y)
""",
    "a number": """
def loss(states):
    B, d = states.shape
    return F.mse_loss(states.mean(), torch.tensor(0.0))
""",
    "unknown targets": """
def loss(model, x, y):
    return F.mse_loss(model(x), y)
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
    assert full_text(HEAD + WRONG["a column against a row"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD203] loss-broadcast: `MSELoss` compares (B, 1) with (B,): every prediction meets every target
  --> model.py:15:16
   |
15 |         return self.loss(self.out(x), target.view(B))  # <- SD203
   |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ target.view(B) is (B,), should be (B, 1)
   = why: an elementwise loss broadcasts its operands: the mean runs over (B, B), of which the pairs that belong \
together are a small part
   = note: torch warns of this once, and goes on
   = help: self.out(x).squeeze(-1), or target.view(B).unsqueeze(-1)
   = more: shapedoc explain SD203
"""
