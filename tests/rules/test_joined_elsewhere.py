"""SD104: joins that fit, along an axis that their parts, what becomes of them or the join beside them speaks against."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn
from elsewhere import Attention, decode

"""

WRONG = {
    "what the comment beside it says": """
def mixed(context, asked):
    B, T, d = context.shape
    other = asked.softmax(-1)
    return torch.cat([context, other, context * other], dim=1)  # (B, T, 3*d) <- SD104
""",
    "a token behind the others, as the comment says": """
def longer(model, written, n):
    B, T = written.shape
    _, best = decode(model, written).topk(1)
    written = torch.cat([written, best], dim=0)  # (B, T + 1) <- SD104
    return written
""",
    "the first token and the rest": """
class First(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.map = nn.Linear(width, width)

    def forward(self, x):
        first = x[:, :1]
        first = first + self.map(first)
        return torch.cat([first, x[:, 1:]], dim=0)  # <- SD104
""",
    "labels that are shifted by one, whose rank nothing says": """
def shifted(labels, ignored):
    return torch.cat((labels[..., 1:], torch.full_like(labels[:, :1], ignored)), 0)  # <- SD104
""",
    "inputs that begin with a token, and all but the last": """
def begun(tokens, begin):
    return torch.cat([torch.full_like(tokens[:, :1], begin), tokens[:, :-1]], dim=0)  # <- SD104
""",
    "steps that are shifted by one": """
def shifted(x):
    B, T, d = x.shape
    return torch.cat([x[..., 1:, :], torch.zeros_like(x[:, -1:])], dim=0)  # <- SD104
""",
    "keys and values that two maps of a kind have made": """
class Cached(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x, memory, cache):
        keys, values = self.key(x), self.value(memory)
        keys = torch.cat([cache["k"], keys], dim=0)  # <- SD104
        values = torch.cat([cache["v"], values], dim=1)
        return keys, values
""",
    "a state whose two parts are repeated": """
def several(model, tokens, n):
    hidden, cell = decode(model, torch.relu(tokens))
    hidden = torch.cat([hidden for _ in range(n)], dim=1)
    cell = torch.cat([cell for _ in range(n)], dim=0)  # <- SD104
    return hidden, cell
""",
    "heads, split alike": """
def heads(query, key, size):
    query = torch.cat(query.split(size, dim=2), dim=0)  # <- SD104
    key = torch.cat(key.split(size, dim=2), dim=1)
    return query, key
""",
    "a step that the same index picks": """
def search(seqs, words, best):
    seqs = torch.cat([seqs[best], words[best].unsqueeze(1)], dim=0)  # <- SD104
    return seqs
""",
    "a token for every row, made of all tokens before": """
def generate(model, tokens, steps):
    n, _ = tokens.shape
    written = tokens[:, :1]
    for _ in range(steps):
        logits = decode(model, written)
        following = torch.multinomial(logits.view(n, -1).softmax(-1), 1)
        written = torch.cat([written, following], dim=0)  # <- SD104
    return written
""",
    "the parts of a split": """
def merge(x, n):
    return torch.cat(torch.split(x, n, dim=0), dim=0)  # <- SD104
""",
    "waves of the same angles": """
def angles(places, frequencies):
    B, T, d = places.shape
    turned = places * frequencies.view(1, 1, d)
    return torch.cat((turned.sin(), turned.cos()), 0)  # <- SD104
""",
    "the two directions of a state": """
class Encoder(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.rnn = nn.GRU(width, hidden, bidirectional=True)

    def forward(self, x):
        _, hidden = self.rnn(x)
        return torch.cat((hidden[-2, :, :], hidden[-1, :, :]), dim=0)  # <- SD104
""",
    "a view that takes the two for one": """
def beside(context, output):
    B, T, d = output.shape
    weights = (output @ context.transpose(1, 2)).softmax(-1)
    both = torch.cat((weights @ context, output), dim=1)  # <- SD104
    return both.view(-1, 2 * d)
""",
    "as many parts as sizes in a cell": """
class Step(nn.Module):
    def __init__(self, words, hidden):
        super().__init__()
        self.cell = nn.LSTMCell(words + 2 * hidden, hidden)

    def forward(self, word, image, state):
        joined = torch.cat([state[0][-1], image, word], 0)  # <- SD104
        return self.cell(joined, (state[0][0], state[1][0]))
""",
    "parts of two axes that a loop takes": """
class Loop(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.attend = Attention(hidden)
        self.out = nn.Linear(2 * hidden, hidden)

    def forward(self, regions, steps):
        made = []
        for _ in range(steps):
            state = self.attend(regions)
            seen = (regions * state.unsqueeze(1)).sum(dim=2)
            made.append(self.out(torch.cat((seen, state), dim=0)))  # <- SD104
        return made
""",
}

RIGHT = {
    "what is shifted along the axis that is cut": """
def shifted(labels, x, vector, ignored):
    B, T, d = x.shape
    labels = torch.cat((labels[..., 1:], torch.full_like(labels[:, :1], ignored)), 1)
    rolled = torch.cat((vector[..., 1:], vector[..., :1]), 0), torch.cat((vector[1:], vector[:1]), -1)
    other = torch.cat([x[..., 1:, :], torch.zeros_like(x[:, -1:])], dim=-2)
    return labels, rolled, other
""",
    "the two halves of a pair, side by side": """
def beside(pair):
    two, B, d = pair.shape
    return torch.cat([pair[:-1], pair[-1:]], dim=-1), torch.cat([pair[1:], pair[:1]], dim=2)
""",
    "what the comment beside it says": """
def mixed(context, asked):
    B, T, d = context.shape
    other = asked.softmax(-1)
    return torch.cat([context, other, context * other], dim=1)  # (B, 3*T, d)
""",
    "the first token and the rest": """
def same(x):
    return torch.cat([torch.relu(x[:, :1]), x[:, 1:]], dim=1)
""",
    "keys that are kept transposed": """
class Cached(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x, cache):
        keys, values = self.key(x).transpose(1, 2), self.value(x)
        keys = torch.cat([cache["k"], keys], dim=2)
        values = torch.cat([cache["v"], values], dim=1)
        return keys, values
""",
    "edges and what is said of them": """
def more(edges, weights, extra, extra_weights):
    edges = torch.cat([edges, extra], dim=1)
    weights = torch.cat([weights, extra_weights], dim=0)
    return edges, weights
""",
    "the same parts beside and behind each other": """
def square(a, b):
    wide = torch.cat([a, b], dim=1)
    tall = torch.cat([a, b], dim=0)
    return wide, tall
""",
    "a step that is put behind along its own axis": """
def search(seqs, words, best):
    return torch.cat([seqs[best], words[best].unsqueeze(1)], dim=1)
""",
    "what every batch gives, collected": """
def collect(model, batches):
    gathered = torch.zeros(4, 1)
    for batch in batches:
        n, _ = batch.shape
        gathered = torch.cat([gathered, decode(model, batch).view(n, 1)], dim=0)
    return gathered
""",
    "parts of a split along another axis": """
def merge(x, n):
    return torch.cat(torch.split(x, n, dim=0), dim=-1)
""",
    "waves of one row of angles": """
def angles(places, frequencies):
    turned = frequencies.unsqueeze(1) * places.unsqueeze(0)
    return torch.cat((turned.sin(), turned.cos()), 0)
""",
    "two states in a row, made one by a view": """
def beside(first, second):
    B, d = first.shape
    both = torch.cat((first.unsqueeze(1), second.unsqueeze(1)), dim=1)
    return both.view(B, 2 * d)
""",
    "half as many steps, twice as wide": """
def pyramid(x):
    B, T, d = x.shape
    return torch.cat((x, x.flip(1)), dim=0).view(2 * B, T // 2, 2 * d)
""",
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_wrong(name: str) -> None:
    text = HEAD + WRONG[name]
    assert found(text, "SD104") == expected(text)


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_right(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD104") == []
