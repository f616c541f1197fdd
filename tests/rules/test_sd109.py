"""SD109: dot scores of state and memory."""

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
    "a memory of two directions": """
class Luong(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.encoder = nn.LSTM(width, hidden, bidirectional=True, batch_first=True)
        self.cell = nn.LSTMCell(width, hidden)

    def forward(self, source, token, state):
        memory, _ = self.encoder(source)
        h, c = self.cell(token, state)
        weights = F.softmax(torch.bmm(memory, h.unsqueeze(-1)).squeeze(-1), dim=-1)  # <- SD109
        return torch.bmm(weights.unsqueeze(1), memory)

Luong(8, 6)(torch.randn(2, 5, 8), torch.randn(2, 8), (torch.zeros(2, 6), torch.zeros(2, 6)))
""",
    "a map between the two sizes that is built and never applied": """
class General(nn.Module):
    def __init__(self, d_s, d_h):
        super().__init__()
        self.W = nn.Linear(d_s, d_h, bias=False)

    def forward(self, state, memory):  # state (B, d_s), memory (B, T, d_h)
        weights = F.softmax(torch.bmm(memory, state.unsqueeze(2)).squeeze(2), dim=-1)  # <- SD109
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
""",
    "an idle map where a call gives equal sizes": """
class Luong(nn.Module):
    def __init__(self, d_s, d_h):
        super().__init__()
        self.W = nn.Linear(d_s, d_h, bias=False)

    def forward(self, state, memory):  # state (B, d_s), memory (B, T, d_h)
        weights = F.softmax(torch.bmm(memory, state.unsqueeze(2)).squeeze(2), dim=-1)  # <- note SD109
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)

Luong(6, 6)(torch.randn(2, 6), torch.randn(2, 5, 6))
""",
    "two sizes that a call makes unequal": """
class Dot(nn.Module):
    def __init__(self, d_enc, d_dec):
        super().__init__()
        self.reader = nn.GRU(8, d_enc, batch_first=True)
        self.writer = nn.GRU(8, d_dec, batch_first=True)

    def forward(self, source, target):
        memory, _ = self.reader(source)
        states, _ = self.writer(target)
        return (states @ memory.transpose(1, 2)).softmax(-1)  # <- SD109

Dot(6, 10)(torch.randn(2, 5, 8), torch.randn(2, 3, 8))
""",
    "two sizes that nobody gives numbers": """
class Dot(nn.Module):
    def __init__(self, d_enc, d_dec):
        super().__init__()
        self.reader = nn.GRU(8, d_enc, batch_first=True)
        self.writer = nn.GRU(8, d_dec, batch_first=True)

    def forward(self, source, target):
        memory, _ = self.reader(source)
        states, _ = self.writer(target)
        return (states @ memory.transpose(-2, -1)).softmax(-1)  # <- note SD109
""",
}

RIGHT = {
    "a map that another form of the score applies": """
class Luong(nn.Module):
    def __init__(self, d_s, d_h, form):
        super().__init__()
        self.form = form
        self.W = nn.Linear(d_s, d_h, bias=False)

    def forward(self, state, memory):  # state (B, d_s), memory (B, T, d_h)
        if self.form == "general":
            state = self.W(state)
        weights = F.softmax(torch.bmm(memory, state.unsqueeze(2)).squeeze(2), dim=-1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
""",
    "one size": """
class Dot(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.reader = nn.GRU(width, hidden, batch_first=True)
        self.writer = nn.GRU(width, hidden, batch_first=True)

    def forward(self, source, target):
        memory, _ = self.reader(source)
        states, _ = self.writer(target)
        return (states @ memory.transpose(1, 2)).softmax(-1) @ memory

Dot(8, 6)(torch.randn(2, 5, 8), torch.randn(2, 3, 8))
""",
    "a decoder twice as wide": """
class Dot(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.reader = nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        self.writer = nn.GRU(width, 2 * hidden, batch_first=True)

    def forward(self, source, target):
        memory, _ = self.reader(source)
        states, _ = self.writer(target)
        return (states @ memory.transpose(1, 2)).softmax(-1) @ memory

Dot(8, 6)(torch.randn(2, 5, 8), torch.randn(2, 3, 8))
""",
    "the general form": """
class General(nn.Module):
    def __init__(self, width, d_enc, d_dec):
        super().__init__()
        self.reader = nn.GRU(width, d_enc, batch_first=True)
        self.writer = nn.GRU(width, d_dec, batch_first=True)
        self.W = nn.Linear(d_enc, d_dec, bias=False)

    def forward(self, source, target):
        memory, _ = self.reader(source)
        states, _ = self.writer(target)
        return (states @ self.W(memory).transpose(1, 2)).softmax(-1) @ memory

General(8, 6, 10)(torch.randn(2, 5, 8), torch.randn(2, 3, 8))
""",
    "two sizes with one number": """
class Dot(nn.Module):
    def __init__(self, d_enc, d_dec):
        super().__init__()
        self.reader = nn.GRU(8, d_enc, batch_first=True)
        self.writer = nn.GRUCell(8, d_dec)

    def forward(self, source, token, state):
        memory, _ = self.reader(source)
        state = self.writer(token, state)
        return memory

Dot(6, 6)(torch.randn(2, 5, 8), torch.randn(2, 8), torch.zeros(2, 6))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD109", "SD101") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD109", "SD101") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a memory of two directions"], "SD109") + "\n" == MESSAGE


MESSAGE = """\
error[SD109] dot-score-of-unequal-sizes: a dot score needs one size of state and memory, got `hidden` and `2*hidden`
  --> model.py:16:29
   |
14 |         memory, _ = self.encoder(source)
   |                     -------------------- two directions beside each other: twice the hidden size
   |                     -------------------- memory is (?, ?, 2*hidden)
16 |         weights = F.softmax(torch.bmm(memory, h.unsqueeze(-1)).squeeze(-1), dim=-1)  # <- SD109
   |                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ h.unsqueeze(-1) is (?, hidden, 1), should be (?, 2*hidden, 1)
   |                                       ------ memory is (?, ?, 2*hidden)
   |                                               --------------- h.unsqueeze(-1) is (?, hidden, 1)
   = why: a dot product sums over the features of both: Luong's dot form needs d_s == d_h, his general form has a matrix between
   = help: the general form: map the state first, with nn.Linear(hidden, 2*hidden, bias=False)
   = more: shapedoc explain SD109
"""
