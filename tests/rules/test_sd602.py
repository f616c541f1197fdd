"""SD602: the batch taken for time."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD602",)
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "one step of every row, and a state for every row": """
class Decoder(nn.Module):
    def __init__(self, words, hidden):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(words, hidden)
        self.rnn = nn.GRU(hidden, hidden)  # <- SD602

    def forward(self, tokens):
        state = torch.zeros(1, tokens.size(0), self.hidden)
        made = []
        for t in range(tokens.size(1)):
            output, state = self.rnn(self.embed(tokens[:, t : t + 1]), state)
            made.append(output)
        return made
""",
    "the default, and the last step": """
class Reader(nn.Module):
    def __init__(self, d, classes):
        super().__init__()
        self.lstm = nn.LSTM(d, d)  # <- SD602
        self.out = nn.Linear(d, classes)

    def forward(self, x):
        B, T, d = x.shape
        states, _ = self.lstm(x)
        return self.out(states[:, -1, :])
""",
    "names in a driver": """
batch_size, seq_len, width = 4, 9, 16
encoder = nn.TransformerEncoderLayer(width, 2)  # <- SD602
y = encoder(torch.randn(batch_size, seq_len, width))
""",
    "a cell that knows better": """
class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, 2)  # <- SD602
        self.cell = nn.GRUCell(d, d)

    def forward(self, memory, state):
        bsz, src_len, d = memory.shape
        read, _ = self.attention(memory, memory, memory)
        return self.cell(memory[:, 0], state), read
""",
    "batch first where time is first": """
seq_len, batch, width = 7, 3, 8
rnn = nn.GRU(width, width, batch_first=True)  # <- SD602
out, h = rnn(torch.randn(seq_len, batch, width))
""",
    "a state with a row for every example": """
class Reader(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.hidden = hidden
        self.rnn = nn.GRU(width, hidden, batch_first=False)  # <- SD602

    def forward(self, x):
        state = torch.zeros(1, x.size(0), self.hidden)
        output, _ = self.rnn(x, state)
        return output
""",
    "attention over what is taken for the batch": """
class Reader(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.rnn = nn.GRU(width, hidden, batch_first=False)  # <- SD602
        self.score = nn.Linear(hidden, 1)

    def forward(self, x):
        states, _ = self.rnn(x)
        weights = torch.softmax(self.score(states).squeeze(2), dim=1)
        return (weights.unsqueeze(2) * states).sum(1)
""",
    "two modules in a row, one for each layout": """
class Twice(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.first = nn.GRU(d, d, batch_first=True)
        self.second = nn.GRU(d, d, batch_first=False)  # <- SD602

    def forward(self, x):
        rows, columns, d = x.shape
        below, _ = self.first(x)
        above, _ = self.second(below + x)
        return above
""",
}

RIGHT = {
    "one row, and a state for one row": """
class Decoder(nn.Module):
    def __init__(self, words, hidden):
        super().__init__()
        self.embed = nn.Embedding(words, hidden)
        self.rnn = nn.GRU(hidden, hidden)

    def forward(self, tokens, state):
        L, B, hidden = state.shape
        return self.rnn(self.embed(tokens).view(-1, 1, hidden), state)
""",
    "a helper's names, which the turned mask contradicts": """
class Positions(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.table = nn.Embedding(99, d)

    def forward(self, tokens):
        bsz, seq_len = tokens.shape
        return self.table(torch.cumsum(tokens != 0, dim=0).view(-1)).view(bsz, seq_len, -1)


class Reader(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.embed, self.positions = nn.Embedding(words, d), Positions(d)
        self.attention = nn.MultiheadAttention(d, 2)

    def forward(self, tokens, mask):
        x = self.embed(tokens) + self.positions(tokens)
        out, _ = self.attention(x, x, x, key_padding_mask=(mask == 0).transpose(0, 1))
        return out
""",
    "two modules in a row, one for each layout, with a transpose between": """
class Twice(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.first = nn.GRU(d, d, batch_first=True)
        self.second = nn.GRU(d, d, batch_first=False)

    def forward(self, x):
        rows, columns, d = x.shape
        below, _ = self.first(x)
        above, _ = self.second((below + x).transpose(0, 1))
        return above
""",
    "batch first": """
class Reader(nn.Module):
    def __init__(self, d, classes):
        super().__init__()
        self.lstm = nn.LSTM(d, d, batch_first=True)

    def forward(self, x):
        B, T, d = x.shape
        states, _ = self.lstm(x)
        return states[:, -1, :]
""",
    "time first": """
class Reader(nn.Module):
    def __init__(self, d, classes):
        super().__init__()
        self.lstm = nn.LSTM(d, d)

    def forward(self, x):
        T, B, d = x.shape
        states, _ = self.lstm(x)
        return states[-1]
""",
    "transposed before and after": """
class Reader(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, 2)

    def forward(self, x):
        B, T, d = x.shape
        x = x.transpose(0, 1)
        return self.attention(x, x, x)[0].transpose(0, 1)
""",
    "nothing is known": """
class Reader(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gru = nn.GRU(d, d)

    def forward(self, x):
        return self.gru(x)[0]
""",
    "numbers without names": """
gru = nn.GRU(4, 4)
out, h = gru(torch.randn(5, 3, 4))
""",
    "attention over the time": """
class Reader(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.hidden = hidden
        self.rnn = nn.GRU(width, hidden)
        self.score = nn.Linear(hidden, 1)

    def forward(self, x):
        states, _ = self.rnn(x, torch.zeros(1, x.size(1), self.hidden))
        weights = torch.softmax(self.score(states).squeeze(2), dim=0)
        return (weights.unsqueeze(2) * states).sum(0)
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


def test_what_else_does_not_fit_a_module_that_is_mixed_up_comes_of_that() -> None:
    text = f"""{HEAD}
class Decoder(nn.Module):
    def __init__(self, d, heads, layers):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(d, heads)  # <- SD602
        self.layers = nn.TransformerDecoder(self.layer, layers)

    def forward(self, x):
        batch_size, seq_len, d = x.shape
        memory = torch.zeros(seq_len, batch_size, d)
        mask = torch.triu(torch.full((seq_len, seq_len), float("-inf")), diagonal=1)
        return self.layers(x, memory, tgt_mask=mask)
"""
    assert found(text, *CODES, "SD106", "SD112", "SD207") == expected(text)


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["the default, and the last step"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD602] batch-first-mixup: `LSTM` without batch_first takes axis 0 of x for time, but its axis 0 is `B`
  --> model.py:10:21
   |
10 |         self.lstm = nn.LSTM(d, d)  # <- SD602
   |                     ^^^^^^^^^^^^^ x is (B, T, d), should be (T, B, d)
15 |         states, _ = self.lstm(x)
   |                     ------------ x is (B, T, d)
16 |         return self.out(states[:, -1, :])
   |                         ---------------- takes the last element of axis 1, as if it were time
   = why: the module then runs along the batch, and what belongs to one example flows into the next
   = note: takes the last element of axis 1, as if it were time
   = help: build it with batch_first=True, or pass x.transpose(0, 1)
   = more: shapedoc explain SD602
"""
