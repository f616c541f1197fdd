"""SD606: norms over the wrong axis, states joined with the batch."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD606", "SD601")
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a gain behind the division": """
class Norm:
    def __init__(self, d, eps=1e-3):
        self.eps, self.gain, self.bias = eps, np.ones(d), np.zeros(d)

    def __call__(self, z):
        batch_size, T, d = z.shape
        mean = z.mean(axis=1, keepdims=True)  # <- SD606
        std = z.std(axis=1, keepdims=True)  # <- SD606
        return (z - mean) / (std + self.eps) * self.gain + self.bias
""",
    "both directions of a state joined with a batch that nobody counts": """
class Encoder(nn.Module):
    def __init__(self, words, width, hidden):
        super().__init__()
        self.embed, self.join = nn.Embedding(words, width), nn.Linear(2 * hidden, hidden)
        self.rnn = nn.GRU(width, hidden, bidirectional=True, batch_first=True)

    def forward(self, tokens):
        outputs, state = self.rnn(self.embed(tokens))
        return outputs, self.join(state.view(tokens.size(0), -1))  # <- SD606
""",
    "the layers of a state kept, its directions joined with the batch": """
class Encoder(nn.Module):
    def __init__(self, words, width, hidden, layers):
        super().__init__()
        self.hidden, self.layers = hidden, layers
        self.embed, self.join = nn.Embedding(words, width), nn.Linear(2 * hidden, hidden)
        self.rnn = nn.LSTM(width, hidden, layers, bidirectional=True, batch_first=True)

    def forward(self, tokens):
        outputs, (state, _) = self.rnn(self.embed(tokens))
        return outputs, self.join(state.view(self.layers, tokens.size(0), 2 * self.hidden))  # <- SD606
""",
    "directions joined by a view": """
class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rnn = nn.LSTM(d, d, bidirectional=True)

    def forward(self, x):
        T, B, d = x.shape
        out, (h, c) = self.rnn(x)
        return h.view(B, 2 * d)  # <- SD606
""",
    "a norm over time": """
class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gain, self.bias = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))

    def forward(self, x):
        B, T, d = x.shape
        mean = x.mean(dim=1, keepdim=True)  # <- SD606
        var = x.var(dim=1, keepdim=True)  # <- SD606
        return self.gain * (x - mean) / torch.sqrt(var + 1e-5) + self.bias
""",
    "a norm over time, of arrays": """
class Norm:
    def __init__(self, d):
        self.gain = np.ones(d)

    def __call__(self, x):
        B, T, d = x.shape
        mean = x.mean(axis=1, keepdims=True)  # <- SD606
        std = x.std(axis=1, keepdims=True)  # <- SD606
        return self.gain * (x - mean) / (std + 1e-5)
""",
    "a query that is the mean of the batch": """
class Pool(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        query = x.mean(dim=(0, 1), keepdim=True)  # <- SD606
        return (self.q(query) @ self.k(x).transpose(1, 2)).softmax(-1) @ x
""",
}

WRONG["a state that is kept as the mean of the batch"] = """
class Carry(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rec = nn.Linear(d, d)
        self.state = 0

    def forward(self, x):
        B, T, d = x.shape
        for t in range(T):
            self.state = torch.tanh(self.rec(self.state + x[:, t]))
        self.state = self.state.mean(0).detach()  # <- SD606
        return self.state
"""

RIGHT = {
    "layers and directions told apart before a batch that nobody counts": """
class Encoder(nn.Module):
    def __init__(self, words, width, hidden, layers):
        super().__init__()
        self.hidden, self.layers = hidden, layers
        self.embed, self.join = nn.Embedding(words, width), nn.Linear(2 * hidden, hidden)
        self.rnn = nn.LSTM(width, hidden, layers, bidirectional=True, batch_first=True)

    def forward(self, tokens):
        outputs, (state, cell) = self.rnn(self.embed(tokens))
        last = state.view(self.layers, 2, tokens.size(0), self.hidden)[-1]
        moved = cell.transpose(0, 1).reshape(tokens.size(0), -1)
        return outputs, self.join(torch.cat((last[0], last[1]), dim=-1)), moved
""",
    "one layer, one direction, a batch that nobody counts": """
class Encoder(nn.Module):
    def __init__(self, words, width, hidden):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(words, width), nn.GRU(width, hidden, batch_first=True)

    def forward(self, tokens):
        outputs, state = self.rnn(self.embed(tokens))
        return outputs, state.view(tokens.size(0), -1)
""",
    "a running mean of batches": """
class Whiten(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.center = torch.zeros(d)

    def forward(self, x):
        B, d = x.shape
        self.center = 0.9 * self.center + 0.1 * x.mean(0)
        return x - self.center
""",
    "a loss that is kept for the log": """
class Loss(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.out = nn.Linear(d, d)
        self.loss = 0

    def forward(self, x, y):
        B, d = x.shape
        self.loss = F.mse_loss(self.out(x), y, reduction="none")
        self.loss = self.loss.mean(0)
        return self.loss.sum()
""",
    "a query that is the mean over time": """
class Pool(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        query = x.mean(dim=1, keepdim=True)
        return (self.q(query) @ self.k(x).transpose(1, 2)).softmax(-1) @ x
""",
    "a loss over the batch": """
def loss(model, x, y):
    B, d = x.shape
    return ((nn.Linear(d, 4)(x) - y) ** 2).mean(0).sum()
""",
    "the elements of a set": """
class Deep(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.inner, self.outer = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        n, d = x.shape
        return self.outer(self.inner(x).mean(0))
""",
    "a norm over features": """
class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(self, x):
        B, T, d = x.shape
        return self.gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)
""",
    "a series standardised over time, without a gain": """
def standard(x):
    B, T, d = x.shape
    return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-5)
""",
    "directions joined by features": """
class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rnn = nn.GRU(d, d, bidirectional=True)

    def forward(self, x):
        T, B, d = x.shape
        out, h = self.rnn(x)
        return h.transpose(0, 1).reshape(B, 2 * d)
""",
    "layers and directions parted": """
class Encoder(nn.Module):
    def __init__(self, d, layers):
        super().__init__()
        self.layers = layers
        self.rnn = nn.GRU(d, d, layers, bidirectional=True)

    def forward(self, x):
        T, B, d = x.shape
        out, h = self.rnn(x)
        return h.view(self.layers, 2, B, d)[-1]
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
    assert full_text(HEAD + WRONG["directions joined by a view"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD606] norm-over-wrong-axis: `view` of the state h (2, B, d) as (B, 2*d) joins states of different examples
  --> model.py:15:16
   |
14 |         out, (h, c) = self.rnn(x)
   |                       ----------- the state comes from here
15 |         return h.view(B, 2 * d)  # <- SD606
   |                ^^^^^^^^^^^^^^^^ h is (2, B, d)
   = why: the first axis counts layers and directions (2), and a view does not move it behind the batch: a row of \
the result is made of the states of several examples
   = help: torch.cat((h[-2], h[-1]), dim=-1), or h.transpose(0, 1).reshape(...)
   = more: shapedoc explain SD606
"""
