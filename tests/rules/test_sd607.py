"""SD607: operations on a line of their own, whose result nobody takes."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import numpy as np
import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a layer whose twin is called in its place": """
class Ends(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.begin1 = nn.Linear(2 * width, 1, bias=False)
        self.begin2 = nn.Linear(2 * width, 1, bias=False)

    def forward(self, a, b, c):
        first = self.begin1(torch.cat((a, b), dim=-1))
        last = self.begin1(torch.cat((a, c), dim=-1))  # <- SD607
        return first.squeeze(-1), last.squeeze(-1)
""",
    "the norm of another part": """
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attn_norm, self.attn = nn.LayerNorm(width), nn.MultiheadAttention(width, heads, batch_first=True)
        self.ff_norm, self.ff = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x):
        y = self.attn_norm(x)
        x = x + self.attn(y, y, y)[0]
        return x + self.ff(self.attn_norm(x))  # <- SD607
""",
    "a mask that is filled into nothing": """
def attend(scores, hidden, memory):
    scores.masked_fill(hidden, -1e9)  # <- SD607
    return scores.softmax(-1) @ memory
""",
    "the data of a tensor": """
def attend(scores, hidden, memory):
    scores.data.masked_fill(hidden, -1e9)  # <- SD607
    return scores.softmax(-1) @ memory
""",
    "layouts": """
def heads(x, n):
    B, T, d = x.shape
    x.view(B, T, n, d // n)  # <- SD607
    x.transpose(1, 2)  # <- SD607
    torch.flatten(x, 1)  # <- SD607
    return x
""",
    "a mask of a parameter that nobody describes": """
def read(keys, is_padding):
    if is_padding is not None:
        is_padding.t()  # <- SD607
    return keys, is_padding
""",
    "a mask that another method sets": """
class Attention(nn.MultiheadAttention):
    def __init__(self, d, n, batch_first=True):
        super().__init__(d, n)
        self.batch_first = batch_first

    def set_mask(self, is_padding):
        self.is_padding = is_padding

    def forward(self, query, key, value):
        is_padding = self.is_padding
        if self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        elif is_padding is not None:
            is_padding.t()  # <- SD607
        return super().forward(query, key, value, key_padding_mask=is_padding)
""",
    "layers without a state": """
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.drop_, self.relu, self.linear = nn.Dropout(0.1), nn.ReLU(), nn.Linear(d, d)

    def forward(self, x):
        self.drop_(x)  # <- SD607
        x = self.linear(x)
        self.relu(x)  # <- SD607
        F.dropout(x, 0.1, self.training)  # <- SD607
        return x
""",
    "word vectors that are loaded into a new layer": """
class Words(nn.Module):
    def __init__(self, V, d):
        super().__init__()
        self.words = nn.Embedding(V, d)

    def load(self, vectors):
        self.words.from_pretrained(vectors, freeze=False)  # <- SD607
""",
    "a state that is not cut off": """
def train(rnn, batches, state):
    for batch in batches:
        out, state = nn.GRU(3, 4)(batch, state)
        state.detach()  # <- SD607
""",
    "NumPy": """
def attend(scores, values):
    scores = np.exp(scores)
    scores.reshape(-1, 4)  # <- SD607
    np.clip(scores, 0, 1)  # <- SD607
    return scores @ values
""",
    "a loop at the top of a file": """
x = torch.randn(4, 5)
for _ in range(3):
    x.unsqueeze(0)  # <- SD607
""",
}

RIGHT = {
    "layers that are built alike": """
class Pair(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.map1, self.map2 = nn.Linear(width, width), nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.drop1, self.drop2 = nn.Dropout(0.1), nn.Dropout(0.1)
        self.spare1, self.spare2 = nn.Linear(width, width), nn.Linear(width, width)
        self.head_a, self.head_b = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, one, other, deep):
        one, other = self.drop1(self.map1(one)), self.drop1(self.map1(other))
        if deep:
            one = self.norm1(one)
        else:
            one = self.norm1(other)
        return self.map2(one), self.spare1(one), self.head_a(one), self.head_a(one)

    def extra(self, x):
        return self.head_b(x)
""",
    "points of a plot": """
def draw(points, labels, ax, plt):
    _, axes = plt.subplots()
    for i in range(3):
        chosen = labels.numpy() == i
        axes.scatter(points[chosen, 0], points[chosen, 1], alpha=0.6)
        ax.scatter(points[chosen, 0], points[chosen, 1])
""",
    "where NumPy is to put it": """
def clip(x):
    x = np.exp(x)
    np.clip(x, 0.0, 1.0, x)
    return x
""",
    "what changes its operand": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu, self.drop = nn.ReLU(inplace=True), nn.Dropout(0.1, True)

    def forward(self, x, mask):
        x.masked_fill_(mask, 0.0)
        x.squeeze_(0)
        self.relu(x)
        self.drop(x)
        F.relu(x, inplace=True)
        torch.clamp(x, 0, 1, out=x)
        np.clip(x, 0, 1, out=x)
        x.mul_(2).add_(1)
        nn.init.zeros_(x)
        x.sum().backward()
        return x
""",
    "what is shown at the top": """
x = torch.randn(4, 5)
x.view(5, 4)
x.unsqueeze(0)
torch.flatten(x)
""",
    "what may raise": """
def test_shapes():
    x = torch.randn(4, 5)
    with pytest.raises(RuntimeError):
        x.view(3, 7)
    try:
        x.view(3, 7)
    except RuntimeError:
        x = x + 1
    return x
""",
    "what may be no tensor": """
def prepare(model, device, seen, window, batch):
    model.to(device)
    model.cuda()
    model.float()
    seen.add(3)
    seen.copy()
    window.view(2)
    window.expand(1, 2)
    window.repeat(4)
    window.squeeze()
    for item in batch:
        item.to(device)
        item.add(1)
""",
    "a plot": """
def show(figure, points, names):
    axes = figure.add_subplot(1, 1, 1)
    for name in names:
        axes.scatter(points[:, 0], points[:, 1], label=name)
    return figure
""",
    "what is timed": """
def clock(d):
    layer, x = nn.Linear(d, d), torch.randn(3, d)
    torch.zeros(1).cuda()
    for _ in range(100):
        layer(x)
        torch.matmul(x, x.t())
        torch.softmax(x, -1)
""",
    "layers that remember": """
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.rnn = nn.BatchNorm1d(d), nn.GRU(d, d)

    def forward(self, x):
        self.norm(x)
        self.rnn(x)
        return x
""",
    "what is taken": """
def layout(x, y):
    x = x.unsqueeze(0)
    y[0] = x.squeeze(0)
    print(x.permute(2, 0, 1))
    [x.t() for _ in range(2)]
    return x.unsqueeze(1)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD607") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD607") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a mask that is filled into nothing"], "SD607") + "\n" == MESSAGE


MESSAGE = """\
error[SD607] discarded-result: the result of `scores.masked_fill(hidden, -1e9)` is thrown away
  --> model.py:9:5
   |
 9 |     scores.masked_fill(hidden, -1e9)  # <- SD607
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ scores is (*scores, ?)
10 |     return scores.softmax(-1) @ memory
   |            ------------------ scores is used here as it was
   = why: `masked_fill` leaves its operand alone and gives a new tensor, which nobody takes
   = help: assign it: `scores = scores.masked_fill(hidden, -1e9)`
   = more: shapedoc explain SD607
"""
