"""SD207: positions that run along the batch."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD207", "SD201", "SD102")
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a table cut to the batch": """
class Encoder(nn.Module):
    def __init__(self, vocab, d, heads, n=100):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.table = nn.Parameter(torch.zeros(n, 1, d))
        self.layer = nn.TransformerEncoderLayer(d, heads, batch_first=True)

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.embed(tokens)
        return self.layer(x + self.table[: x.size(0)])  # <- SD207
""",
    "an embedding of the wrong count": """
class Encoder(nn.Module):
    def __init__(self, vocab, d, n):
        super().__init__()
        self.words = nn.Embedding(vocab, d)
        self.places = nn.Embedding(n, d)

    def forward(self, tokens):
        B, T = tokens.shape
        places = torch.arange(B)[:, None]  # <- SD207
        x = self.words(tokens) + self.places(places)
        scores = x @ x.transpose(1, 2)
        return scores.softmax(-1) @ x
""",
    "a length that picks one position": """
class Encoder(nn.Module):
    def __init__(self, vocab, d, n=100):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.table = nn.Parameter(torch.zeros(1, n, d))

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.embed(tokens)
        return x + self.table[:, T]  # <- SD207
""",
    "a table without its axis for the batch, cut as if it had one": """
class Sines(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        table = torch.zeros(longest, width)
        place = torch.arange(0, longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * -0.1)
        table[:, 0::2] = torch.sin(place * rate)
        table[:, 1::2] = torch.cos(place * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[:, : x.size(1)]  # <- SD207
""",
}

WRONG |= {
    "a vector for each place in the batch": """
class Additive(nn.Module):
    def __init__(self, batch_size, d):
        super().__init__()
        self.project = nn.Linear(d, d)
        self.v = nn.Parameter(torch.rand(batch_size, d))  # <- SD207

    def forward(self, query, memory):
        hidden = torch.tanh(self.project(memory) + query.unsqueeze(1))
        return hidden.bmm(self.v.unsqueeze(2)).squeeze(-1).softmax(-1)
""",
}

TABLE = """
class Positions(nn.Module):
    def __init__(self, d, n=50):
        super().__init__()
        table = torch.zeros(n, d)
        places = torch.arange(n).unsqueeze(1)
        waves = torch.exp(torch.arange(0, d, 2) * -0.1)
        table[:, 0::2] = torch.sin(places * waves)
        table[:, 1::2] = torch.cos(places * waves)
        self.register_buffer("table", table)
"""

WRONG |= {
    "an index where a slice is meant": TABLE
    + """
    def forward(self, x):
        B, T, d = x.shape
        return x + self.table[T]  # <- SD207
""",
    "an index where a slice is meant, behind the batch": TABLE.replace("table)", "table[None])")
    + """
    def forward(self, x):
        B, T, d = x.shape
        return x + self.table[:, T]  # <- SD207
""",
}

RIGHT = {
    "a slice, and a step of its own": TABLE
    + """
    def forward(self, x, step):
        B, T, d = x.shape
        return x + self.table[:T] + self.table[step]
""",
    "a vector for all, and a state for each that is not learnt": """
class Additive(nn.Module):
    def __init__(self, batch_size, d):
        super().__init__()
        self.project = nn.Linear(d, d)
        self.v = nn.Parameter(torch.rand(d))
        self.state = nn.Parameter(torch.zeros(batch_size, d), requires_grad=False)

    def forward(self, query, memory):
        hidden = torch.tanh(self.project(memory) + query.unsqueeze(1))
        return (hidden @ self.v).softmax(-1)
""",
    "a class whose batch stands first where it is built so, not by default": """
class Stack(nn.Module):
    def __init__(self, words, d, heads, steps, batch_first=False):
        super().__init__()
        self.embed, self.places = nn.Embedding(words, d), nn.Embedding(steps, d)
        self.layer = nn.TransformerEncoderLayer(d, heads, batch_first=batch_first)

    def forward(self, tokens):
        x = self.embed(tokens)
        places = self.places(torch.arange(0, x.size(1)).unsqueeze(0))
        return self.layer(x + places)


result = Stack(11, 8, 2, 9, batch_first=True)(torch.zeros(2, 5).long())
""",
    "batch first": """
class Encoder(nn.Module):
    def __init__(self, vocab, d, heads, n=100):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.table = nn.Parameter(torch.zeros(1, n, d))
        self.layer = nn.TransformerEncoderLayer(d, heads, batch_first=True)

    def forward(self, tokens):
        x = self.embed(tokens)
        return self.layer(x + self.table[:, : x.size(1)])
""",
    "time first": """
class Encoder(nn.Module):
    def __init__(self, vocab, d, heads, n=100):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.table = nn.Parameter(torch.zeros(n, 1, d))
        self.layer = nn.TransformerEncoderLayer(d, heads)

    def forward(self, tokens):
        T, B = tokens.shape
        x = self.embed(tokens)
        return self.layer(x + self.table[: x.size(0)])
""",
    "an embedding of an arange": """
class Encoder(nn.Module):
    def __init__(self, vocab, d, n):
        super().__init__()
        self.words = nn.Embedding(vocab, d)
        self.places = nn.Embedding(n, d)

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(T))
        return (x @ x.transpose(1, 2)).softmax(-1) @ x
""",
    "nothing says which axis is time": """
class Positions(nn.Module):
    def __init__(self, d, n=100):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(n, 1, d))

    def forward(self, x):
        return x + self.table[: x.size(0)]
""",
    "a bias for every example": """
def biased(x, speakers, table):
    B, T, d = x.shape
    return x + table[speakers].view(B, 1, d)
""",
    "a table cut to the features that there are": """
class Sines(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        even = width + width % 2
        table = torch.zeros(longest, even)
        place = torch.arange(0, longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, even, 2) * -0.1)
        table[:, 0::2] = torch.sin(place * rate)
        table[:, 1::2] = torch.cos(place * rate)
        self.register_buffer("table", table)
        self.width = width

    def forward(self, x):
        return x + self.table[: x.size(1), : self.width]
""",
    "a table with its axis for the batch": """
class Sines(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        table = torch.zeros(longest, width)
        place = torch.arange(0, longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * -0.1)
        table[:, 0::2] = torch.sin(place * rate)
        table[:, 1::2] = torch.cos(place * rate)
        self.register_buffer("table", table.unsqueeze(0))

    def forward(self, x):
        return x + self.table[:, : x.size(1)]
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


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a table cut to the batch"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD207] position-over-batch: the positions self.table[: x.size(0)] (B, 1, d) run along `B` of x (B, T, d), \
not along time
  --> model.py:17:31
   |
17 |         return self.layer(x + self.table[: x.size(0)])  # <- SD207
   |                               ^^^^^^^^^^^^^^^^^^^^^^^ self.table[: x.size(0)] is (B, 1, d), should be (1, T, d)
   |                           --------------------------- x is (B, T, d)
   = why: a position says where in its sequence an element stands: it varies along time and is the same for all \
examples
   = help: cut the table to the length of time and give it a leading 1
   = more: shapedoc explain SD207
"""
