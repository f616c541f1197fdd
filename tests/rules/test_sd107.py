"""SD107: states of recurrent modules."""

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
    "a state of both directions": """
class Seq2Seq(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.reader = nn.LSTM(width, hidden, bidirectional=True)
        self.writer = nn.LSTM(width, hidden)

    def forward(self, source, target):
        _, state = self.reader(source)
        return self.writer(target, state)[0]  # <- SD107

Seq2Seq(8, 6)(torch.randn(5, 2, 8), torch.randn(3, 2, 8))
""",
    "one tensor for an LSTM": """
class Writer(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.rnn = nn.LSTM(width, hidden, batch_first=True)

    def forward(self, x):
        n = x.size(0)
        start = torch.zeros(1, n, self.rnn.hidden_size)
        return self.rnn(x, start)[0]  # <- SD107

Writer(8, 6)(torch.randn(2, 5, 8))
""",
    "a cell that gets the axis of layers": """
def step(x, memory):
    reader = nn.GRU(8, 6, batch_first=True)
    cell = nn.GRUCell(8, 6)
    _, last = reader(memory)
    return cell(x, last)  # <- SD107

step(torch.randn(2, 8), torch.randn(2, 5, 8))
""",
    "a sequence module that gets the state of a cell": """
class Mixed(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.cell = nn.GRUCell(width, hidden)
        self.rnn = nn.GRU(width, hidden, batch_first=True)

    def forward(self, x):
        state = self.cell(x[:, 0])
        out, _ = self.rnn(x, state)  # <- SD107
        return out

Mixed(8, 6)(torch.randn(2, 5, 8))
""",
    "an initial state for one direction": """
class Encoder(nn.Module):
    def __init__(self, width, hidden, depth):
        super().__init__()
        self.hidden, self.depth = hidden, depth
        self.rnn = nn.GRU(width, hidden, depth, bidirectional=True)

    def forward(self, x):
        start = torch.zeros(self.depth, x.size(1), self.hidden)  # <- SD107
        return self.rnn(x, start)

Encoder(8, 6, 3)(torch.randn(5, 2, 8))
""",
    "the outputs of all steps": """
class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.reader = nn.GRU(width, hidden)
        self.writer = nn.GRU(width, hidden)

    def forward(self, source, target):
        memory, last = self.reader(source)
        return self.writer(target, memory)[0]  # <- SD107

Model(8, 6)(torch.randn(5, 2, 8), torch.randn(3, 2, 8))
""",
    "the last layer alone for two layers": """
class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.reader = nn.GRU(width, hidden, 2)
        self.writer = nn.GRU(width, hidden, 2)

    def forward(self, source, target):
        memory, last = self.reader(source)
        return self.writer(target, last[-1:])[0]  # <- SD107

Model(8, 6)(torch.randn(5, 2, 8), torch.randn(3, 2, 8))
""",
}

RIGHT = {
    "directions that are joined and mapped": """
class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.reader = nn.LSTM(width, hidden, bidirectional=True)
        self.h, self.c = nn.Linear(2 * hidden, hidden), nn.Linear(2 * hidden, hidden)
        self.writer = nn.LSTM(width, hidden)

    def forward(self, source, target):
        memory, (h, c) = self.reader(source)
        h = self.h(torch.cat((h[0], h[1]), dim=-1)).unsqueeze(0)
        c = self.c(torch.cat((c[0], c[1]), dim=-1)).unsqueeze(0)
        return self.writer(target, (h, c))[0]

Model(8, 6)(torch.randn(5, 2, 8), torch.randn(3, 2, 8))
""",
    "every other state of a stack": """
class Model(nn.Module):
    def __init__(self, width, hidden, depth):
        super().__init__()
        self.reader = nn.GRU(width, hidden, depth, bidirectional=True, batch_first=True)
        self.writer = nn.GRU(width, hidden, depth, batch_first=True)
        self.depth = depth

    def forward(self, source, target):
        memory, h = self.reader(source)
        return self.writer(target, h[:self.depth])[0]

Model(8, 6, 2)(torch.randn(2, 5, 8), torch.randn(2, 3, 8))
""",
    "a state that is summed over directions": """
class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.reader = nn.GRU(width, hidden, bidirectional=True)
        self.writer = nn.GRU(width, hidden)

    def forward(self, source, target):
        memory, h = self.reader(source)
        h = h.view(1, 2, -1, h.size(-1)).sum(dim=1)
        return self.writer(target, h)[0]

Model(8, 6)(torch.randn(5, 2, 8), torch.randn(3, 2, 8))
""",
    "an unbatched sequence": """
rnn = nn.GRU(8, 6)
rnn(torch.randn(5, 8), torch.zeros(1, 6))
""",
    "a projected LSTM": """
rnn = nn.LSTM(8, 6, proj_size=4)
rnn(torch.randn(5, 2, 8), (torch.zeros(1, 2, 4), torch.zeros(1, 2, 6)))
""",
    "one step at a time": """
class Writer(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.rnn = nn.GRU(hidden, hidden)

    def forward(self, token, state):
        x = self.embed(token).unsqueeze(0)
        out, state = self.rnn(x, state)
        return out.squeeze(0), state

def decode(memory):
    writer = Writer(20, 6)
    token, state = torch.zeros(2, dtype=torch.long), memory.mean(dim=0, keepdim=True)
    for _ in range(5):
        out, state = writer(token, state)
        token = out.argmax(-1)
    return out

decode(torch.randn(7, 2, 6))
""",
    "a state that starts as None": """
class Loop(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.cell = nn.LSTMCell(width, hidden)

    def forward(self, x, state=None):
        outs = []
        for t in range(x.size(1)):
            state = self.cell(x[:, t], state)
            outs.append(state[0])
        return torch.stack(outs, 1), state

Loop(8, 6)(torch.randn(2, 5, 8))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD107", "SD105", "SD306") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD107", "SD105", "SD306") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a state of both directions"], "SD107") + "\n" == MESSAGE


MESSAGE = """\
error[SD107] mismatched-recurrent-state: `writer` needs a hidden state whose layers times directions size is `1`, got `2`
  --> model.py:15:36
   |
10 |         self.reader = nn.LSTM(width, hidden, bidirectional=True)
   |                       ------------------------------------------ this encoder has two directions, each with a state of its own
11 |         self.writer = nn.LSTM(width, hidden)
   |                       ---------------------- LSTM is built here
14 |         _, state = self.reader(source)
   |                    ------------------- state[0] is (2, ?, hidden)
15 |         return self.writer(target, state)[0]  # <- SD107
   |                                    ^^^^^ state[0] is (2, ?, hidden), should be (1, ?, hidden)
   = why: the state of a recurrent module is (layers * directions, batch, hidden_size), also with batch_first=True
   = help: join the two directions, torch.cat((state[0][0::2], state[0][1::2]), dim=-1), and map them to one
   = more: shapedoc explain SD107
"""
