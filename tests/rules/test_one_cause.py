"""One cause that shows at several places is one finding: the first place is marked, the others are labels."""

from __future__ import annotations

import re

import pytest

from shapedoc.core.finding import Report
from shapedoc.engine.folding import folded
from shapedoc.report import Context, renderer
from tests.rules.expectations import expected, lint

HEAD = """\
import torch
import torch.nn as nn

"""

PROGRAMS = {
    "one size taken for another in several modules of a class": """
class Pooled(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.pool_query = nn.Linear(d_model, d_model)
        self.pool_key = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x):
        B, T, d_model = x.shape
        heads = x.view(B, T, self.n_heads, self.d_head)
        query = self.pool_query(heads)  # <- SD106
        key = self.pool_key(heads)  # same
        return query, key, self.norm(heads)  # same
""",
    "one module built wrongly, and called for several sizes": """
class Head(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.convolution = nn.Conv2d(3, channels, 3, stride=1, padding=1)
        self.pool, self.out = nn.AvgPool2d(7, 1), nn.Linear(channels, classes)

    def forward(self, image):
        pooled = self.pool(self.convolution(image))
        return self.out(pooled.view(image.shape[0], -1))


small, large = Head(16, 10), Head(32, 10)
images = torch.randn(1, 3, 28, 28)
small(images)  # <- SD106
large(images)  # same
""",
    "two modules with other sizes": """
class Stacked(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.rnn = nn.GRU(d, h, bidirectional=True)
        self.low = nn.Linear(h, 3)  # <- SD106
        self.top = nn.Linear(4 * h, 3)  # <- SD106

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.low(states), self.top(states)
""",
    "the state of one encoder cut alike in training and in evaluation": """
class Encoder(nn.Module):
    def __init__(self, d, h, n_layers=1):
        super().__init__()
        self.n_layers = n_layers
        self.rnn = nn.GRU(d, h, n_layers, bidirectional=True)

    def forward(self, x):
        return self.rnn(x)


class Trainer(nn.Module):
    def __init__(self, d, h, n_layers):
        super().__init__()
        self.encoder = Encoder(d, h, n_layers)
        self.decoder = nn.GRU(d, h, n_layers)

    def learn(self, x, y):
        states, hidden = self.encoder(x)
        return self.decoder(y, hidden[:self.encoder.n_layers])  # <- SD305

    def score(self, x, y):
        states, final = self.encoder(x)
        return self.decoder(y, final[:self.encoder.n_layers])  # same
""",
    "a mean over the padding in training and in evaluation": """
def learn(model, x, y, lengths):
    hidden = torch.arange(lengths.max()).unsqueeze(0) >= lengths.unsqueeze(1)
    loss = nn.functional.cross_entropy(model(x), y, reduction="none").view(hidden.shape)
    loss = loss.masked_fill(hidden, 0)
    return loss.sum() / hidden.sum()  # <- SD501


def score(model, x, y, lengths):
    with torch.no_grad():
        hidden = torch.arange(lengths.max()).unsqueeze(0) >= lengths.unsqueeze(1)
        loss = nn.functional.cross_entropy(model(x), y, reduction="none").view(hidden.shape)
        loss = loss.masked_fill(hidden, 0)
        return loss.sum() / hidden.sum()  # same
""",
    "one factor missing of two views": """
class Bridge(nn.Module):
    def __init__(self, d, h, n_layers):
        super().__init__()
        self.rnn = nn.LSTM(d, h, n_layers)
        self.first = nn.Linear(d, h)
        self.other = nn.Linear(d, h)

    def forward(self, x):
        h, c = self.first(x[-1]), self.other(x[-1])
        state = (
            h.view(self.rnn.num_layers, h.size(0), h.size(1)),  # <- SD103
            c.view(self.rnn.num_layers, c.size(0), c.size(1)),  # same
        )
        return self.rnn(x, state)


Bridge(3, 5, 2)(torch.randn(7, 4, 3))
""",
    "a product without batch in every branch": """
class Score(nn.Module):
    def __init__(self, method, d):
        super().__init__()
        self.method = method
        self.map = nn.Linear(d, d)
        self.v = nn.Parameter(torch.rand(1, d))

    def forward(self, state, step):
        B, d = state.shape
        if self.method == "dot":
            return state.dot(step)  # <- SD105
        if self.method == "general":
            return state.dot(self.map(step))  # same
        if self.method == "scaled":
            return torch.ones(1, 1, d).dot(step)  # same
        return self.v.dot(torch.tanh(step))  # same
""",
    "one batch that several squeezes of a function may drop": """
class Pooled(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.score = nn.Linear(d, 1)

    def forward(self, memory):
        batch_size, T, d = memory.shape
        weights = self.score(memory).squeeze().softmax(dim=-1)  # <- SD206
        context = torch.bmm(weights.view(batch_size, 1, T), memory).squeeze()  # same
        return context
""",
    "two tables that run along the same wrong axis": """
class Placed(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.first, self.second, self.map = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, words, state):
        B, T, d = words.shape
        B, d = state.shape
        placed = words + self.first(state)  # <- SD201
        gated = self.map(words) * self.second(state[:, :d])  # same
        return placed, gated
""",
    "one tensor cut in several ways": """
class Windows(nn.Module):
    def __init__(self, d, c):
        super().__init__()
        self.c = c
        self.conv, self.norm = nn.Conv2d(d, c, 3, padding=1), nn.LayerNorm(d)

    def forward(self, x, H, W):
        B, N, d = x.shape
        before = x
        image = self.norm(x).reshape(B, d, H, W)  # <- SD601
        rows = self.conv(image).view(B, H * W, self.c)  # same
        return before.reshape(B, d, H, W) + image, rows  # same
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_cause_is_told_once_with_all_its_places(name: str) -> None:
    text = HEAD + PROGRAMS[name]
    (code,) = {one.code for one in expected(text)}
    findings = folded(lint(text, code))
    assert [f.span.line for f in findings] == [one.line for one in expected(text)]
    same = {number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# same")}
    again = re.compile("the same here|cut anew here")
    assert {label.span.line for f in findings for label in f.labels if again.match(label.text)} == same


def test_the_message_names_every_place() -> None:
    text = re.sub("  # (same|<- SD105)", "", HEAD + PROGRAMS["a product without batch in every branch"])
    report = Report(files=1, findings=folded(lint(text, "SD105")))
    assert "\n".join(renderer("full")(report, Context(text_of=lambda path: text))) == MESSAGE


MESSAGE = """\
error[SD105] wrong-rank: `dot` needs 1 axis, `state` has 2
  --> model.py:15:20
   |
13 |         B, d = state.shape
   |         ------------------ its 2 axes are named here
15 |             return state.dot(step)
   |                    ^^^^^^^^^^^^^^^ state is (B, d)
   |                    ----- state is (B, d)
17 |             return state.dot(self.map(step))
   |                    ------------------------- the same here
19 |             return torch.ones(1, 1, d).dot(step)
   |                    ----------------------------- the same here: torch.ones(1, 1, d) is (1, 1, d)
20 |         return self.v.dot(torch.tanh(step))
   |                ---------------------------- the same here: self.v is (1, d)
   = why: dot takes no batch; `@` and matmul do
   = note: the same on line 17, line 19 and line 20
   = help: torch.matmul, which takes batches
   = more: shapedoc explain SD105

found 1 error in 1 file\
"""
