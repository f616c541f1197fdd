"""SD104: tensors that are joined."""

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
    "a step of a recurrent module, of a rank that nothing says, and a context": """
class Step(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.embed = nn.Embedding(words, d)
        self.rnn = nn.GRU(d, d)
        self.mix = nn.Linear(d * 2, d)

    def forward(self, word, state, memory, weights):
        top, state = self.rnn(self.embed(word), state)
        context = weights.bmm(memory.transpose(0, 1)).squeeze(1)
        return self.mix(torch.cat((top, context), 1)), state  # <- SD104
""",
    "one pooled without its axis, of a rank that is not known": """
class Spatial(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x):
        pooled = torch.cat([x.mean(dim=1), x.amax(dim=1, keepdim=True)], dim=1)  # <- SD104
        return x * self.conv(pooled).sigmoid()
""",
    "a context without the axis of time": """
class Reader(nn.Module):
    def __init__(self, vocab, width, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, hidden, batch_first=True)
        self.mix = nn.Linear(width + hidden, hidden)

    def forward(self, sentence, aspect):
        states, _ = self.rnn(self.embed(sentence))
        target = self.embed(aspect)
        return self.mix(torch.cat((states, target), dim=2))  # <- SD104

Reader(20, 8, 6)(torch.zeros(2, 5, dtype=torch.long), torch.zeros(2, dtype=torch.long))
""",
    "a context that kept its step": """
class Step(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.cell = nn.GRUCell(width + hidden, hidden)

    def forward(self, token, state, memory):
        n, t, hidden = memory.shape
        n, width = token.shape
        weights = torch.bmm(state.unsqueeze(1), memory.transpose(1, 2)).softmax(-1)
        context = torch.bmm(weights, memory)
        return self.cell(torch.cat((token, context), dim=1), state)  # <- SD104
""",
    "a join along the time": """
class Both(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.forth = nn.GRU(width, hidden, batch_first=True)
        self.back = nn.GRU(width, hidden, batch_first=True)
        self.out = nn.Linear(2 * hidden, hidden)

    def forward(self, x):
        a, _ = self.forth(x)
        b, _ = self.back(x.flip(1))
        return self.out(torch.cat((a, b), dim=1))  # <- SD104

Both(8, 6)(torch.randn(2, 5, 8))
""",
    "a join along the batch in NumPy": """
def features(a, b):
    n, left = a.shape
    n, right = b.shape
    return np.concatenate([a, b])  # <- SD104

features(np.zeros((3, 4)), np.zeros((3, 5)))
""",
    "one step for all": """
class Repeat(nn.Module):
    def forward(self, memory, state):
        n, t, d = memory.shape
        n, h = state.shape
        return torch.cat((memory, state.unsqueeze(1)), dim=2)  # <- SD104

Repeat()(torch.randn(2, 5, 8), torch.randn(2, 6))
""",
    "a stack of rows of other lengths": """
def stacked(a, b):
    n, t, d = a.shape
    n, k, d = b.shape
    return torch.stack((a[:, :, 0], b[:, :, 0]), dim=1)

torch.stack((torch.zeros(2, 5), torch.zeros(2, 4)))  # <- SD104
""",
    "stretched to the other's length and joined along it": """
class Class(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, x):
        B, N, C = x.shape
        return torch.cat((self.token.expand(B, -1, -1), x), dim=0)  # <- SD104
""",
    "keys and values that grow along different axes": """
class Cached(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.k, self.v = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, past):
        B, T, C = x.shape
        k, v = self.k(x).view(B, T, 4, -1).transpose(1, 2), self.v(x).view(B, T, 4, -1).transpose(1, 2)
        k = torch.cat((past[0], k), dim=1)  # <- SD104
        v = torch.cat((past[1], v), dim=2)
        return k, v
""",
    "the steps of a recurrence joined along the batch": """
class Decoder(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, vocab)

    def forward(self, target, state):
        B, T = target.shape
        steps = []
        for t in range(T):
            output, state = self.rnn(self.embed(target[:, t]).unsqueeze(1), state)
            steps.append(self.out(output))
        return torch.cat(steps, dim=0)  # <- SD104
""",
    "one branch of two joins along the batch": """
class Step(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.cell = nn.LSTMCell(width + hidden, hidden)
        self.embed, self.hidden = nn.Embedding(9, width), nn.Linear(hidden, hidden)

    def forward(self, token, state):
        B, d = state.shape
        token = token.view(B)
        both = torch.cat((self.hidden(state), self.embed(token)), dim=0)  # <- SD104
        return self.cell(both)
""",
    "what a cell takes side by side": """
class Step(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.cell = nn.LSTMCell(width + hidden, hidden)

    def forward(self, token, context):
        return self.cell(torch.cat((token, context), 0))  # <- SD104
""",
    "a step for every row, joined as more rows": """
class Writer(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.mix = nn.Sequential(nn.Embedding(vocab, dim), nn.Linear(dim, vocab))

    def forward(self, tokens, steps):
        batch_size, length = tokens.shape
        for _ in range(steps):
            following = self.mix(tokens)[:, -1].argmax(-1, keepdim=True)
            tokens = torch.cat((tokens, following), dim=0)  # <- SD104
        return tokens
""",
    "what modules that are not read made, for one as wide as both": """
from blocks import Attend


class Merge(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.own, self.other = Attend(width), Attend(width)
        self.gate = nn.Linear(width + width, width)

    def forward(self, x, memory):
        mine = self.own(x)
        theirs = self.other(mine, memory)
        return torch.sigmoid(self.gate(torch.cat([mine, theirs], 0)))  # <- SD104
""",
    "a start for every sequence, joined as more sequences": """
def started(frames, memory):
    batch_size, length, width = memory.shape
    start = memory.new_zeros(batch_size, width).unsqueeze(1)
    frames = frames.view(batch_size, frames.size(1), width)
    return torch.cat((start, frames), dim=0)  # <- SD104
""",
    "a step whose features were the last along the steps": """
def write(model, tokens, count, vocab):
    for _ in range(count):
        logits = model(tokens).view(tokens.size(0), -1, vocab)
        following = torch.multinomial(logits[:, -1, :].softmax(-1), num_samples=1)
        tokens = torch.cat((tokens, following), dim=0)  # <- SD104
    return tokens
""",
    "steps that are each given an axis, joined along the rows": """
def unroll(cell, state, count):
    batch_size, width = state.shape
    found = []
    for _ in range(count):
        state = cell(state)
        found.append(state.argmax(1).view(-1))
    return torch.cat([each.unsqueeze(1) for each in found], 0)  # <- SD104
""",
    "two widths of one constructor, joined along time": """
class Pair(nn.Module):
    def __init__(self, d_word, d_char, hidden):
        super().__init__()
        self.word, self.char = nn.Linear(hidden, d_word), nn.Linear(hidden, d_char)

    def forward(self, x):
        n, T, _ = x.shape
        return torch.cat((self.word(x), self.char(x)), dim=1)  # <- SD104
""",
    "a first token for every row, put behind the rows": """
def shifted(ids):
    first = torch.ones((ids.shape[0], 1), dtype=torch.long) * 2
    return torch.cat((first, ids[:, :-1]), dim=0)  # <- SD104
""",
    "a frame of zeros for every row, put behind the rows": """
class Frames(nn.Module):
    def forward(self, ys):
        return torch.cat([ys.new_zeros((ys.shape[0], 1, ys.shape[2])), ys[:, :-1]], dim=0)  # <- SD104
""",
    "one of three lists of steps, joined along the rows": """
class Reader(nn.Module):
    def __init__(self, width, frame):
        super().__init__()
        self.cell, self.mel, self.stop = nn.GRUCell(frame, width), nn.Linear(width, frame), nn.Linear(width, 1)

    def forward(self, x, keys):
        n, T, _ = keys.shape
        mels, stops, alignments = [], [], []
        state = torch.zeros(n, self.cell.hidden_size)
        for _ in range(T):
            state = self.cell(x, state)
            x = self.mel(state)
            mels.append(x.unsqueeze(1))
            stops.append(self.stop(state))
            alignments.append(torch.bmm(state.unsqueeze(1), keys.transpose(1, 2)).softmax(2))
        mels = torch.cat(mels, dim=1)
        stops = torch.cat(stops, dim=0)  # <- SD104
        return mels, stops, torch.cat(alignments, dim=1)
""",
    "the next tokens without an axis for their step": """
def generate(model, memory, steps):
    tokens = torch.zeros(4, 1, dtype=torch.long)
    for _ in range(steps):
        logits = model(tokens, memory)
        best = torch.argmax(logits[:, -1, :], dim=-1)
        tokens = torch.cat((tokens, best), dim=-1)  # <- SD104
    return tokens
""",
}

RIGHT = {
    "a step of a recurrent module without its axis of time, and a context": """
class Step(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.embed = nn.Embedding(words, d)
        self.rnn = nn.GRU(d, d)
        self.mix = nn.Linear(d * 2, d)

    def forward(self, word, state, memory, weights):
        top, state = self.rnn(self.embed(word), state)
        context = weights.bmm(memory.transpose(0, 1)).squeeze(1)
        return self.mix(torch.cat((top.squeeze(0), context), 1)), state
""",
    "a sequence that its own function says has no batch": """
class Alone(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rnn = nn.GRU(d, d)
        self.mix = nn.Linear(d * 2, d)

    def forward(self, x, memory):
        states, _ = self.rnn(x)
        T, d = x.shape
        context = torch.softmax(states.mm(memory.t()), dim=-1).mm(memory)
        return self.mix(torch.cat((states, context), 1))
""",
    "a first token, and a row of zeros": """
def shifted(ids, x):
    n, T = ids.shape
    first = torch.ones((n, 1), dtype=torch.long)
    more = torch.zeros((1, x.size(1), x.size(2)))
    return torch.cat((first, ids[:, :-1]), dim=1), torch.cat((more, x), dim=0)
""",
    "zeros that widen every step": """
def widened(x):
    n, d = x.shape
    return torch.cat((x.unsqueeze(1), torch.zeros(n, 1, d)), dim=2)
""",
    "two batches of steps": """
def both(real, made):
    B, T, d = real.shape
    return torch.cat((real[:, 0].unsqueeze(1), made[:, 0].unsqueeze(1)), dim=0)
""",
    "tokens whose first axis is the time": """
def write(model, tokens, count):
    for _ in range(count):
        logits = torch.log(model(tokens))
        following = logits[-1].softmax(-1).argmax(-1).view(1, 1)
        tokens = torch.cat((tokens, following), dim=0)
    return tokens
""",
    "a step for every row, behind the steps": """
class Writer(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.mix = nn.Sequential(nn.Embedding(vocab, dim), nn.Linear(dim, vocab))

    def forward(self, tokens, steps):
        batch_size, length = tokens.shape
        for _ in range(steps):
            following = self.mix(tokens)[:, -1].argmax(-1, keepdim=True)
            tokens = torch.cat((tokens, following), dim=1)
        return tokens
""",
    "a table that doubles": """
def signs(count):
    table = torch.ones(1, 1)
    for _ in range(count):
        table = torch.cat((torch.cat((table, table), 1), torch.cat((table, -table), 1)), 0)
    return table
""",
    "both pooled with their axis, of a rank that is not known": """
class Spatial(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x):
        pooled = torch.cat([x.mean(dim=1, keepdim=True), x.amax(dim=1, keepdim=True)], dim=1)
        return x * self.conv(pooled).sigmoid()
""",
    "a context for every step": """
def feed(tokens, context):
    n, t, width = tokens.shape
    n, hidden = context.shape
    a = torch.cat((tokens, context.unsqueeze(1).expand(-1, t, -1)), dim=-1)
    b = torch.cat((tokens, context.unsqueeze(1).repeat(1, t, 1)), dim=2)
    return a + b

feed(torch.randn(2, 5, 8), torch.randn(2, 6))
""",
    "outputs of a loop": """
def run(cell, x, state):
    outs = []
    for t in range(x.size(1)):
        state = cell(x[:, t], state)
        outs.append(state.unsqueeze(1))
    return torch.cat(outs, dim=1)

run(nn.GRUCell(8, 6), torch.randn(2, 5, 8), torch.zeros(2, 6))
""",
    "a class token before the patches": """
class Tokens(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cls = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, x):
        n = x.size(0)
        return torch.cat((self.cls.expand(n, -1, -1), x), dim=1)

Tokens(8)(torch.randn(2, 5, 8))
""",
    "a cache that grows": """
class Cache(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.k = nn.Linear(width, width)

    def forward(self, x, past=None):
        k = self.k(x)
        if past is not None:
            k = torch.cat((past, k), dim=1)
        return k

cache = Cache(8)
k = cache(torch.randn(2, 5, 8))
k = cache(torch.randn(2, 1, 8), k)
""",
    "an empty start": """
def grow(rows):
    out = torch.tensor([])
    for row in rows:
        out = torch.cat((out, row))
    return out

grow([torch.randn(2, 8), torch.randn(3, 8)])
""",
    "both halves of a rotation": """
def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)

rotate_half(torch.randn(2, 4, 5, 8))
""",
    "padding as long as it likes": """
def pad(x, n):
    B, C = x.shape
    rows = x.new_zeros(1, C).expand(n, C)
    return torch.cat((x, rows), dim=0)
""",
    "keys laid out the other way round": """
class Cached(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.k, self.v = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, past):
        B, T, C = x.shape
        k, v = self.k(x).view(B, T, 4, -1).permute(0, 2, 3, 1), self.v(x).view(B, T, 4, -1).transpose(1, 2)
        k = torch.cat((past[0].transpose(-2, -1), k), dim=-1)
        v = torch.cat((past[1], v), dim=-2)
        return k, v
""",
    "predictions of every batch": """
def predict(model, batches):
    head = nn.Linear(8, 1)
    every = []
    for x in batches:
        B, T, d = x.shape
        every.append(head(x.mean(1, keepdim=True)))
    return torch.cat(every, dim=0)
""",
    "two batches for a module as wide as a sum": """
class Both(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.wide = nn.Linear(hidden, width + hidden)
        self.out = nn.Linear(width + hidden, hidden)

    def forward(self, a, b):
        return self.out(torch.cat((self.wide(a), self.wide(b)), 0))
""",
    "the next tokens with an axis for their step": """
def generate(model, memory, steps):
    tokens = torch.zeros(4, 1, dtype=torch.long)
    for _ in range(steps):
        logits = model(tokens, memory)
        best = torch.argmax(logits[:, -1, :], dim=-1).unsqueeze(1)
        tokens = torch.cat((tokens, best), dim=-1)
    return tokens
""",
    "the next tokens with the axis that was kept": """
def generate(model, memory, steps):
    tokens = torch.zeros(4, 1, dtype=torch.long)
    for _ in range(steps):
        logits = model(tokens, memory)
        tokens = torch.cat((tokens, logits[:, -1, :].argmax(-1, keepdim=True)), dim=-1)
    return tokens
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD104", "SD105", "SD106") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD104", "SD105", "SD106") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a context without the axis of time"], "SD104") + "\n" == MESSAGE


MESSAGE = """\
error[SD104] mismatched-join: `cat` needs equal numbers of axes, got 2 and 3
  --> model.py:17:44
   |
15 |         states, _ = self.rnn(self.embed(sentence))
   |                     ------------------------------ states is (2, 5, hidden)
16 |         target = self.embed(aspect)
   |                  ------------------ target is (2, width)
17 |         return self.mix(torch.cat((states, target), dim=2))  # <- SD104
   |                                            ^^^^^^ target is (2, width)
   |                                    ------ states is (2, 5, hidden)
19 | Reader(20, 8, 6)(torch.zeros(2, 5, dtype=torch.long), torch.zeros(2, dtype=torch.long))
   | --------------------------------------------------------------------------------------- in this call of `Reader.forward`
   = why: tensors that are joined have the same axes, and the same sizes but for the joined one
   = help: target.unsqueeze(1).expand(-1, states.size(1), -1)
   = more: shapedoc explain SD104
"""


def test_every_second_state_and_those_between_are_as_many() -> None:
    program = """\
class Reader(nn.Module):
    def __init__(self, width, hidden, layers, ways):
        super().__init__()
        self.count = layers * ways
        self.cell = nn.GRU(width, hidden, layers, bidirectional=True)

    def forward(self, n):
        states = torch.zeros(self.count, n, 7)
        return torch.cat((states[0 : states.size(0) : 2], states[1 : states.size(0) : 2]), 2)
"""
    assert all(f.note for f in found(HEAD + program, "SD104"))


def test_channels_side_by_side_as_wide_as_the_next_block_takes_them() -> None:
    program = """\
class Block(nn.Module):
    def __init__(self, given, made):
        super().__init__()
        self.conv = nn.Conv2d(given, made, 3, padding=1)

    def forward(self, x):
        return F.relu(self.conv(x))

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Block(1, 64)
        self.late = Block(4, 64)
        self.two = Block(128, 256)

    def forward(self, wave, picture):
        batch_size, steps, _ = picture.shape
        a = self.late(torch.rand(batch_size, 4, steps, 64))
        x = self.one(picture.unsqueeze(1))
        return self.two(torch.cat((x, a), dim=1))
"""
    assert all(f.note for f in found(HEAD + program, "SD104", "SD106"))
