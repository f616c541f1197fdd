"""SD206: squeezes that drop the batch."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD206",)
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "the other way squeezes something else": """
class Step(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x, y, offsets=None):
        B, T, d = x.shape
        B, U, d = y.shape
        z = x.squeeze(0) if offsets is not None else y.squeeze(1)  # <- SD206
        return z * self.weight
""",
    "a gate of as many numbers as frames are made at once": """
class Gates(nn.Module):
    def __init__(self, frames):
        super().__init__()
        self.cell, self.stop = nn.GRUCell(256, 256), nn.Linear(256, 1 * frames)

    def forward(self, memory, steps):
        B = memory.size(0)
        state, stops = memory.new_zeros(B, 256), []
        for _ in range(steps):
            state = self.cell(state, state)
            stops.append(torch.sigmoid(self.stop(state)).squeeze())  # <- SD206
        return torch.stack(stops).transpose(0, 1)
""",
    "an example chosen by `and` and `or`, which does not say that it is one": """
class Score(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.query, self.pair = nn.Linear(d, d), False

    def forward(self, state, memory):
        queries = []
        for step in range(3):
            state = torch.tanh(self.query(state))  # batch x d
            queries.append(self.pair and state[0] or state)
            scores = torch.bmm(memory, state.unsqueeze(2)).squeeze()  # <- SD206
            state = torch.bmm(torch.softmax(scores, dim=1).unsqueeze(1), memory).squeeze(1)
        return queries
""",
    "scores squeezed without an axis": """
def score(memory, state):
    B, T, d = memory.shape
    return torch.bmm(memory, state.unsqueeze(2)).squeeze()  # <- SD206
""",
    "a step of a decoder": """
class Step(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, vocab)

    def forward(self, token, state):
        output, state = self.rnn(self.embed(token).view(-1, 1, 8), state)
        return self.out(output).squeeze(), state  # <- SD206
""",
    "the batch itself": """
class Last(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rnn = nn.GRU(d, d, batch_first=True)

    def forward(self, x):
        batch, T, d = x.shape
        output, _ = self.rnn(x)
        return output.squeeze(0)  # <- SD206
""",
    "an array": """
def score(memory, w):
    batch_size, T, d = memory.shape
    return np.squeeze(memory @ w.reshape(d, 1))  # <- SD206
""",
}

WRONG |= {
    "no axis to go after a maximum over the last": """
import settings

class Characters(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.conv, self.join = nn.Conv2d(settings.letters, d, kernel_size=(1, 5)), nn.Conv1d(2 * d, d, 1)

    def forward(self, letters, words):
        x = letters.permute(0, 3, 1, 2)
        x = F.relu(self.conv(x))
        x, _ = torch.max(x, dim=3)
        x = x.squeeze()  # <- SD206
        return self.join(torch.cat([x, words.transpose(1, 2)], dim=1))
""",
}
WRONG |= {
    "steps that nobody gives their batch back": """
class Reader(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rnn = nn.GRU(d, d)

    def forward(self, x):
        length, batch_size, d = x.shape
        out, _ = self.rnn(x)
        steps = []
        for t in range(length):
            steps.append(torch.squeeze(out[t, :, :], dim=0))  # <- SD206
        return steps


class Attention(nn.Module):
    def forward(self, steps, query):
        if len(steps[0].size()) == 1:
            raise ValueError
        batch_size, d = steps[0].size()
        return [torch.bmm(s.view(batch_size, 1, d), query.view(batch_size, d, 1)) for s in steps]
""",
}

RIGHT = {
    "a view that names the batch again": """
class Heads(nn.Module):
    def __init__(self, heads, d_k, width):
        super().__init__()
        self.heads, self.d_k = heads, d_k
        self.ask = nn.Linear(width, heads * d_k)
        self.mix = nn.Linear(heads * d_k, heads * d_k)

    def forward(self, q):
        batch_size, steps, _ = q.size()
        q = self.ask(q).view(batch_size, steps, self.heads, self.d_k)
        q = q.mean(dim=1).squeeze()
        return self.mix(q.view(batch_size, self.heads * self.d_k))
""",
    "steps whose batch is put back where they are used": """
class Reader(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rnn = nn.GRU(d, d)

    def forward(self, x):
        length, batch_size, d = x.shape
        out, _ = self.rnn(x)
        steps = []
        for t in range(length):
            steps.append(torch.squeeze(out[t, :, :], dim=0))
        return steps


class Attention(nn.Module):
    def forward(self, steps, query):
        if len(steps[0].size()) == 1:
            steps[0] = torch.unsqueeze(steps[0], 0)
        batch_size, d = steps[0].size()
        return [torch.bmm(s.view(batch_size, 1, d), query.view(batch_size, d, 1)) for s in steps]
""",
    "two sizes that nothing made features of": """
class Table(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        B = x.size(0)
        return torch.stack([x.new_zeros(B, self.n).squeeze(), x.new_ones(B, self.n).squeeze()]).mean(0)
""",
    "an axis that was put in under the same condition": """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rnn, self.score = nn.GRU(d, d), nn.Linear(d, 1)

    def forward(self, memory):
        batched = memory.dim() == 3
        if not batched:
            memory = memory.unsqueeze(1)
        T, batch_size, d = memory.shape
        scores = self.score(self.rnn(memory)[0]).squeeze(2)
        weights = F.softmax(scores, dim=0)
        if not batched:
            weights = weights.squeeze(1)
        return weights
""",
    "one sound, which is written to a file": """
class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rnn = nn.GRU(d, d, batch_first=True)

    def forward(self, x):
        return self.rnn(x)[0]


def speak(model, text, write):
    model = Model(8)
    sound = model(text)
    batch_size, T, d = sound.shape
    write(sound.squeeze().detach().cpu().numpy())
""",
    "what is only shown": """
def show(attention, q, k, v):
    B, H, T, d = q.shape
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
    print(weights.squeeze())
    return weights @ v
""",
    "one image": """
class Show(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 1, 3, padding=1)

    def forward(self, image):
        return self.conv(image.unsqueeze(0)).squeeze()
""",
    "the axis is named": """
def score(memory, state):
    B, T, d = memory.shape
    return torch.bmm(memory, state.unsqueeze(2)).squeeze(2)
""",
    "layers of one": """
class Last(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rnn = nn.GRU(d, d, batch_first=True)

    def forward(self, x):
        B, T, d = x.shape
        _, last = self.rnn(x)
        return last.squeeze(0)
""",
    "nothing is known": """
def flat(x):
    return x.squeeze()
""",
    "one sequence": """
def scores(memory, w):
    T, d = memory.shape
    return (memory @ w.view(d, 1)).squeeze()
""",
    "one sentence at a time, which is seen from a test": """
class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.cell, self.stop = nn.GRUCell(d, d), nn.Linear(d, 1)

    def forward(self, memory):
        B, T, d = memory.shape
        state, stops = memory[:, 0], []
        for t in range(100):
            state = self.cell(memory[:, 0], state)
            stop = self.stop(state)
            stops.append(stop)
            if torch.sigmoid(stop) > 0.5:
                break
        return torch.stack(stops, dim=1).squeeze()
""",
    "one sentence at a time, which is seen from a number": """
def greedy(memory, w):
    batch_size, T, d = memory.shape
    scores = (memory @ w.view(d, 1)).transpose(1, 2)
    word = scores.argmax(-1).item()
    return word, scores.squeeze()
""",
    "beams": """
def widen(scores, beam_size):
    scores = scores.view(1, beam_size, 40)
    out = nn.GRU(40, 40)(scores)[0]
    return out.squeeze()
""",
    "a batch of several sizes": """
def pick(candidates, width):
    batch_size = candidates.size(0)
    rows = (candidates // 40).view(batch_size * width, 1)
    return rows.squeeze()
""",
    "the author puts the axis back": """
def score(memory, w):
    batch_size, T, d = memory.shape
    scores = (memory @ w.view(d, 1)).squeeze()
    if batch_size == 1:
        scores = scores.unsqueeze(0)
    return scores.softmax(-1)
""",
    "a column that only meets others": """
def finished(ended, logits):
    batch_size, T, V = logits.shape
    words = logits.argmax(2)[:, -1].unsqueeze(1)
    ended = torch.zeros(batch_size).bool()
    ended |= words.squeeze() == 2
    return ended
""",
    "rows of anything": """
def inverse(features):
    N, d = features.shape
    return np.power(features.sum(-1, keepdims=True), -1).squeeze()
""",
    "who decodes one sentence": """
class Tagger(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.rnn = nn.GRU(d, d, batch_first=True)

    def forward(self, words):
        return self.rnn(self.embed(words))[0]


def tag(model: Tagger, words):
    batch_size, T = words.shape
    states = Tagger(40, 8)(words)
    return states.squeeze(0).argmax(1)
""",
    "numbers": """
x = torch.randn(4, 1, 6)
y = x.squeeze()
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
    assert full_text(HEAD + WRONG["scores squeezed without an axis"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
warning[SD206] squeeze-drops-batch: `squeeze()` of torch.bmm(memory, state.unsqueeze(2)) (B, T, 1) drops the \
batch `B` too when it is 1
 --> model.py:9:12
  |
9 |     return torch.bmm(memory, state.unsqueeze(2)).squeeze()  # <- SD206
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ torch.bmm(memory, state.unsqueeze(2)) is (B, T, \
1), should be (B, T)
  |            ------------------------------------- torch.bmm(memory, state.unsqueeze(2)) is (B, T, 1)
  = why: without an axis, `squeeze` drops every axis of size 1: the rank depends on the size of the batch
  = note: fails for a batch of one, such as the last of an epoch or the one at inference
  = help: name the axis: `squeeze(-1)`
  = more: shapedoc explain SD206
"""
