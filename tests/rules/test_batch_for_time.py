"""SD101, SD102, SD103, SD105, SD201, SD602: a batch beside steps, steps beside features, where nobody names the sizes."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

CODES = ("SD101", "SD102", "SD103", "SD105", "SD201", "SD602")

HEAD = """\
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


"""

LOCATION = """\
class Location(nn.Module):
    def __init__(self, width, filters):
        super().__init__()
        self.conv = nn.Conv1d(1, filters, 3, padding=1)
        self.place, self.query = nn.Linear(filters, width), nn.Linear(width, width)
        self.v = nn.Linear(width, 1)
        self.before = None

    def begin(self, memory):
        b, t, c = memory.size()
        self.before = torch.zeros(b, t)

    def forward(self, memory, state, step):
        if step == 0:
            self.begin(memory)
        placed = self.place(self.conv(self.before.unsqueeze(1)).transpose(1, 2))
        {query}
        scores = self.v(torch.tanh(query + memory + placed)){mark}
        self.before = F.softmax(scores.squeeze(-1), dim=1)
        return self.before.unsqueeze(1) @ memory


class Speaker(nn.Module):
    def __init__(self, width, filters):
        super().__init__()
        self.cell = nn.GRUCell(width, width)
        self.attend = Location(width, filters)

    def forward(self, memory, frame, state, step):
        B, d = state.shape
        state = self.cell(frame, state)
        return self.attend(memory, state, step), state
"""

STEP = """\
class Writer(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.width = width
        self.embed = nn.Embedding(words, width)
        self.mix = nn.Linear(2 * width, width)
        self.cell = nn.LSTM(width, width, {setting})
        self.gate = nn.Linear(3 * width, 1)

    def forward(self, token, state, context):
        x = self.mix(torch.cat((context, self.embed(token)), 1))
        out, state = self.cell({fed}, state)
        h, c = state
        joined = torch.cat((h.view(-1, self.width), c.view(-1, self.width)), 1)
        return self.gate(torch.cat((joined, x), 1)), state
"""

HEADS = """\
class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.size = width // heads
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)

    def cut(self, x, count):
        return x.view(count, -1, self.heads, self.size).transpose(1, 2)

    def forward(self, a, b, c):
        count = a.size(0)
        q, k, v = self.cut(self.q(a), count), self.cut(self.k(b), count), self.cut(self.v(c), count)
        {scores}
        return torch.matmul(F.softmax(scores, dim=-1), v)
"""

NAMELESS = """\
class Plain(nn.Module):
    def forward(self, query, key, value):
        scores = torch.matmul(query, {key})
        return torch.matmul(F.softmax(scores, dim=-1), value)


class Heads(nn.Module):
    def __init__(self, maps, width, heads):
        super().__init__()
        self.size, self.count, self.maps = width // heads, heads, maps
        self.attend = Plain()

    def forward(self, query, key, value):
        count = query.size(0)
        query, key, value = [
            m(x).view(count, -1, self.count, self.size).transpose(1, 2) for m, x in zip(self.maps, (query, key, value))
        ]
        return self.attend(query, key, value)
"""

MERGED = """\
class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.size = width // heads
        self.all = self.heads * self.size
        self.q, self.k, self.v = nn.Linear(width, self.all), nn.Linear(width, self.all), nn.Linear(width, self.all)

    def cut(self, x):
        x = x.view(*(x.size()[:-1] + (self.heads, self.size)))
        return x{cut}

    def forward(self, x):
        q, k, v = self.cut(self.q(x)), self.cut(self.k(x)), self.cut(self.v(x))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.size)
        y = (F.softmax(scores, dim=-1) @ v).permute(0, 2, 1, 3).contiguous()
        return y.view(*(y.size()[:-2] + (self.all,))){mark}
"""

WRONG = {
    "a cell's state beside steps whose number is a parameter's": LOCATION.format(
        query="query = self.query(state)", mark="  # <- SD201"
    ),
    "one step as a sequence, and its one state beside the rows": STEP.format(
        setting="batch_first=True", fed="x"
    ).replace("self.cell(x, state)", "self.cell(x, state)  # <- SD105"),
    "a batch of single steps as one sequence, time first": STEP.format(
        setting="batch_first=False", fed="x.unsqueeze(1)"
    ).replace("batch_first=False)", "batch_first=False)  # <- SD602"),
    "keys that are not turned": HEADS.format(scores="scores = torch.matmul(q, k) / math.sqrt(self.size)  # <- SD101"),
    "keys that are not turned, of maps that are not known": NAMELESS.format(key="key").replace(
        "(query, key)\n", "(query, key)  # <- SD101\n"
    ),
    "heads that stand behind the steps, and are taken for steps": MERGED.format(cut="", mark="  # <- SD103"),
    "what a convolution gives has three axes, if its last two are exchanged": """
class Places(nn.Module):
    def __init__(self, filters):
        super().__init__()
        self.conv = nn.Conv1d(2, filters, 3, padding=1)

    def forward(self, before, sums):
        placed = self.conv(torch.cat((before.unsqueeze(1), sums.unsqueeze(1)), dim=1)).transpose(1, 2)
        batch_size, width = placed.shape  # <- SD105
        return placed.view(batch_size * width)
""",
    "a row number for every example, beside several places in each": """
def pick(x, k):
    B, T, d = x.shape
    places = torch.topk(x.sum(-1), k)[1]
    return x[torch.arange(B), places]  # <- SD102
""",
}

RIGHT = {
    "a row number for every example, as a column": """
def pick(x, k):
    B, T, d = x.shape
    places = torch.topk(x.sum(-1), k)[1]
    return x[torch.arange(B).unsqueeze(1), places]
""",
    "a cell's state with an axis for the steps": LOCATION.format(
        query="query = self.query(state).unsqueeze(1)", mark=""
    ),
    "one step as a sequence of one": STEP.format(setting="batch_first=True", fed="x.unsqueeze(1)"),
    "one step as a sequence of one, time first": STEP.format(setting="batch_first=False", fed="x.unsqueeze(0)"),
    "keys that are turned": HEADS.format(scores="scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.size)"),
    "keys that are turned, of maps that are not known": NAMELESS.format(key="key.transpose(-2, -1)"),
    "heads that are put in front, and back": MERGED.format(cut=".permute(0, 2, 1, 3)", mark=""),
    "one sentence by itself, step by step": """
class Speaker(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed, self.cell = nn.Embedding(words, width), nn.LSTM(width, width, batch_first=True)
        self.out = nn.Linear(2 * width, words)

    def forward(self, tokens):
        state, written = None, []
        for t in range(tokens.size(0)):
            out, state = self.cell(self.embed(tokens[t]).view(1, -1), state)
            written.append(self.out(torch.cat((out, state[0]), 1)))
        return torch.cat(written)
""",
    "time first, and a state of every example": """
def added(states, memory):
    T, B, d = memory.shape
    cell = nn.GRUCell(8, 8)
    return memory + cell(states, states)
""",
    "square pictures, row by row": """
def rows(pictures, size):
    B, H, W, c = pictures.shape
    return pictures.permute(0, 3, 1, 2).reshape(B, c, H * W), pictures.view(B, size, -1)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert [f for f in found(text, *CODES) if not f.note] == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_not(name: str) -> None:
    assert [f for f in found(HEAD + RIGHT[name], *CODES) if not f.note] == []
