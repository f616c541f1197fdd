"""SD108: predictions and targets of losses."""

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
    "classes on the last axis": """
class Model(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.rnn = nn.LSTM(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x):
        return self.out(self.rnn(x)[0])

model = Model(50, 6)
criterion = nn.CrossEntropyLoss()
target = torch.zeros(2, 5, dtype=torch.long)
loss = criterion(model(torch.randn(2, 5, 6)), target)  # <- SD108
""",
    "a prediction that is flattened and a target that is not": """
def step(logits, target):
    n, t, classes = logits.shape
    n, t = target.shape
    return F.cross_entropy(logits.view(-1, classes), target)  # <- SD108

step(torch.randn(2, 5, 7), torch.zeros(2, 5, dtype=torch.long))
""",
    "binary targets of another length": """
loss = F.binary_cross_entropy_with_logits(torch.randn(2, 5), torch.zeros(2, 4))  # <- SD108
""",
}

WRONG |= {
    "flattened in another order": """
def loss(out, words):
    T, B, V = out.shape
    B, T = words.shape
    return F.cross_entropy(out.reshape(-1, V), words.reshape(-1))  # <- SD108
""",
    "flattened in another order, in a driver": """
class Model(nn.Module):
    def __init__(self, V, d):
        super().__init__()
        self.words, self.rnn, self.out = nn.Embedding(V, d), nn.GRU(d, d), nn.Linear(d, V)

    def forward(self, words):
        return self.out(self.rnn(self.words(words.t()))[0])


def step(model, words):
    out = model(words)
    T, B, V = out.shape
    return nn.CrossEntropyLoss()(out.view(-1, V), words.view(-1))  # <- SD108


step(Model(11, 8), torch.randint(0, 11, (2, 5)))
""",
}

RIGHT = {
    "flattened in one order": """
def loss(out, words):
    T, B, V = out.shape
    B, T = words.shape
    return F.cross_entropy(out.reshape(-1, V), words.t().reshape(-1))
""",
    "turned before it is flattened": """
def loss(out, words):
    T, B, V = out.shape
    return F.cross_entropy(out.transpose(0, 1).reshape(B * T, V), words.view(B, T).reshape(-1))
""",
    "classes moved": """
loss = F.cross_entropy(torch.randn(2, 5, 7).transpose(1, 2), torch.zeros(2, 5, dtype=torch.long))
""",
    "both flattened": """
def step(logits, target):
    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), target.reshape(-1), ignore_index=0)

step(torch.randn(2, 5, 7), torch.zeros(2, 5, dtype=torch.long))
""",
    "one label for each sequence": """
loss = nn.CrossEntropyLoss()(torch.randn(2, 7), torch.zeros(2, dtype=torch.long))
loss = nn.NLLLoss()(torch.randn(2, 7).log_softmax(-1), torch.zeros(2, dtype=torch.long))
""",
    "soft targets": """
loss = F.cross_entropy(torch.randn(2, 7), torch.randn(2, 7).softmax(-1))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD108", "SD203") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD108", "SD203") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["classes on the last axis"], "SD108") + "\n" == MESSAGE


MESSAGE = """\
error[SD108] mismatched-loss: `CrossEntropyLoss` cannot compare model(torch.randn(2, 5, 6)) (2, 5, vocab) with target (2, 5)
  --> model.py:19:18
   |
14 |         return self.out(self.rnn(x)[0])
   |                ------------------------ model(torch.randn(2, 5, 6)) is (2, 5, vocab)
18 | target = torch.zeros(2, 5, dtype=torch.long)
   |          ----------------------------------- target is (2, 5)
19 | loss = criterion(model(torch.randn(2, 5, 6)), target)  # <- SD108
   |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^ model(torch.randn(2, 5, 6)) is (2, 5, vocab)
   |                                               ------ target is (2, 5)
   = why: the classes stand on axis 1 of the prediction, and the target has one index for every other position
   = help: model(torch.randn(2, 5, 6)).transpose(1, 2)
   = more: shapedoc explain SD108
"""
