"""SD407: weights that are averaged, or summed over another axis than the keys."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "over the features": """
class Places(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.a, self.b, self.v = nn.Linear(d, 16), nn.Linear(h, 16), nn.Linear(16, 1)

    def forward(self, grid, state):
        w = self.v(torch.tanh(self.a(grid) + self.b(state).unsqueeze(1))).softmax(dim=1)
        return (grid * w).sum(dim=2)  # <- SD407

Places(8, 4)(torch.randn(2, 6, 8), torch.randn(2, 4))
""",
    "a mean": """
def pool(scores, values):
    w = F.softmax(scores, dim=-1)
    return torch.mean(w.unsqueeze(-1) * values, dim=1)  # <- SD407

pool(torch.randn(2, 5), torch.randn(2, 5, 8))
""",
    "NumPy, time first": """
def pool(scores, values):
    e = np.exp(scores)
    w = e / e.sum(axis=0)
    return np.sum(w[..., None] * values, axis=2)  # <- SD407

pool(np.zeros((5, 2)), np.zeros((5, 2, 8)))
""",
}

RIGHT = {
    "over the keys": """
def pool(scores, values):
    w = F.softmax(scores, dim=-1)
    return (w.unsqueeze(-1) * values).sum(1)

pool(torch.randn(2, 5), torch.randn(2, 5, 8))
""",
    "a gate of features": """
def select(x, layer):
    alpha = F.softmax(layer(x), dim=1)
    return alpha * x

select(nn.Linear(8, 8), torch.randn(2, 8)) if False else select(torch.randn(2, 8), nn.Linear(8, 8))
""",
    "a loss": """
def loss(logits, errors):
    return (F.softmax(logits, dim=1).unsqueeze(-1) * errors).mean()

loss(torch.randn(2, 5), torch.randn(2, 5, 8))
""",
    "both axes, one after the other": """
def energy(scores, values):
    w = F.softmax(scores, dim=1)
    return (w.unsqueeze(-1) * values).sum(-1).sum(1)

energy(torch.randn(2, 5), torch.randn(2, 5, 8))
""",
    "a mean of gates": """
def pool(scores, values):
    return (torch.sigmoid(scores).unsqueeze(-1) * values).mean(1)

pool(torch.randn(2, 5), torch.randn(2, 5, 8))
""",
    "a mean of the heads' contexts": """
def attend(q, k, v):
    return ((q @ k.transpose(2, 3)).softmax(-1) @ v).mean(dim=1)

attend(torch.randn(2, 4, 5, 8), torch.randn(2, 4, 6, 8), torch.randn(2, 4, 6, 8))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD407", "SD401") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD407", "SD401") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a mean"], "SD407", "SD401") + "\n" == MESSAGE


MESSAGE = """\
error[SD407] weights-not-summed: weighted values is averaged over `5`, not summed: the context is `5` times too small
  --> model.py:9:12
   |
 8 |     w = F.softmax(scores, dim=-1)
   |         ------------------------- w: shares that sum to 1
 9 |     return torch.mean(w.unsqueeze(-1) * values, dim=1)  # <- SD407
   |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |                       ------------------------ w times values
11 | pool(torch.randn(2, 5), torch.randn(2, 5, 8))
   | --------------------------------------------- in this call of `pool`
   = why: the weights already sum to 1 over the keys: their sum is the mean, and dividing again shrinks it
   = help: use `sum` in place of `mean`
   = more: shapedoc explain SD407
"""
