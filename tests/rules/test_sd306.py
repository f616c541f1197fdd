"""SD306: hidden state first."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "the number of the layer for the number of the state": """
class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.depth = depth
        self.cells = nn.ModuleList([nn.LSTMCell(width, width) for _ in range(depth)])

    def forward(self, inputs):
        states, shown = [None] * self.depth, []
        for t in range(inputs.size(1)):
            states[0] = self.cells[0](inputs[:, t], states[0])
            for layer in range(1, self.depth):
                below = states[layer - 1][layer - 1]  # <- SD306
                states[layer] = self.cells[layer](below, states[layer])
            shown.append(states[-1][0])
        return torch.stack(shown, dim=1)

Stack(8, 3)(torch.randn(2, 5, 8))
""",
    "the cell state is shown, and the hidden state only fed back": """
class Decoder(nn.Module):
    def __init__(self, width, vocabulary):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(width, width), nn.Linear(2 * width, vocabulary)

    def forward(self, inputs, context):
        B, T, width = inputs.shape
        h, c, words = inputs.new_zeros(B, width), inputs.new_zeros(B, width), []
        for t in range(T):
            h, c = self.cell(inputs[:, t], (h, c))
            h = nn.functional.dropout(h, 0.1, self.training)
            words.append(self.out(torch.cat((c, context), dim=-1)))  # <- SD306
        return torch.stack(words, dim=1)
""",
    "taken in the wrong order, queried": """
class Decoder(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(d, h), nn.Linear(2 * h, d)

    def forward(self, xs, memory, state):
        out = []
        for x in xs:
            c, h = self.cell(x, state)  # <- SD306
            state = (c, h)
            a = F.softmax(torch.bmm(memory, h.unsqueeze(2)), dim=1)
            out.append(self.out(torch.cat([h, (a * memory).sum(1)], 1)))
        return torch.stack(out)

zero = torch.zeros(2, 7)
Decoder(3, 7)(torch.randn(4, 2, 3), torch.randn(2, 5, 7), (zero, zero))
""",
    "passed in the wrong order": """
class Model(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.encoder, self.decoder = nn.LSTM(d, h), nn.LSTM(d, h)

    def forward(self, x, y):
        memory, (hidden, cell) = self.encoder(x)
        output, _ = self.decoder(y, (cell, hidden))  # <- SD306
        return output

Model(3, 7)(torch.randn(5, 2, 3), torch.randn(4, 2, 3))
""",
    "the cell state is the query": """
class Decoder(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.cell, self.w, self.u, self.v = nn.LSTMCell(d, h), nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)

    def attend(self, query, memory):
        a = F.softmax(self.v(torch.tanh(self.w(query).unsqueeze(1) + self.u(memory))), dim=1)
        return (a * memory).sum(1)

    def forward(self, x, memory, state):
        hidden, cell_state = self.cell(x, state)
        return torch.cat([hidden, self.attend(cell_state, memory)], 1), (hidden, cell_state)  # <- SD306

zero = torch.zeros(2, 7)
Decoder(3, 7)(torch.randn(2, 3), torch.randn(2, 5, 7), (zero, zero))
""",
}

WRONG |= {
    "the hidden state for both": """
def copies(state, n):
    return state.repeat(1, n, 1)

class Model(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.encoder, self.decoder = nn.LSTM(d, h), nn.LSTM(d, h)

    def forward(self, x, y, n):
        memory, states = self.encoder(x)
        states = (copies(states[0], n), copies(states[0], n))
        output, _ = self.decoder(y, states)  # <- SD306
        return output
""",
}

RIGHT = {
    "the hidden state of the layer below": """
class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.depth = depth
        self.cells = nn.ModuleList([nn.LSTMCell(width, width) for _ in range(depth)])

    def forward(self, inputs):
        states, shown = [None] * self.depth, []
        for t in range(inputs.size(1)):
            states[0] = self.cells[0](inputs[:, t], states[0])
            for layer in range(1, self.depth):
                below = states[layer - 1][0]
                states[layer] = self.cells[layer](below, states[layer])
            shown.append(states[-1][0])
        return torch.stack(shown, dim=1)

Stack(8, 3)(torch.randn(2, 5, 8))
""",
    "the diagonal of a table of tensors": """
class Table(nn.Module):
    def __init__(self, width, n):
        super().__init__()
        self.n = n
        self.maps = nn.ModuleList([nn.Linear(width, width) for _ in range(n)])

    def forward(self, x):
        table = [(self.maps[0](x), self.maps[1](x)), (self.maps[1](x), self.maps[0](x))]
        return sum(table[i][i] for i in range(2))
""",
    "a state for each of two layers that are tables": """
class Both(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lower, self.upper = nn.LSTMCell(width, width), nn.LSTMCell(width, width)

    def forward(self, x, which, part):
        states = [self.lower(x), self.upper(x)]
        return states[which][part]
""",
    "each state in its place": """
def copies(state, n):
    return state.repeat(1, n, 1)

class Model(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.encoder, self.decoder = nn.LSTM(d, h), nn.LSTM(d, h)

    def forward(self, x, y, n):
        memory, states = self.encoder(x)
        states = (copies(states[0], n), copies(states[1], n))
        output, _ = self.decoder(y, states)
        return output
""",
    "the one state of a GRU for both": """
class Model(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.encoder, self.decoder = nn.GRU(d, h), nn.LSTM(d, h)

    def forward(self, x, y):
        memory, state = self.encoder(x)
        output, _ = self.decoder(y, (state.clone(), state.clone()))
        return output
""",
    "the hidden state is shown": """
class Decoder(nn.Module):
    def __init__(self, width, vocabulary):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(width, width), nn.Linear(2 * width, vocabulary)

    def forward(self, inputs, context):
        B, T, width = inputs.shape
        h, c, words = inputs.new_zeros(B, width), inputs.new_zeros(B, width), []
        for t in range(T):
            h, c = self.cell(inputs[:, t], (h, c))
            h = nn.functional.dropout(h, 0.1, self.training)
            words.append(self.out(torch.cat((h, context), dim=-1)))
        return torch.stack(words, dim=1)
""",
    "both states are shown": """
class Decoder(nn.Module):
    def __init__(self, width, vocabulary):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(width, width), nn.Linear(2 * width, vocabulary)

    def forward(self, inputs, context):
        B, T, width = inputs.shape
        h, c, words = inputs.new_zeros(B, width), inputs.new_zeros(B, width), []
        for t in range(T):
            h, c = self.cell(inputs[:, t], (h, c))
            h = nn.functional.dropout(h, 0.1, self.training)
            words.append(self.out(torch.cat((c + h, context), dim=-1)))
        return torch.stack(words, dim=1)
""",
    "hidden first": """
class Decoder(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(d, h), nn.Linear(2 * h, d)

    def forward(self, xs, memory, state):
        out = []
        for x in xs:
            h, c = state = self.cell(x, state)
            a = F.softmax(torch.bmm(memory, h.unsqueeze(2)), dim=1)
            out.append(self.out(torch.cat([h, (a * memory).sum(1)], 1)))
        return torch.stack(out)

zero = torch.zeros(2, 7)
Decoder(3, 7)(torch.randn(4, 2, 3), torch.randn(2, 5, 7), (zero, zero))
""",
    "both states are the query, as in DA-RNN": """
class Attention(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.cell, self.w, self.u, self.v = nn.LSTMCell(3, h), nn.Linear(2 * h, h), nn.Linear(h, h), nn.Linear(h, 1)

    def forward(self, x, memory, state):
        h, c = self.cell(x, state)
        query = torch.cat([h, c], 1)
        a = F.softmax(self.v(torch.tanh(self.w(query).unsqueeze(1) + self.u(memory))), dim=1)
        return (a * memory).sum(1)

zero = torch.zeros(2, 7)
Attention(7)(torch.randn(2, 3), torch.randn(2, 5, 7), (zero, zero))
""",
    "one map for each of both states": """
class Bridge(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.encoder, self.decoder = nn.LSTM(d, h), nn.LSTM(d, h)
        self.a, self.b = nn.Linear(h, h), nn.Linear(h, h)

    def forward(self, x, y):
        memory, (h, c) = self.encoder(x)
        return self.decoder(y, (torch.tanh(self.a(h)), self.b(c)))

Bridge(3, 7)(torch.randn(5, 2, 3), torch.randn(4, 2, 3))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD306") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD306") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["passed in the wrong order"], "SD306") + "\n" == MESSAGE


MESSAGE = """\
error[SD306] swapped-lstm-state: hidden and cell state of the LSTM are swapped: (cell, hidden) holds (c, h), i\
t takes (h, c)
  --> model.py:13:37
   |
12 |         memory, (hidden, cell) = self.encoder(x)
   |                                  --------------- returned here, the hidden state first
13 |         output, _ = self.decoder(y, (cell, hidden))  # <- SD306
   |                                     ^^^^^^^^^^^^^^ (cell, hidden) is (c, h), should be (h, c)
   |                     ------------------------------- goes in here
16 | Model(3, 7)(torch.randn(5, 2, 3), torch.randn(4, 2, 3))
   | ------------------------------------------------------- in this call of `Model.forward`
   = why: both have one shape, so nothing raises; the cell state has no bound, and the gates work on the wrong one
   = help: unpack `h, c = ...` and pass `(h, c)`
   = more: shapedoc explain SD306
"""
