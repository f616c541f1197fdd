"""SD604: values that are multiplied in place with their weights."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "an augmented assignment in NumPy": """
def read(state, notes, real):
    score = np.einsum("nlc,nc->nl", notes, state)
    score = np.where(real, score, -np.inf)
    share = np.exp(score - score.max(axis=1, keepdims=True))
    share = share / share.sum(axis=1, keepdims=True)
    notes *= share[:, :, None]  # <- SD604
    return notes.sum(axis=1)
""",
    "a view of what the caller holds": """
class Read(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.score = nn.Linear(c, 1)

    def forward(self, notes):
        rows = notes.transpose(0, 1)
        share = F.softmax(self.score(rows), dim=1)
        return rows.mul_(share).sum(1)  # <- SD604
""",
    "a tensor made before the loop": """
class Write(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.read, self.step = nn.GRU(c, c, batch_first=True), nn.GRUCell(c, c)

    def forward(self, words, steps):
        notes, last = self.read(words)
        state = last[-1]
        for _ in range(steps):
            share = torch.bmm(notes, state.unsqueeze(2)).softmax(1)
            notes *= share  # <- SD604
            state = self.step(notes.sum(1), state)
        return state
""",
}

WRONG |= {
    "parts of one tensor that are one place apart": """
def shift(x):
    b, w, h, c = x.size()
    x = F.relu(x)
    x[:, 1:, :, : c // 2] = x[:, : w - 1, :, : c // 2]  # <- SD604
    return x
""",
    "to the left, as of a queue": """
class Queue(nn.Module):
    def __init__(self, n, c):
        super().__init__()
        self.register_buffer("rows", torch.zeros(n, c))

    def forward(self, row):
        self.rows[:-1] = self.rows[1:]  # <- note SD604
        self.rows[-1] = row
        return self.rows
""",
}

RIGHT = {
    "parts that are read first, or apart": """
def shift(x):
    b, w, h, c = x.size()
    x = F.relu(x)
    x[:, 1:] = x[:, :-1].clone()
    x[:, :, : h // 2] = x[:, :, h // 2 :]
    x[:, 1:, :, :1] = x[:, :-1, :, 1:2]
    x[:, 0] = x[:, 1]
    y = torch.zeros(3, 2)
    y[2:] = y[:1]
    y[1:] = x[0, :-1, 0, :2]
    return x, y
""",
    "NumPy, which copies": """
def shift(rows):
    rows = np.tanh(rows)
    rows[1:] = rows[:-1]
    return rows
""",
    "a new tensor": """
def read(state, notes):
    share = torch.bmm(notes, state.unsqueeze(2)).softmax(1)
    return (notes * share).sum(1)
""",
    "values made for this call": """
class Read(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.score, self.value = nn.Linear(c, 1), nn.Linear(c, c)

    def forward(self, notes):
        share = self.score(notes).softmax(1)
        values = self.value(notes)
        values *= share
        return values.sum(1)
""",
    "weights that are masked in place": """
def read(state, notes, real):
    share = torch.bmm(notes, state.unsqueeze(2)).softmax(1)
    share *= real.unsqueeze(2)
    return (notes * share).sum(1)
""",
    "a sum that runs": """
def coverage(shares, total):
    for share in shares:
        share = share.softmax(-1)
        total += share
    return total
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD604") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD604") == []
