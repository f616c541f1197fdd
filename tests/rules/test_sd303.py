"""SD303: the state of a step goes into the next one."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "attention that asks with the first state at every step": """
class Decoder(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.w, self.u, self.v = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)
        self.cell = nn.GRUCell(2 * h, h)

    def forward(self, x, first, memory):
        batch, steps, h = memory.shape
        state = first
        for t in range(x.size(1)):
            energy = torch.tanh(self.w(first).unsqueeze(1) + self.u(memory))  # <- SD303
            context = (torch.softmax(self.v(energy), dim=1) * memory).sum(dim=1)
            state = self.cell(torch.cat((x[:, t], context), dim=1), state)
        return state
""",
    "the initial state at every step, the output fed back": """
class Decoder(nn.Module):
    def __init__(self, vocab, h):
        super().__init__()
        self.embed, self.gru, self.out = nn.Embedding(vocab, h), nn.GRU(h, h, batch_first=True), nn.Linear(h, vocab)

    def forward(self, token, hidden):
        output, hidden = self.gru(self.embed(token), hidden)
        return self.out(output), hidden


def generate(decoder, token, encoder_hidden, steps):
    words = []
    for _ in range(steps):
        scores, _ = decoder(token, encoder_hidden)  # <- SD303
        token = scores.argmax(-1)
        words.append(token)
    return torch.cat(words, 1)


generate(Decoder(11, 7), torch.zeros(2, 1, dtype=torch.long), torch.zeros(1, 2, 7), 4)
""",
    "made anew in every round": """
def run(cell, xs):
    out = []
    for t in range(xs.size(0)):
        h = torch.zeros(xs.size(1), 7)  # <- SD303
        h = cell(xs[t], h)
        out.append(h)
    return torch.stack(out)

run(nn.GRUCell(3, 7), torch.randn(4, 2, 3))
""",
    "no state at all": """
class Decoder(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(d, h), nn.Linear(h, d)

    def forward(self, y, steps):
        ys = []
        for _ in range(steps):
            h, c = self.cell(y)  # <- SD303
            y = self.out(h)
            ys.append(y)
        return torch.stack(ys)

Decoder(3, 7)(torch.randn(2, 3), 4)
""",
    "an LSTM that restarts from the encoder's states": """
class Model(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.encoder, self.decoder = nn.LSTM(d, h, batch_first=True), nn.LSTM(h, h, batch_first=True)

    def forward(self, x, y):
        memory, (h, c) = self.encoder(x)
        outs = []
        for _ in range(5):
            y, (hs, cs) = self.decoder(y, (h, c))  # <- SD303
            outs.append(y)
        return torch.cat(outs, 1)

Model(3, 7)(torch.randn(2, 6, 3), torch.randn(2, 1, 7))
""",
}
WRONG["one state for two layers"] = """
class Stack(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.low, self.high = nn.GRUCell(d, h), nn.GRUCell(h, h)

    def forward(self, xs, h):
        out = []
        for x in xs:
            h = self.low(x, h)
            h = self.high(h, h)  # <- SD303
            out.append(h)
        return torch.stack(out)

Stack(3, 7)(torch.randn(4, 2, 3), torch.zeros(2, 7))
"""

WRONG |= {
    "the cell state of an LSTM under another name": """
class Writer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(d, d), nn.Linear(d, d)

    def forward(self, frames, hidden, memory):
        written = []
        for t in range(frames.size(1)):
            hidden, kept = self.cell(frames[:, t], (hidden, memory))  # <- SD303
            written.append(self.out(hidden))
        return torch.stack(written, 1)

    def start(self, frames):
        return self.forward(frames, torch.zeros(2, 7), torch.zeros(2, 7))

Writer(7).start(torch.randn(2, 5, 7))
""",
    "a cell state of zeros at every step": """
class Step(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lstm, self.mix = nn.LSTM(d, d, batch_first=True), nn.Linear(d, d)

    def forward(self, frame, hidden):
        memory = torch.zeros_like(hidden)  # <- SD303
        out, (hidden, _) = self.lstm(frame.unsqueeze(1), (hidden, memory))
        return out.squeeze(1), torch.tanh(self.mix(hidden))


def write(step, frames):
    hidden = torch.zeros(1, 2, 7)
    written = []
    for t in range(5):
        out, hidden = step(frames[:, t], hidden)
        written.append(out)
    return torch.stack(written, 1)

write(Step(7), torch.randn(2, 5, 7))
""",
}

WRONG |= {
    "a layer above the one that is given its state": """
class Step(nn.Module):
    def __init__(self, d, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.LSTM(d, d, batch_first=True) for _ in range(layers)])

    def forward(self, x, hidden, memory):
        x = x.unsqueeze(1)
        for i, layer in enumerate(self.layers):
            if i == 0:
                x, (h, c) = layer(x, (hidden, memory))
            else:
                x, (h, c) = layer(x)  # <- SD303
        return x, h, c

Step(7, 2)(torch.randn(2, 7), torch.zeros(1, 2, 7), torch.zeros(1, 2, 7))
""",
}

RIGHT = {
    "a context that is made once, before the loop": """
class Decoder(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.w, self.u, self.v = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)
        self.cell = nn.GRUCell(2 * h, h)

    def attend(self, state, memory):
        batch, steps, h = memory.shape
        energy = torch.tanh(self.w(state).unsqueeze(1) + self.u(memory))
        return (torch.softmax(self.v(energy), dim=1) * memory).sum(dim=1)

    def forward(self, x, first, memory, topic):
        state, context = first, self.attend(first, memory)
        for t in range(x.size(1)):
            state = self.cell(torch.cat((x[:, t], context), dim=1), state)
        again = first
        for t in range(x.size(1)):
            about = self.attend(topic, memory)
            again = self.cell(torch.cat((x[:, t], about), dim=1), again)
        last = first
        for t in range(x.size(1)):
            context = self.attend(last, memory)
            last = self.cell(torch.cat((x[:, t], context), dim=1), last)
        return state, again, last
""",
    "an example at a time, with a loop of its own": """
class Writer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.cell = nn.LSTMCell(width, width)

    def forward(self, features, places):
        B, D = features.shape
        out = []
        for example in range(B):
            feature = features[example].unsqueeze(0)
            state = (torch.zeros(1, self.width), torch.zeros(1, self.width))
            state = self.cell(feature, state)
            waiting = [(feature, state)]
            while waiting:
                last, held = waiting.pop()
                held = self.cell(last, held)
                if held[0].sum() < 0:
                    waiting.append((held[0], held))
            out.append(held[0])
        return torch.cat(out)
""",
    "an encoder whose first layer is given a state": """
class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.one, self.two = nn.LSTM(d, d, batch_first=True), nn.LSTM(d, d, batch_first=True)

    def forward(self, x, hidden, memory):
        x, _ = self.one(x, (hidden, memory))
        return self.two(x)[0]

Encoder(7)(torch.randn(2, 5, 7), torch.zeros(1, 2, 7), torch.zeros(1, 2, 7))
""",
    "both states of an LSTM": """
class Writer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(d, d), nn.Linear(d, d)

    def forward(self, frames):
        hidden, memory = torch.zeros(2, 7), torch.zeros(2, 7)
        written = []
        for t in range(frames.size(1)):
            hidden, memory = self.cell(frames[:, t], (hidden, memory))
            written.append(self.out(hidden))
        return torch.stack(written, 1)

Writer(7)(torch.randn(2, 5, 7))
""",
    "a second transition that reads the context": """
class Conditional(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.low, self.high = nn.GRUCell(d, h), nn.GRUCell(h, h)

    def forward(self, xs, h, memory):
        out = []
        for x in xs:
            h = self.low(x, h)
            a = torch.bmm(memory, h.unsqueeze(2)).softmax(1)
            h = self.high((a * memory).sum(1), h)
            out.append(h)
        return torch.stack(out)

Conditional(3, 7)(torch.randn(4, 2, 3), torch.zeros(2, 7), torch.randn(2, 5, 7))
""",
    "a state for each of two layers": """
class Stack(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.low, self.high = nn.GRUCell(d, h), nn.GRUCell(h, h)

    def forward(self, xs, h, g):
        out = []
        for x in xs:
            h = self.low(x, h)
            g = self.high(h, g)
            out.append(g)
        return torch.stack(out)

Stack(3, 7)(torch.randn(4, 2, 3), torch.zeros(2, 7), torch.zeros(2, 7))
""",
    "carried": """
def run(cell, xs, h):
    out = []
    for t in range(xs.size(0)):
        h = cell(xs[t], h)
        out.append(h)
    return torch.stack(out)

run(nn.GRUCell(3, 7), torch.randn(4, 2, 3), torch.zeros(2, 7))
""",
    "a sentence at a time, each from zero": """
def sentences(gru, texts):
    return torch.stack([gru(x)[1][-1] for x in texts])

def documents(gru, texts):
    found = []
    for x in texts:
        _, h = gru(x)
        found.append(h[-1])
    return found

documents(nn.GRU(3, 7, batch_first=True), [torch.randn(2, 5, 3), torch.randn(2, 4, 3)])
""",
    "layers, one after the other": """
class Stack(nn.Module):
    def __init__(self, h, n):
        super().__init__()
        self.cells = nn.ModuleList([nn.GRUCell(h, h) for _ in range(n)])

    def forward(self, x, h0):
        for cell in self.cells:
            x = cell(x, h0)
        return x

Stack(7, 3)(torch.randn(2, 7), torch.zeros(2, 7))
""",
    "batches, each with a first state": """
def train(gru, batches):
    for x in batches:
        h = torch.zeros(1, 2, 7)
        y, h = gru(x, h)

train(nn.GRU(3, 7, batch_first=True), [torch.randn(2, 5, 3), torch.randn(2, 5, 3)])
""",
    "a loop in a loop": """
def run(cell, documents):
    for xs in documents:
        h = torch.zeros(2, 7)
        for t in range(xs.size(0)):
            h = cell(xs[t], h)

run(nn.GRUCell(3, 7), [torch.randn(4, 2, 3), torch.randn(4, 2, 3)])
""",
    "candidates that start from one state": """
def score(cell, candidates, h):
    return torch.stack([cell(c, h) for c in candidates])

score(nn.GRUCell(3, 7), [torch.randn(2, 3), torch.randn(2, 3)], torch.zeros(2, 7))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD303") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD303") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["made anew in every round"], "SD303") + "\n" == MESSAGE


MESSAGE = """\
warning[SD303] state-not-carried: a fresh state goes into `GRUCell` at every step: each step starts anew
  --> model.py:9:13
   |
 9 |         h = torch.zeros(xs.size(1), 7)  # <- SD303
   |             ^^^^^^^^^^^^^^^^^^^^^^^^^^
10 |         h = cell(xs[t], h)
   |             -------------- what the cell returns is not given to the next step
   |             -------------- it goes in here
14 | run(nn.GRUCell(3, 7), torch.randn(4, 2, 3))
   | ------------------------------------------- in this call of `run`
   = why: a decoder is recurrent: s_t is made from s_(t-1). Dropped, nothing that was decoded before is remembered
   = help: assign the state that the cell returns, and pass it at the next step
   = more: shapedoc explain SD303
"""
