"""SD406: one softmax is enough."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "before the loss": """
class Tagger(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.out, self.softmax = nn.Linear(d, n), nn.Softmax(dim=-1)

    def forward(self, x):
        return self.softmax(self.out(x))  # <- SD406

scores = Tagger(7, 4)(torch.randn(2, 5, 7))
loss = F.cross_entropy(scores.reshape(-1, 4), torch.zeros(10, dtype=torch.long))
""",
    "the log of a softmax of a softmax": """
def predict(x):
    p = x.softmax(-1)
    return F.log_softmax(p, dim=-1)  # <- SD406
""",
    "twice": """
def attend(scores, values):
    weights = F.softmax(scores, dim=-1)
    return torch.softmax(weights, dim=-1) @ values  # <- SD406
""",
}

WRONG |= {
    "the second of two ways, masked in between": """
def masked(scores, mask, dim):
    mask = mask.type(torch.float32)
    return F.softmax(mask * scores + (1 - mask) * -1e30, dim)


def both(scores, rows, columns):
    B, R, C = scores.shape
    across = masked(scores, columns.view(B, 1, C), 2)
    down = masked(across, rows.view(B, R, 1), 1)  # <- SD406
    return across, down
""",
}

WRONG |= {
    "all steps but the last": """
def loss(words, target):
    shares = F.softmax(nn.Linear(8, 11)(words), dim=-1)  # <- SD406
    shares = shares[:, :-1, :]
    return nn.CrossEntropyLoss()(shares.reshape(-1, 11), target.view(-1))
""",
}

WRONG |= {
    "probabilities for the negative log-likelihood": """
def loss(scores, words):
    weights = F.softmax(scores, dim=-1)  # <- SD406
    return F.nll_loss(weights, words)
""",
}

RIGHT = {
    "their logarithm": """
def loss(scores, words):
    return F.nll_loss(F.softmax(scores, dim=-1).clamp(min=1e-9).log(), words) + nn.NLLLoss()(scores.log_softmax(-1), words)
""",
    "two ways from the same scores": """
def masked(scores, mask, dim):
    mask = mask.type(torch.float32)
    return F.softmax(mask * scores + (1 - mask) * -1e30, dim)


def both(scores, rows, columns):
    B, R, C = scores.shape
    return masked(scores, columns.view(B, 1, C), 2), masked(scores, rows.view(B, R, 1), 1)
""",
    "weights of the step before as a feature": """
def attend(scores, before):
    return F.softmax(scores + F.softmax(before, dim=-1), dim=-1)
""",
    "scores into the loss": """
def loss(model, x, y):
    return nn.CrossEntropyLoss()(model(x), y)

loss(nn.Linear(7, 4), torch.randn(2, 7), torch.zeros(2, dtype=torch.long))
""",
    "the log of a softmax into the negative likelihood": """
def loss(x, y):
    return F.nll_loss(torch.log(F.softmax(x, dim=1)), y)
""",
    "soft targets": """
def distil(student, teacher):
    return F.cross_entropy(student, F.softmax(teacher, dim=1))

distil(torch.randn(2, 4), torch.randn(2, 4))
""",
    "attention, then classes": """
def classify(scores, values, layer):
    return F.softmax(layer((F.softmax(scores, dim=1).unsqueeze(-1) * values).sum(1)), dim=-1)

classify(torch.randn(2, 5), torch.randn(2, 5, 7), nn.Linear(7, 3))
""",
    "probabilities only at test time": """
class Classifier(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.out = nn.Linear(d, n)

    def forward(self, x):
        scores = self.out(x)
        return scores if self.training else F.softmax(scores, -1)

loss = F.cross_entropy(Classifier(7, 4)(torch.randn(2, 7)), torch.zeros(2, dtype=torch.long))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD406") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD406") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["before the loss"], "SD406") + "\n" == MESSAGE


MESSAGE = """\
error[SD406] softmax-twice: scores is a softmax, and `cross_entropy` applies another one
  --> model.py:12:16
   |
12 |         return self.softmax(self.out(x))  # <- SD406
   |                ^^^^^^^^^^^^^^^^^^^^^^^^^
15 | loss = F.cross_entropy(scores.reshape(-1, 4), torch.zeros(10, dtype=torch.long))
   |        ------------------------------------------------------------------------- `cross_entropy` takes scores
   = why: a softmax of probabilities is nearly uniform: with n classes no probability can pass e / (e + n - 1)\
, and the gradient of a confident mistake vanishes
   = help: give the loss the scores, without the softmax
   = more: shapedoc explain SD406
"""
