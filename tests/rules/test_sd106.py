"""SD106: modules that are fed another size than they were built with."""

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
    "every layer built for the input of the lowest": """
class Stack(nn.Module):
    def __init__(self, d_in, d_h, n):
        super().__init__()
        self.cells = nn.ModuleList([nn.GRUCell(d_in, d_h) for _ in range(n)])
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, states):
        new = []
        for i, cell in enumerate(self.cells):
            x = cell(x, states[i])  # <- SD106
            new.append(x)
            x = self.dropout(x)
        return torch.stack(new)
""",
    "a convolution's channels before a map, without a transpose": """
class Locations(nn.Module):
    def __init__(self, n_filters, width):
        super().__init__()
        self.conv = nn.Conv1d(2, n_filters, 31, padding=15)
        self.dense = nn.Linear(n_filters, width)

    def forward(self, weights):
        return self.dense(self.conv(weights))  # <- SD106
""",
    "three in one, the wrong way round": """
class Self(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv = nn.Linear(3 * d, d)  # <- SD106

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return (q @ k.transpose(-2, -1)).softmax(-1) @ v
""",
    "heads, the wrong way round": """
class Keys(nn.Module):
    def __init__(self, d_model, n_heads, d_k):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_k
        self.key = nn.Linear(n_heads * d_k, d_model)  # <- SD106

    def forward(self, x):
        T, B, _ = x.shape
        return self.key(x).view(T, B, self.n_heads, self.d_k)
""",
    "a layer behind a bidirectional encoder": """
class Tagger(nn.Module):
    def __init__(self, vocab, width, hidden, tags):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.LSTM(width, hidden, bidirectional=True)
        self.out = nn.Linear(hidden, tags)  # <- SD106

    def forward(self, tokens):
        states, _ = self.rnn(self.embed(tokens))
        return self.out(states)
""",
    "a layer behind a join": """
class Head(nn.Module):
    def __init__(self, left, right, classes):
        super().__init__()
        self.a = nn.Linear(left, left)
        self.b = nn.Linear(right, right)
        self.out = nn.Linear(left, classes)  # <- SD106

    def forward(self, x, y):
        return self.out(torch.cat((self.a(x), self.b(y)), dim=-1))
""",
    "a convolution that is fed features last": """
class Smooth(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3, padding=1)

    def forward(self, x):
        return self.conv(x)  # <- SD106

Smooth(8)(torch.randn(2, 5, 8))
""",
    "heads that were not merged": """
class Attend(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, width)

    def forward(self, x):
        n, t, _ = x.shape
        h = self.inner(x).view(n, t, self.heads, self.size).transpose(1, 2)
        mixed = (h @ h.transpose(-2, -1)).softmax(-1) @ h
        return self.outer(mixed)  # <- SD106
""",
    "a join that was forgotten": """
class Decoder(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.rnn = nn.GRU(width + hidden, hidden, batch_first=True)
        self.embed = nn.Embedding(50, width)

    def forward(self, tokens, context):
        x = self.embed(tokens)
        states, _ = self.rnn(x)  # <- SD106
        return states
""",
    "a tensor that was left behind": """
class Block(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)

    def forward(self, x):
        n, t, width = x.shape
        wide = self.up(x)
        return self.down(x)  # <- SD106

Block(8, 32)(torch.randn(2, 5, 8))
""",
    "a decoder built with the wrong number": """
class Encoder(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.rnn = nn.GRU(width, hidden, batch_first=True, bidirectional=True)

    def forward(self, x):
        return self.rnn(x)[0]

class Reader(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.out = nn.Linear(size, 3)

    def forward(self, memory):
        return self.out(memory)

encoder = Encoder(8, 16)
reader = Reader(16)  # <- SD106


x = torch.randn(2, 5, 8)
reader(encoder(x))
""",
    "a learned query for one element of the batch": """
class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Parameter(torch.zeros(1, 1, width))
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)

    def forward(self, x):
        return self.attention(self.query, x, x)[0]  # <- SD106

Pool(8)(torch.randn(3, 5, 8))
""",
    "a norm over another size": """
class Norm(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.up = nn.Linear(width, inner)
        self.norm = nn.LayerNorm(width)  # <- SD106

    def forward(self, x):
        return self.norm(self.up(x))

Norm(8, 12)(torch.randn(2, 5, 8))
""",
    "an axis of one behind what is wanted": """
class Critic(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.cell, self.out = nn.GRU(hidden, hidden, batch_first=True), nn.Linear(hidden, 1)

    def forward(self, x, weights):
        states, _ = self.cell(x)
        context = torch.bmm(states.transpose(1, 2), weights.unsqueeze(2))
        return self.out(context)  # <- SD106
""",
}

RIGHT = {
    "the upper layers built for what is below": """
class Stack(nn.Module):
    def __init__(self, d_in, d_h, n):
        super().__init__()
        self.cells = nn.ModuleList([nn.GRUCell(d_in if i == 0 else d_h, d_h) for i in range(n)])

    def forward(self, x, states):
        for i, cell in enumerate(self.cells):
            x = cell(x, states[i])
        return x
""",
    "layers of one width": """
class Stack(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.cells = nn.ModuleList([nn.GRUCell(d, d) for i in range(n)])

    def forward(self, x, states):
        for i, cell in enumerate(self.cells):
            x = cell(x, states[i])
        return x
""",
    "blocks in a row, each built for what the one before it makes": """
class Block(nn.Module):
    def __init__(self, width_in, width_out):
        super().__init__()
        self.conv = nn.Conv1d(width_in, width_out, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))


class Tower(nn.Module):
    def __init__(self, width, widths):
        super().__init__()
        before = [width] + widths[:-1]
        self.blocks = nn.ModuleList([Block(a, b) for a, b in zip(before, widths)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

Tower(16, widths=[16, 16])(torch.randn(2, 16, 9))
""",
    "a convolution's channels behind the places": """
class Locations(nn.Module):
    def __init__(self, n_filters, width):
        super().__init__()
        self.conv = nn.Conv1d(2, n_filters, 31, padding=15)
        self.dense = nn.Linear(n_filters, width)

    def forward(self, weights):
        return self.dense(self.conv(weights).transpose(1, 2))
""",
    "as many tokens as features, by the author's own sizes": """
class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.across = nn.Linear(width, width)
        self.along = nn.Linear(width, width)

    def forward(self, x):
        return self.along(self.across(x).transpose(1, 2))
""",
    "what comes of several is cut in as many": """
class Gates(nn.Module):
    def __init__(self, d, gates):
        super().__init__()
        self.gates = nn.Linear(3 * d, 3 * gates)
        self.out = nn.Linear(gates, d)

    def forward(self, x):
        a, b, c = self.gates(x).chunk(3, dim=-1)
        return self.out(a * b + c)
""",
    "fewer heads for the keys, cut into those of the queries": """
class Grouped(nn.Module):
    def __init__(self, dim, n_heads, n_groups):
        super().__init__()
        self.n_heads, self.d_head = n_heads, dim // n_heads
        self.key = nn.Linear(dim, n_groups * self.d_head)

    def forward(self, x):
        B, T, _ = x.shape
        return self.key(x).view(B, T, self.n_heads, self.d_head)
""",
    "heads joined and split again": """
class Twice(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.first = nn.Linear(n_heads * self.d_k, d_model)
        self.second = nn.Linear(d_model, n_heads * self.d_k)

    def forward(self, x):
        B, T, _ = x.shape
        return self.second(self.first(x)).view(B, T, self.n_heads, self.d_k)
""",
    "an encoder and its bridge": """
class Bridge(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.rnn = nn.GRU(width, hidden, bidirectional=True)
        self.bridge = nn.Linear(hidden * 2, hidden)

    def forward(self, x):
        states, last = self.rnn(x)
        return self.bridge(torch.cat((last[-2], last[-1]), dim=1)), self.bridge(states)

Bridge(8, 6)(torch.randn(5, 2, 8))
""",
    "input feeding": """
class Decoder(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.embed = nn.Embedding(50, width)
        self.cell = nn.GRUCell(width + hidden, hidden)

    def forward(self, tokens, memory, state):
        steps = []
        for t in range(tokens.size(1)):
            weights = torch.bmm(memory, state.unsqueeze(2)).softmax(1)
            context = (weights * memory).sum(1)
            state = self.cell(torch.cat((self.embed(tokens[:, t]), context), dim=1), state)
            steps.append(state)
        return torch.stack(steps, dim=1)

Decoder(8, 6)(torch.zeros(2, 3, dtype=torch.long), torch.randn(2, 5, 6), torch.zeros(2, 6))
""",
    "layers in a list with sizes of their own": """
class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])])

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x

Net([8, 16, 4])(torch.randn(2, 8))
""",
    "a stack of blocks": """
class Stack(nn.Module):
    def __init__(self, width, hidden, depth):
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.blocks = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(depth)])
        self.norm = nn.LayerNorm(hidden)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = self.norm(x + block(x))
        return x

Stack(8, 6, 3)(torch.randn(2, 5, 8))
""",
    "a size that depends on a flag": """
class Classifier(nn.Module):
    def __init__(self, width, hidden, bidirectional=True):
        super().__init__()
        self.rnn = nn.LSTM(width, hidden, batch_first=True, bidirectional=bidirectional)
        self.out = nn.Linear(hidden * 2 if bidirectional else hidden, 2)

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.out(states.mean(dim=1))

Classifier(8, 6)(torch.randn(2, 5, 8))
Classifier(8, 6, bidirectional=False)(torch.randn(2, 5, 8))
""",
    "convolutions between transposes": """
class Conv(nn.Module):
    def __init__(self, width, channels):
        super().__init__()
        self.conv = nn.Conv1d(width, channels, 3, padding=1)

    def forward(self, x):
        return self.conv(x.permute(0, 2, 1)).permute(0, 2, 1)

Conv(8, 4)(torch.randn(2, 5, 8))
""",
    "keys and values of other sizes": """
class Cross(nn.Module):
    def __init__(self, width, d_key, d_value):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 2, kdim=d_key, vdim=d_value, batch_first=True)

    def forward(self, query, key, value):
        return self.attention(query, key, value)

Cross(8, 6, 4)(torch.randn(2, 3, 8), torch.randn(2, 5, 6), torch.randn(2, 5, 4))
""",
    "a config that nobody shows": """
class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.up = nn.Linear(config.n_embd, 4 * config.n_embd)
        self.down = nn.Linear(4 * config.n_embd, config.n_embd)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))
""",
    "a layer that is replaced": """
class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.out = nn.Linear(width, classes)

    def forward(self, x):
        return self.out(x)

model = Head(8, 3)
model.out = nn.Linear(16, 3)
model(torch.randn(2, 16))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD106", "SD104", "SD105") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD106", "SD104", "SD105") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a layer behind a bidirectional encoder"], "SD106") + "\n" == MESSAGE


MESSAGE = """\
error[SD106] mismatched-module-input: `out` is built with in_features `hidden` and fed `2*hidden`
  --> model.py:12:30
   |
12 |         self.out = nn.Linear(hidden, tags)  # <- SD106
   |                              ^^^^^^ states is (?, ?, 2*hidden)
   |                    ----------------------- Linear is built here
15 |         states, _ = self.rnn(self.embed(tokens))
   |                     ---------------------------- states is (?, ?, 2*hidden)
16 |         return self.out(states)
   |                         ------ states is (?, ?, 2*hidden)
   = why: Linear takes in_features at axis -1 of its input, and states is (?, ?, 2*hidden)
   = help: build it with in_features=2*hidden
   = more: shapedoc explain SD106
"""


def test_a_map_whose_two_sizes_are_exchanged() -> None:
    program = """\
import torch
import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, vocab_size, emb_dim, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_dim)
        self.rnn = nn.GRU(emb_dim, hidden_size, batch_first=True)
        self.out = nn.Linear(vocab_size, hidden_size)  # <- SD106
        self.plain = nn.Linear(emb_dim, vocab_size)  # <- note SD106

    def forward(self, tokens):
        B, T = tokens.shape
        states, _ = self.rnn(self.embedding(tokens))
        return self.out(states), self.plain(states)
"""
    assert found(program, "SD106") == expected(program)
