"""SD202: axes that meet themselves twice."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD202", "SD201", "SD203")
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "predictions of one number": """
class Regressor(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.out = nn.Linear(d, 1)

    def forward(self, x, target):
        B, d = x.shape
        target = target.view(B)
        error = self.out(x) - target  # <- SD202
        return (error**2).mean()
""",
    "a loop with numbers": """
model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1))
x, y = torch.randn(32, 8), torch.randn(32)
for _ in range(3):
    loss = (model(x) - y).abs().mean()  # <- SD202
    loss.backward()
""",
    "a maximum that kept its axis, in numpy": """
def shifted(scores, best):
    n, k = scores.shape
    best = best.reshape(n)
    return scores.max(axis=1, keepdims=True) - best  # <- SD202
""",
    "picked words that kept their axis": """
def score(log_probabilities, target, pad):
    T, B, V = log_probabilities.shape
    target = target.view(T, B)
    keep = (target != pad).float()
    picked = torch.gather(log_probabilities, 2, target.unsqueeze(-1))
    return (picked * keep).sum(0)  # <- SD202
""",
}

RIGHT = {
    "the axis is dropped": """
def error(x, target, w):
    B, d = x.shape
    return ((x @ w.view(d, 1)).squeeze(-1) - target.view(B)) ** 2
""",
    "differences of all pairs on purpose": """
def pairs(x):
    n, = x.shape
    return x[:, None] - x
""",
    "positions of queries and keys": """
def distances(T):
    p = torch.arange(T)
    return p.unsqueeze(1) - p
""",
    "both are columns": """
def error(x, target):
    model = nn.Linear(8, 1)
    return model(x) - target.view(-1, 1)
""",
    "a row is centred": """
def centred(x):
    B, d = x.shape
    return x - x.mean(dim=1, keepdim=True)
""",
    "an axis for the features": """
def weigh(states, target, pad):
    T, B, d = states.shape
    target = target.view(T, B)
    return states * (target != pad).float().unsqueeze(-1)
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
    assert full_text(HEAD + WRONG["predictions of one number"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD202] outer-broadcast: self.out(x) (B, 1) and target (B,) give (B, B): `B` meets itself twice
  --> model.py:15:17
   |
14 |         target = target.view(B)
   |                  -------------- target is (B,)
15 |         error = self.out(x) - target  # <- SD202
   |                 ^^^^^^^^^^^^^^^^^^^^ self.out(x) is (B, 1), should be (B,)
   |                 ----------- self.out(x) is (B, 1)
   |                               ------ target is (B,)
   = why: the last axis of one is 1 and the other has none: every element of one meets every element of the other
   = help: self.out(x).squeeze(-1)
   = more: shapedoc explain SD202
"""
