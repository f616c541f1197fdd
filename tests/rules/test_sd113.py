"""SD113: arguments that are given to another parameter than the one of their name, and parameters that get none."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import pytest
import torch
import torch.nn as nn

"""

ATTENTION = """
class Attention(nn.Module):
    def __init__(self, dim, dropout=0.5, form="dot"):
        super().__init__()
        self.project, self.form = nn.Linear(dim, dim), form

    def forward(self, query, memory, mask, scale=1.0):
        scores = torch.bmm(memory, self.project(query).unsqueeze(2)).squeeze(2) * scale
        return scores.masked_fill(mask, -1e9).softmax(-1)

"""

WRONG = {
    "a default that is passed over, of a layer": """
class Encoder(nn.Module):
    def __init__(self, dim, dropout):
        super().__init__()
        self.rnn = nn.GRU(dim, dim, 2, dropout)  # <- note SD113
""",
    "a default that is passed over, of a class": ATTENTION
    + """
class Decoder(nn.Module):
    def __init__(self, dim, form):
        super().__init__()
        self.attention = Attention(dim, form)  # <- note SD113
""",
    "an attribute by its name": ATTENTION
    + """
class Decoder(nn.Module):
    def __init__(self, dim, form):
        super().__init__()
        self.dim, self.form = dim, form
        self.attention = Attention(self.dim, self.form)  # <- note SD113
""",
    "a parameter that gets nothing": ATTENTION
    + """
class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)

    def forward(self, state, memory):
        return self.attention(state, memory)  # <- note SD113
""",
    "a function that is given tensors": """
def attend(query, memory, mask):
    return (query @ memory.mT).masked_fill(mask, -1e9).softmax(-1) @ memory


def decode(memory):
    return attend(torch.zeros(2, 1, 6), memory)  # <- note SD113
""",
    "all places one off": """
class Critic(nn.Module):
    def __init__(self, embedding_dim, hidden_dim, n_steps, clip):
        super().__init__()
        self.project = nn.Linear(embedding_dim, hidden_dim)


def build(embedding_dim, hidden_dim, clip):
    return Critic(2, embedding_dim, hidden_dim, clip)  # <- note SD113
""",
    "a keyword that is no parameter": ATTENTION
    + """
class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim, mode="dot")  # <- note SD113
""",
    "an argument too many": ATTENTION
    + """
class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)

    def forward(self, state, memory, mask):
        return self.attention(state, memory, mask, 0.5, memory)  # <- note SD113
""",
    "a default that is written out instead of the parameter": """
class Block(nn.Module):
    def __init__(self, dim=512, kernel=3):
        super().__init__()
        self.conv = nn.Conv1d(in_channels=dim, out_channels=dim, kernel_size=kernel)


class Model(nn.Module):
    def __init__(self, dim=512, kernel=3):
        super().__init__()
        self.block = Block(dim=512, kernel=3)  # <- note SD113
""",
    "a layer that is called where it is meant to be handed on": """
class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.tanh = nn.Tanh()
        self.project = nn.Sequential(nn.Linear(dim, dim), self.tanh())  # <- note SD113
""",
    "two in each other's places": """
def keep(states, q_len, m_len):
    return torch.cat(states)[q_len - m_len :]


def step(states, q_len, m_len):
    return keep(states, m_len, q_len)  # <- note SD113
""",
}

RIGHT = {
    "a constructor that a decorator of the class writes": """
from dataclasses import dataclass


class Module(nn.Module):
    def __init__(self):
        super().__init__()


@dataclass
class Scale(Module):
    size: int = 0

    def forward(self, x):
        return x / self.size**0.5

Scale(8)
""",
    "no module and no tensor": """
class Words(list):
    def __init__(self):
        self.all = []

def read(words):
    return Words(words), torch.zeros(3)
""",
    "by name": """
class Encoder(nn.Module):
    def __init__(self, dim, dropout):
        super().__init__()
        self.rnn = nn.GRU(dim, dim, 2, dropout=dropout)
""",
    "the parameter of the name gets something too": ATTENTION
    + """
def build(dim, form):
    return Attention(dim, form, "general")
""",
    "sizes the other way round, of what is built": """
class Auto(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.encode = nn.Linear(in_features, out_features)
        self.decode = nn.Linear(out_features, in_features)
""",
    "both ways": """
def attend(query, memory):
    return (query @ memory.mT).softmax(-1) @ memory


def co_attend(query, memory):
    return attend(query, memory), attend(memory, query)
""",
    "arguments that are passed on": ATTENTION
    + """
class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)

    def forward(self, *args, **kwargs):
        return self.attention(*args, **kwargs)
""",
    "a decorator that gives the rest": """
def with_mask(function):
    return lambda query, memory: function(query, memory, torch.zeros(2, 1, 5, dtype=torch.bool))


@with_mask
def attend(query, memory, mask):
    return (query @ memory.mT).masked_fill(mask, -1e9).softmax(-1) @ memory


def decode(memory):
    return attend(torch.zeros(2, 1, 6), memory)
""",
    "a call that is expected to raise": ATTENTION
    + """
def test_it_needs_a_mask():
    try:
        Attention(6)(torch.zeros(2, 6), torch.zeros(2, 5, 6))
    except TypeError:
        pass
""",
    "another one that is expected to raise": ATTENTION
    + """
def check():
    with pytest.raises(TypeError):
        Attention(6)(torch.zeros(2, 6), torch.zeros(2, 5, 6))
""",
    "a module that is guessed by its name": """
class Decoder(nn.Module):
    def forward(self, word, state):
        return word * state


class Attending(nn.Module):
    def forward(self, word, state, memory):
        return word * state + memory


class Model(nn.Module):
    def __init__(self, decoder, attends):
        super().__init__()
        self.decoder, self.attends = decoder, attends

    def forward(self, word, state, memory):
        return self.decoder(word, state, memory)
""",
    "a method that others override": """
class Model(nn.Module):
    def run(self, x):
        return self.step(x, scale=2.0)

    def step(self, x):
        raise NotImplementedError
""",
    "a value of its own, and a parameter that is read elsewhere": """
class Model(nn.Module):
    def __init__(self, dim=512, dropout=0.1, bias=True):
        super().__init__()
        self.rate = dropout
        self.rnn = nn.GRU(dim, dim, 2, bias=False, dropout=0.1)
""",
    "a function without tensors": """
def report(path, figures):
    print(path, figures)


def main(path):
    report(path)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_it_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert found(text, "SD113") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_right_code_is_left_alone(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD113") == []


def test_the_message() -> None:
    text = full_text(HEAD + WRONG["a default that is passed over, of a layer"], "SD113")
    assert text + "\n" == MESSAGE


MESSAGE = """\
note[SD113] misplaced-argument: `dropout` is given to the parameter `bias` of `GRU`
 --> model.py:9:40
  |
9 |         self.rnn = nn.GRU(dim, dim, 2, dropout)  # <- note SD113
  |                                        ^^^^^^^
  |                    ---------------------------- `dropout` keeps its default
  = why: arguments without a name go by their places: nobody compares their names with the parameters
  = help: name it: `dropout=dropout`
  = more: shapedoc explain SD113
"""
