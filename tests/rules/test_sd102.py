"""SD102: sizes that meet element by element."""

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
    "positions times frequencies without a column": """
class Positions(nn.Module):
    def __init__(self, words, d_word, width, longest=500):
        super().__init__()
        table = torch.zeros(longest, width)
        places = torch.arange(longest)
        rates = torch.exp(torch.arange(0, width, 2).float() * -(9.21 / width))
        table[:, 0::2] = torch.sin(places.float() * rates)  # <- SD102
        self.embed = nn.Embedding(words, d_word)
        self.register_buffer("table", table)
""",
    "a square of biases for two sequences": """
class Biased(nn.Module):
    def __init__(self, n_max):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1, n_max, n_max))  # <- SD102

    def forward(self, query, key):
        B, T_dec, d = query.shape
        B, T_enc, d = key.shape
        return torch.zeros(B, T_dec, T_enc) + self.bias
""",
    "positions divided by wavelengths, of a config": """
class Table(nn.Module):
    def __init__(self, config):
        super().__init__()
        places = torch.arange(config.longest).float()
        pairs = torch.arange(0, config.width, 2).float()
        angles = places / 1e4 ** (pairs / config.width)  # <- SD102
        made = torch.zeros(config.longest, config.width)
        made[:, 0::2] = torch.sin(angles)
        self.register_buffer("made", made)
""",
    "every row with every other, whose rows have a stated width": """
class Pairs(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.map = nn.Linear(width, width)

    def forward(self, x):
        B, n, _ = x.shape
        rows = self.map(x)
        return rows - rows.view(B, 1, -1)  # <- SD102
""",
    "two maps of other sizes": """
class Additive(nn.Module):
    def __init__(self, d_s, d_h, units):
        super().__init__()
        self.a = nn.Linear(d_s, units)
        self.b = nn.Linear(d_h, d_h)  # <- SD102
        self.v = nn.Linear(units, 1)

    def forward(self, state, memory):
        return self.v(torch.tanh(self.a(state)[:, None] + self.b(memory))).squeeze(-1)

Additive(5, 7, 4)(torch.randn(2, 5), torch.randn(2, 3, 7))
""",
    "a residual of another size": """
class Residual(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, inner)  # <- SD102

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))

Residual(8, 32)(torch.randn(2, 5, 8))
""",
    "time first meets batch first": """
def add(states, positions):
    t, n, d = states.shape
    n, t, d = positions.shape
    return states + positions  # <- SD102
""",
    "the states of all layers": """
class Score(nn.Module):
    def __init__(self, width, hidden, depth):
        super().__init__()
        self.rnn = nn.LSTM(width, hidden, depth)
        self.v = nn.Linear(hidden, 1)

    def forward(self, x):
        memory, (h, c) = self.rnn(x)
        return self.v(torch.tanh(h + memory))  # <- SD102

Score(8, 6, 2)(torch.randn(5, 3, 8))
""",
    "NumPy with numbers": """
a, b = np.zeros((3, 4)), np.zeros((3, 5))
c = a * b  # <- SD102
""",
    "a matrix of numbers for another space": """
T_enc, d_s, d_h, d_attn = 5, 7, 6, 4

def score(s, H, W_a, U_a, v_a):
    q = W_a @ s
    k = H @ U_a.T
    return np.tanh(k + q) @ v_a

W_a = np.random.randn(d_attn, d_s)
U_a = np.random.randn(d_s, d_h)  # <- SD102
v_a = np.random.randn(d_attn)
score(np.random.randn(d_s), np.random.randn(T_enc, d_h), W_a, U_a, v_a)
""",
    "a matrix for the state of another space": """
T_enc, d_s, d_h, d_attn = 5, 7, 6, 4

def score(s, H, W_a, U_a, v_a):
    e = np.tanh(H @ U_a.T + W_a @ s)
    return e.dot(v_a)

W_a = np.random.randn(d_h, d_s)  # <- SD102
U_a = np.random.randn(d_attn, d_h)
score(np.random.randn(d_s), np.random.randn(T_enc, d_h), W_a, U_a, np.random.randn(d_attn))
""",
    "matrices of which nothing says which is wrong": """
T_enc, d_s, d_h, d_attn = 5, 7, 6, 4

def score(s, H, W_a, U_a):
    return np.tanh(H @ U_a.T + W_a @ s).sum(axis=1)  # <- SD102

W_a = np.random.randn(d_h, d_s)
U_a = np.random.randn(d_attn, d_h)
score(np.random.randn(d_s), np.random.randn(T_enc, d_h), W_a, U_a)
""",
    "a table of positions that nobody cut": """
class Model(nn.Module):
    def __init__(self, vocab, width, longest):
        super().__init__()
        self.words = nn.Embedding(vocab, width)
        self.places = nn.Embedding(longest, width)

    def forward(self, tokens):
        return self.words(tokens) + self.places.weight  # <- SD102

Model(50, 8, 16)(torch.zeros(2, 5, dtype=torch.long))
""",
    "a buffer of positions that nobody cut": """
class Positions(nn.Module):
    def __init__(self, width, longest=50):
        super().__init__()
        self.register_buffer("table", torch.zeros(1, longest, width))

    def forward(self, x):
        return x + self.table  # <- SD102

Positions(8)(torch.randn(2, 5, 8))
""",
    "a bias of another size": """
class Bias(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.up = nn.Linear(width, inner, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))  # <- SD102

    def forward(self, x):
        return self.up(x) + self.bias

Bias(8, 12)(torch.randn(2, 5, 8))
""",
    "joined positions over frequencies, and no column": """
def angles(longest, width):
    place = torch.cat([torch.arange(longest), torch.arange(longest)])
    return place / 10000 ** (2 * torch.arange(0, width // 2).unsqueeze(0) / width)  # <- SD102
""",
    "a column that is put where a row belongs": """
def kept(scores, ids, n):
    out = torch.zeros(4, 5, 20)
    for k in range(4):
        out[k, 2, :n] = scores.gather(1, ids.unsqueeze(1))  # <- SD102
    return out
""",
}

RIGHT = {
    "elements of a list that a loop made smaller and smaller": """
class Wavelets(nn.Module):
    def __init__(self, k, rounds):
        super().__init__()
        self.k, self.rounds = k, rounds
        self.down, self.up = nn.Linear(2 * k, k), nn.Linear(2 * k, k)
        self.modes = nn.Linear(k, k)

    def filtered(self, x):
        B, L, c, k = x.shape
        return torch.fft.irfft(torch.fft.rfft(self.modes(x), dim=1), n=L, dim=1)

    def halves(self, x):
        both = torch.cat([x[:, ::2], x[:, 1::2]], -1)
        return torch.matmul(both, self.first), torch.matmul(both, self.second)

    def doubled(self, x):
        B, N, c, k = x.shape
        wide = torch.zeros(B, N * 2, c, self.k)
        wide[:, ::2] = self.down(x)
        wide[:, 1::2] = self.up(x)
        return wide

    def forward(self, x):
        parts, levels, outs = [], [], []
        for i in range(self.rounds):
            d, x = self.halves(x)
            parts += [tuple([d, x])]
            levels += [d]
        for i in range(self.rounds):
            one, level = parts[i], levels[i]
            outs += [self.filtered(one[0]) + self.filtered(one[1])]
        x = self.filtered(x)
        for i in range(self.rounds - 1, -1, -1):
            x = self.doubled(torch.cat((x + outs[i], outs[i]), -1))
        return x
""",
    "a constant of another file that padding is compared with": """
import settings.constants as Constants

def resample(source, tokens):
    padding = tokens.eq(Constants.PAD)
    length = (1 - padding).sum(-1)
    bsz, seq_len = tokens.shape
    scale, rows = source.size(1) / length.float(), []
    for i in range(bsz):
        rows.append((torch.arange(0, seq_len).float() * scale[i].repeat(seq_len)).long())
    return source.gather(1, torch.stack(rows, dim=0).unsqueeze(2).repeat(1, 1, source.size(2)))

class Decoder(nn.Module):
    def forward(self, tokens, memory):
        bsz, seq_len = tokens.shape
        return resample(memory, tokens)
""",
    "a shortcut where both have one shape, by its own test": """
class Residual(nn.Module):
    def __init__(self, narrow, wide):
        super().__init__()
        self.first = nn.Conv1d(narrow, wide, 3, padding=1)
        self.norm = nn.BatchNorm1d(wide)
        self.short = nn.Conv1d(narrow, wide, 1)

    def forward(self, signal):
        out = self.norm(self.first(signal))
        if signal.shape == out.shape:
            out = F.relu(out + signal)
        else:
            out = F.relu(out + self.short(signal))
        return out

class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Residual(16, 16)
        self.two = Residual(16, 48)

    def forward(self, wave):
        wave = F.max_pool1d(self.one(wave), 4)
        return self.two(wave)
""",
    "relative positions, of which a half and one are as many as the steps": """
class Relative(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads, self.d_head = heads, d_model // heads
        self.q, self.p = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x, places):
        B, T, _ = x.shape
        q = self.q(x).view(B, T, self.heads, self.d_head).transpose(1, 2)
        p = self.p(places).view(B, -1, self.heads, self.d_head).transpose(1, 2)
        scores = torch.matmul(q, q.transpose(2, 3))
        return scores + self.shift(torch.matmul(q, p.transpose(2, 3)))

    def shift(self, near):
        B, H, rows, columns = near.size()
        wide = torch.cat([near.new_zeros(B, H, rows, 1), near], dim=-1)
        return wide.view(B, H, columns + 1, rows)[:, :, 1:].view_as(near)[:, :, :, : columns // 2 + 1]
""",
    "positions times frequencies with a column, and ranges that are as long": """
class Positions(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        places = torch.arange(longest).unsqueeze(1)
        rates = torch.exp(torch.arange(0, width, 2).float() * -(9.21 / width))
        self.register_buffer("table", torch.sin(places * rates))
        self.register_buffer("squares", torch.arange(width // 2) * torch.arange(0, width, 2))


def ramp(n, m, gains):
    return torch.arange(n) * gains[:m]
""",
    "every box with every other, whose centres have one coordinate": """
def relate(boxes, batch, count):
    left, right = torch.chunk(boxes.view(batch, count, -1), 2, dim=-1)
    middle = left + right
    width = middle.size(2)
    return middle - middle.view(batch, 1, -1)
""",
    "a table of positions as long as the sequence": """
class Patches(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.map = nn.Linear(width, width)
        self.places = nn.Parameter(torch.zeros(1, count, width))

    def forward(self, x):
        return self.map(x) + self.places

Patches(8, 16)(torch.randn(2, 16, 8))
""",
    "additive attention": """
class Additive(nn.Module):
    def __init__(self, d_s, d_h, units):
        super().__init__()
        self.a, self.b = nn.Linear(d_s, units), nn.Linear(d_h, units)
        self.v = nn.Linear(units, 1, bias=False)

    def forward(self, state, memory):
        weights = self.v(torch.tanh(self.a(state).unsqueeze(1) + self.b(memory))).softmax(dim=1)
        return (weights * memory).sum(dim=1)

Additive(5, 7, 4)(torch.randn(2, 5), torch.randn(2, 3, 7))
""",
    "time first": """
class Additive(nn.Module):
    def __init__(self, d_s, d_h, units):
        super().__init__()
        self.a, self.b = nn.Linear(d_s, units), nn.Linear(d_h, units)
        self.v = nn.Parameter(torch.zeros(units))

    def forward(self, state, memory):
        weights = (torch.tanh(self.a(state) + self.b(memory)) @ self.v).softmax(dim=0)
        return (weights.unsqueeze(-1) * memory).sum(dim=0)

Additive(5, 7, 4)(torch.randn(2, 5), torch.randn(3, 2, 7))
""",
    "a gate of one number": """
class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(width, 1)

    def forward(self, x, y):
        g = torch.sigmoid(self.gate(x))
        return g * x + (1 - g) * y

Gate(8)(torch.randn(2, 8), torch.randn(2, 8))
""",
    "scores and masks": """
def masked(scores, keep):
    n, h, t, s = scores.shape
    n, s = keep.shape
    return scores.masked_fill(~keep[:, None, None, :], float("-inf")).softmax(-1)

masked(torch.randn(2, 4, 3, 5), torch.ones(2, 5, dtype=torch.bool))
""",
    "positions of a long table": """
class Positions(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(1, longest, width))

    def forward(self, x):
        return x + self.table[:, : x.size(1)]

Positions(8, 50)(torch.randn(2, 5, 8))
""",
    "two tensors of one shape, named twice": """
def add(x, y):
    b, t, d = x.shape
    b2, t2, d2 = y.shape
    return x + y

add(torch.randn(2, 5, 8), torch.randn(2, 5, 8))
""",
    "a scale for each head": """
class Scales(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(heads, 1, 1))

    def forward(self, scores):
        return scores * self.scale

Scales(4)(torch.randn(2, 4, 5, 5))
""",
    "a column of joined positions over frequencies": """
def angles(longest, width):
    place = torch.cat([torch.arange(longest), torch.arange(longest)]).unsqueeze(1)
    return place / 10000 ** (2 * torch.arange(0, width // 2).unsqueeze(0) / width)
""",
    "a row that is put in its place": """
def kept(scores, ids, n):
    out = torch.zeros(4, 5, 20)
    for k in range(4):
        out[k, 2, :n] = scores.gather(1, ids.unsqueeze(1)).squeeze(1)
    return out
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD102", "SD201") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD102", "SD201") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["two maps of other sizes"], "SD102") + "\n" == MESSAGE


MESSAGE = """\
error[SD102] mismatched-elementwise: `+` cannot combine (2, 1, units) and (2, 3, d_h): `units` (4) meets `d_h` (7)
  --> model.py:11:33
   |
11 |         self.b = nn.Linear(d_h, d_h)  # <- SD102
   |                                 ^^^ self.b(memory) is (2, 3, d_h), should be (2, 3, units)
   |                  ------------------- self.b(memory) comes out of this map
15 |         return self.v(torch.tanh(self.a(state)[:, None] + self.b(memory))).squeeze(-1)
   |                                  ---------------------- self.a(state)[:, None] is (2, 1, units)
   |                                                           -------------- self.b(memory) is (2, 3, d_h)
17 | Additive(5, 7, 4)(torch.randn(2, 5), torch.randn(2, 3, 7))
   | ---------------------------------------------------------- in this call of `Additive.forward`
   = why: axes meet from the right; two that meet are equal, or one of them is a 1 that was asked for
   = help: build the map with `units` (4) as its last size
   = more: shapedoc explain SD102
"""
