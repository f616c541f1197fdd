"""SD305: all directions and the last layer of an encoder's state."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import torch
import torch.nn as nn

"""

WRONG = {
    "the backward direction alone": """
class Classifier(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.rnn, self.out = nn.LSTM(d, h, bidirectional=True), nn.Linear(h, 3)

    def forward(self, x):
        output, (hidden, cell) = self.rnn(x)
        return self.out(hidden[-1])  # <- SD305

Classifier(3, 7)(torch.randn(5, 2, 3))
""",
    "the forward direction alone": """
class Classifier(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.rnn, self.out = nn.GRU(d, h, batch_first=True, bidirectional=True), nn.Linear(h, 3)

    def forward(self, x):
        _, hidden = self.rnn(x)
        return self.out(hidden[0, :, :])  # <- SD305
""",
    "the lowest of two layers": """
def summary(x):
    rnn = nn.GRU(3, 7, num_layers=2, batch_first=True)
    output, hidden = rnn(x)
    return hidden[0]  # <- SD305

summary(torch.randn(2, 5, 3))
""",
    "viewed the other way round": """
def last_layer(x):
    rnn = nn.GRU(3, 7, num_layers=3, batch_first=True, bidirectional=True)
    output, hidden = rnn(x)
    hidden = hidden.view(2, 3, x.size(0), 7)  # <- SD305
    return torch.cat((hidden[0, -1], hidden[1, -1]), dim=-1)

last_layer(torch.randn(2, 5, 3))
""",
    "the first entries for a decoder with as many layers": """
class Model(nn.Module):
    def __init__(self, d, h, layers):
        super().__init__()
        self.encoder = nn.GRU(d, h, layers, bidirectional=True)
        self.decoder, self.layers = nn.GRU(d, h, layers), layers

    def forward(self, x, y):
        outputs, hidden = self.encoder(x)
        return self.decoder(y, hidden[: self.layers])  # <- SD305

Model(3, 7, 2)(torch.randn(5, 2, 3), torch.randn(4, 2, 3))
""",
    "a query of the lowest layer": """
class Decoder(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.rnn = nn.GRU(d + h, h, num_layers=2, batch_first=True)

    def forward(self, x, hidden, memory):
        query = hidden[0].unsqueeze(2)  # <- SD305
        weights = torch.bmm(memory, query).softmax(dim=1)
        context = (weights * memory).sum(dim=1, keepdim=True)
        return self.rnn(torch.cat((x, context), dim=2), hidden)

Decoder(3, 7)(torch.randn(2, 1, 3), torch.zeros(2, 2, 7), torch.randn(2, 5, 7))
""",
}

WRONG |= {
    "as many entries as another module says it has layers": """
class Reader(nn.Module):
    def __init__(self, d, h, depth):
        super().__init__()
        self.rnn = nn.LSTM(d, h, depth, bidirectional=True)

    def forward(self, x):
        return self.rnn(x)


class Writer(nn.Module):
    def __init__(self, d, h, n_layers):
        super().__init__()
        self.n_layers, self.rnn = n_layers, nn.LSTM(d, h, n_layers)

    def forward(self, x, state):
        return self.rnn(x, state)


class Both(nn.Module):
    def __init__(self, reader, writer):
        super().__init__()
        self.reader, self.writer = reader, writer

    def forward(self, x, y):
        _, (hidden, cell) = self.reader(x)
        hidden = hidden[: self.writer.n_layers]  # <- SD305
        cell = cell[: self.writer.n_layers]  # <- SD305
        return self.writer(y, (hidden, cell))
""",
    "a step of training whose modules are built elsewhere": """
class Reader(nn.Module):
    def __init__(self, words, d, n_layers, dropout):
        super().__init__()
        self.words = nn.Embedding(words, d)
        self.rnn = nn.GRU(d, d, n_layers, dropout=(0 if n_layers == 1 else dropout), bidirectional=True)

    def forward(self, x):
        return self.rnn(self.words(x))


class Writer(nn.Module):
    def __init__(self, words, d, n_layers):
        super().__init__()
        self.n_layers = n_layers
        self.words, self.rnn = nn.Embedding(words, d), nn.GRU(d, d, n_layers)

    def forward(self, x, state):
        return self.rnn(self.words(x), state)


def step(x, y, source, target):
    _, state = source(x)
    state = state[: target.n_layers]  # <- SD305
    return target(y, state)


def train(batches, words, d, n_layers, dropout):
    source, target = Reader(words, d, n_layers, dropout), Writer(words, d, n_layers)
    for x, y in batches:
        step(x, y, source, target)
""",
}

WRONG |= {
    "all layers but the last as the query": """
class Writer(nn.Module):
    def __init__(self, d, layers=2):
        super().__init__()
        self.rnn = nn.GRU(2 * d, d, layers)

    def forward(self, x, state, memory):
        query = state[:-1].transpose(0, 1)  # <- SD305
        weights = torch.bmm(query, memory.transpose(1, 2)).softmax(-1)
        context = torch.bmm(weights, memory).transpose(0, 1)
        return self.rnn(torch.cat([x, context], dim=2), state)

Writer(4)(torch.randn(1, 3, 4), torch.zeros(2, 3, 4), torch.randn(3, 5, 4))
""",
}

WRONG |= {
    "two directions, one step at a time": """
class Encoder(nn.Module):
    def __init__(self, V, d):
        super().__init__()
        self.words, self.rnn = nn.Embedding(V, d), nn.LSTM(d, d, bidirectional=True, batch_first=True)

    def forward(self, word, state):
        x = self.words(word).view(1, 1, -1)
        return self.rnn(x, state)  # <- SD305
""",
    "two directions, one step at a time, where an option that nobody turns on is on": """
class Writer(nn.Module):
    def __init__(self, V, d, both=False):
        super().__init__()
        self.words = nn.Embedding(V, d)
        if both:
            self.rnn = nn.GRU(d, d, bidirectional=True, batch_first=True)
        else:
            self.rnn = nn.GRU(d, d, bidirectional=False, batch_first=True)

    def forward(self, words, state):
        out = []
        for i in range(words.size(1)):
            y, state = self.step(words[:, i].unsqueeze(1), state)
            out.append(y)
        return torch.cat(out, dim=1)

    def step(self, word, state):
        return self.rnn(self.words(word), state)  # <- note SD305
""",
    "two directions, one step at a time, where an option is turned on": """
class Writer(nn.Module):
    def __init__(self, V, d, both=False):
        super().__init__()
        self.words = nn.Embedding(V, d)
        if both:
            self.rnn = nn.GRU(d, d, bidirectional=True, batch_first=True)
        else:
            self.rnn = nn.GRU(d, d, bidirectional=False, batch_first=True)

    def forward(self, words, state):
        out = []
        for i in range(words.size(1)):
            y, state = self.step(words[:, i].unsqueeze(1), state)
            out.append(y)
        return torch.cat(out, dim=1)

    def step(self, word, state):
        return self.rnn(self.words(word), state)  # <- SD305

Writer(9, 4, both=True)(torch.zeros(3, 5, dtype=torch.long), torch.zeros(2, 3, 4))
""",
    "two directions, one step at a time, in a loop": """
class Encoder(nn.Module):
    def __init__(self, V, d):
        super().__init__()
        self.words, self.rnn = nn.Embedding(V, d), nn.GRU(d, d, bidirectional=True, batch_first=True)

    def forward(self, words, state=None):
        N, T = words.shape
        out = []
        for i in range(T):
            x = self.words(words[:, i].unsqueeze(1))
            y, state = self.rnn(x, state)  # <- SD305
            out.append(y)
        return torch.cat(out, dim=1), torch.cat((state[-2], state[-1]), dim=-1)
""",
}

WRONG |= {
    "halves of a stacked state for its directions": """
class Encoder(nn.Module):
    def __init__(self, d, h, layers):
        super().__init__()
        self.rnn = nn.GRU(d, h, layers, bidirectional=True)

    def forward(self, x):
        outputs, hidden = self.rnn(x)
        return outputs, torch.cat(hidden.chunk(2, dim=0), dim=-1)  # <- SD305
""",
    "halves added, where both directions are asked for": """
class Encoder(nn.Module):
    def __init__(self, d, h, layers, both):
        super().__init__()
        self.both = both
        self.rnn = nn.LSTM(d, h, layers, bidirectional=both, batch_first=True)

    def forward(self, x, order):
        outputs, (hidden, cell) = self.rnn(x)
        hidden = hidden.index_select(1, order)
        if self.both:
            first, second = torch.chunk(hidden, 2, dim=0)  # <- SD305
            hidden = first + second
        return outputs, hidden
""",
}

RIGHT = {
    "halves of the state of one layer": """
class Encoder(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.rnn = nn.GRU(d, h, bidirectional=True)

    def forward(self, x):
        outputs, hidden = self.rnn(x)
        return outputs, torch.cat(hidden.chunk(2, dim=0), dim=-1)
""",
    "both layers of one direction side by side": """
class Encoder(nn.Module):
    def __init__(self, d, h, both=False):
        super().__init__()
        self.both, self.rnn = both, nn.GRU(d, h, 2, bidirectional=both)

    def forward(self, x):
        outputs, hidden = self.rnn(x)
        if not self.both:
            hidden = torch.cat(hidden.chunk(2, dim=0), dim=-1)
        return outputs, hidden
""",
    "features of a state in two": """
class Encoder(nn.Module):
    def __init__(self, d, h, layers):
        super().__init__()
        self.rnn = nn.GRU(d, h, layers, bidirectional=True)

    def forward(self, x):
        outputs, hidden = self.rnn(x)
        gate, value = hidden.chunk(2, dim=-1)
        return outputs, gate + value
""",
    "one direction, one step at a time": """
class Encoder(nn.Module):
    def __init__(self, V, d):
        super().__init__()
        self.words, self.rnn = nn.Embedding(V, d), nn.LSTM(d, d, batch_first=True)

    def forward(self, word, state):
        return self.rnn(self.words(word).view(1, 1, -1), state)
""",
    "two directions over a sequence of one, from zero": """
class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rnn = nn.GRU(d, d, bidirectional=True, batch_first=True)

    def forward(self, x):
        state = torch.zeros(2, x.size(0), x.size(1))
        return self.rnn(x.unsqueeze(1), state)[0]
""",
    "two directions over a batch of one": """
class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rnn = nn.GRU(d, d, bidirectional=True)

    def forward(self, x, state):
        return self.rnn(x.unsqueeze(1), state)[0]
""",
    "the last layer as a slice": """
class Writer(nn.Module):
    def __init__(self, d, layers=2):
        super().__init__()
        self.rnn = nn.GRU(2 * d, d, layers)

    def forward(self, x, state, memory):
        query = state[-1:].transpose(0, 1)
        weights = torch.bmm(query, memory.transpose(1, 2)).softmax(-1)
        context = torch.bmm(weights, memory).transpose(0, 1)
        return self.rnn(torch.cat([x, context], dim=2), state)

Writer(4)(torch.randn(1, 3, 4), torch.zeros(2, 3, 4), torch.randn(3, 5, 4))
""",
    "both directions of one layer": """
class Model(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.encoder, self.n_layers = nn.GRU(d, h, 1, bidirectional=True), 1

    def forward(self, x):
        _, hidden = self.encoder(x)
        return torch.cat([hidden[: self.n_layers], hidden[self.n_layers :]], dim=2)

Model(3, 7)(torch.randn(5, 2, 3))
""",
    "as many entries as there are layers and directions": """
class Model(nn.Module):
    def __init__(self, d, h, layers):
        super().__init__()
        self.encoder, self.n_layers = nn.GRU(d, h, layers, bidirectional=True), 2 * layers

    def forward(self, x):
        _, hidden = self.encoder(x)
        return hidden[: self.n_layers]
""",
    "a query of the last layer": """
class Decoder(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.rnn = nn.GRU(d + h, h, num_layers=2, batch_first=True)

    def forward(self, x, hidden, memory):
        weights = torch.bmm(memory, hidden[-1].unsqueeze(2)).softmax(dim=1)
        context = (weights * memory).sum(dim=1, keepdim=True)
        return self.rnn(torch.cat((x, context), dim=2), hidden)

Decoder(3, 7)(torch.randn(2, 1, 3), torch.zeros(2, 2, 7), torch.randn(2, 5, 7))
""",
    "both directions": """
def summary(x):
    output, hidden = nn.GRU(3, 7, bidirectional=True)(x)
    return torch.cat((hidden[-2], hidden[-1]), dim=1)

summary(torch.randn(5, 2, 3))
""",
    "by slices": """
def summary(x):
    output, hidden = nn.GRU(3, 7, 2, bidirectional=True)(x)
    return torch.cat((hidden[0::2], hidden[1::2]), dim=2)

summary(torch.randn(5, 2, 3))
""",
    "Bahdanau's bridge takes the backward state": """
class Encoder(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.rnn, self.bridge = nn.GRU(d, h, bidirectional=True), nn.Linear(h, h)

    def forward(self, x):
        output, hidden = self.rnn(x)
        return output, torch.tanh(self.bridge(hidden[-1]))
""",
    "one direction, last layer": """
def summary(x):
    output, hidden = nn.GRU(3, 7, 2)(x)
    return hidden[-1]

summary(torch.randn(5, 2, 3))
""",
    "one layer": """
class Encoder(nn.Module):
    def __init__(self, d, h, layers=1):
        super().__init__()
        self.rnn = nn.GRU(d, h, layers)

    def forward(self, x):
        return self.rnn(x)[1][0]
""",
    "viewed as torch orders": """
def last_layer(x):
    output, hidden = nn.GRU(3, 7, num_layers=3, batch_first=True, bidirectional=True)(x)
    hidden = hidden.view(3, 2, x.size(0), 7)
    return torch.cat((hidden[-1, 0], hidden[-1, 1]), dim=-1)

last_layer(torch.randn(2, 5, 3))
""",
    "every layer in turn": """
def states(x):
    output, hidden = nn.GRU(3, 7, num_layers=2)(x)
    return hidden[0], hidden[1]

states(torch.randn(5, 2, 3))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD305") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD305") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["the backward direction alone"], "SD305") + "\n" == MESSAGE


MESSAGE = """\
warning[SD305] partial-encoder-state: only the backward direction of hidden is used; the forward one is dropped
  --> model.py:12:25
   |
 8 |         self.rnn, self.out = nn.LSTM(d, h, bidirectional=True), nn.Linear(h, 3)
   |                              --------------------------------- built bidirectional
11 |         output, (hidden, cell) = self.rnn(x)
   |                                  ----------- returns hidden
12 |         return self.out(hidden[-1])  # <- SD305
   |                         ^^^^^^^^^^ hidden is (2, 2, h)
14 | Classifier(3, 7)(torch.randn(5, 2, 3))
   | -------------------------------------- in this call of `Classifier.forward`
   = why: the state of a bidirectional module holds two directions for every layer: the last layer's are h_n[-\
2] (forward) and h_n[-1] (backward)
   = help: join both: `torch.cat((hidden[-2], hidden[-1]), dim=-1)`
   = more: shapedoc explain SD305
"""
