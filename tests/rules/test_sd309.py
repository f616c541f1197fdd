"""SD309: the last step of a batch is not the last step of every sequence."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

x, lengths = torch.randn(2, 5, 3), torch.tensor([5, 3])
"""

WRONG = {
    "padded outputs": """
rnn = nn.LSTM(3, 7, batch_first=True)
packed, _ = rnn(pack_padded_sequence(x, lengths, batch_first=True))
outputs, _ = pad_packed_sequence(packed, batch_first=True)
last = outputs[:, -1, :]  # <- SD309
""",
    "padded outputs, time first": """
rnn = nn.GRU(3, 7)
packed, _ = rnn(pack_padded_sequence(x.transpose(0, 1), lengths))
outputs, _ = pad_packed_sequence(packed)
last = outputs[-1]  # <- SD309
""",
    "a backward direction": """
rnn = nn.GRU(3, 7, batch_first=True, bidirectional=True)
outputs, _ = rnn(x)
last = nn.Linear(14, 2)(outputs[:, -1])  # <- SD309
""",
    "lengths that nobody reads": """
class Judge(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.run, self.say = nn.LSTM(c, c, batch_first=True), nn.Linear(c, 2)

    def forward(self, words, lens):
        notes, _ = self.run(words)
        return self.say(notes[:, -1])  # <- SD309
""",
}

WRONG |= {
    "the last example for the last step": """
class Reader(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.run, self.out = nn.GRU(d, h, batch_first=True), nn.Linear(h, 2)

    def forward(self, words):
        notes, state = self.run(words)
        return self.out(notes[-1, :, :])  # <- SD309
""",
    "the last example, by its rank": """
def read(run: nn.LSTM, words):
    B, T, d = words.shape
    run = nn.LSTM(d, 7, batch_first=True)
    notes, state = run(words)
    return notes[-1]  # <- SD309

read(None, x)
""",
}

RIGHT = {
    "the last step of one sequence without a batch": """
class Reader(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.run, self.out = nn.GRU(d, h, batch_first=True), nn.Linear(h, 2)

    def forward(self, words):
        T, d = words.shape
        notes, state = self.run(words)
        return self.out(notes[-1])
""",
    "the only example": """
class Reader(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.run, self.out = nn.GRU(d, h, batch_first=True), nn.Linear(h, 2)

    def forward(self, words):
        T, d = words.shape
        notes, state = self.run(words.unsqueeze(0))
        return self.out(notes[-1])
""",
    "the last step, time first": """
class Reader(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.run, self.out = nn.GRU(d, h), nn.Linear(h, 2)

    def forward(self, words):
        T, B, d = words.shape
        notes, state = self.run(words)
        return self.out(notes[-1])
""",
    "the state": """
rnn = nn.LSTM(3, 7, batch_first=True)
packed, (h, c) = rnn(pack_padded_sequence(x, lengths, batch_first=True))
last = h[-1]
""",
    "one direction, nothing padded": """
outputs, _ = nn.GRU(3, 7, batch_first=True)(x)
last = outputs[:, -1]
""",
    "each direction at its end": """
outputs, _ = nn.GRU(3, 7, batch_first=True, bidirectional=True)(x)
last = torch.cat((outputs[:, -1, :7], outputs[:, 0, 7:]), 1)
""",
    "lengths that the state is packed with": """
class Judge(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.run, self.say = nn.LSTM(c, c, batch_first=True), nn.Linear(c, 2)

    def forward(self, words, lens):
        notes, _ = self.run(words)
        real = torch.arange(words.size(1)) < lens[:, None]
        return self.say(notes[:, -1]), real
""",
    "gathered": """
rnn = nn.LSTM(3, 7, batch_first=True)
packed, _ = rnn(pack_padded_sequence(x, lengths, batch_first=True))
outputs, _ = pad_packed_sequence(packed, batch_first=True)
last = outputs[torch.arange(2), lengths - 1]
""",
    "the last sequence": """
outputs, _ = nn.GRU(3, 7, batch_first=True, bidirectional=True)(x)
one = outputs[-1]
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD309") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD309") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["padded outputs"], "SD309") + "\n" == MESSAGE


MESSAGE = """\
error[SD309] last-step-of-padded-sequence: the last step, outputs[:, -1, :], is padding for every sequence tha\
t is shorter than the longest
  --> model.py:10:8
   |
 9 | outputs, _ = pad_packed_sequence(packed, batch_first=True)
   |              --------------------------------------------- padded here to the longest sequence
10 | last = outputs[:, -1, :]  # <- SD309
   |        ^^^^^^^^^^^^^^^^^
   = why: outputs behind a sequence's end are zeros: the last step of the batch is that of its longest sequence
   = help: take `h_n[-1]`, or gather at `lengths - 1`
   = more: shapedoc explain SD309
"""
