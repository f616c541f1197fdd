"""SD701: shapes that the author states."""

from __future__ import annotations

import pytest

from tests.rules.expectations import Found, expected, found, full_text, lint

HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a comment with fewer axes than are seen": """
def spread(x, y):
    wide = x.unsqueeze(-1).unsqueeze(-1)  # (B,)  # <- SD701
    return wide * y
""",
    "two comments on one tensor": """
class Score(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.v = nn.Linear(width, 1)

    def forward(self, query, memory):
        if query.dim() == 2:
            query = query.unsqueeze(1)
        scores = self.v(torch.tanh(self.query(query) + memory))  # (batch, steps, 1)
        scores = scores  # (batch, steps)  # <- SD701
        return scores
""",
    "a comment, and another of what is made of the same": """
def pool(x, w):
    B, T, D = x.shape
    first = x.mean(dim=1)  # (B, T, D)  # <- SD701
    second = first * 2  # (B, T, D)
    return second
""",
    "a comment that stands twice": """
def head(x):
    B, T, D = x.shape
    last = x[:, -1]  # (B, T, D)  # <- SD701
    return last


def tail(x):
    B, T, D = x.shape
    last = x[:, -1]  # (B, T, D)
    return last
""",
    "a comment with an axis too many": """
class Pool(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.rnn = nn.GRU(width, hidden, batch_first=True)

    def forward(self, x):
        B, T, width = x.shape
        states, _ = self.rnn(x)
        pooled = states.mean(dim=1)  # (B, T, hidden)  # <- SD701
        return pooled
""",
    "a comment with two sizes at each other's place": """
def project(x, w):
    B, T, D = x.shape
    y = x.transpose(1, 2)  # (B, T, D)  # <- SD701
    return y
""",
    "a comment with one size at another place, beside names of its own": """
def heads(x, count):
    B, T, D = x.shape
    y = x.view(B, T, count, D // count).transpose(1, 2)  # (B, T, nh, hs)  # <- SD701
    return y
""",
    "an assert that fails": """
class Mix(nn.Module):
    def __init__(self, near, far):
        super().__init__()
        self.turn = nn.Linear(far, near)

    def forward(self, notes):
        mixed = self.turn(notes)
        assert mixed.shape == (notes.size(0), notes.size(1), notes.size(2))  # <- SD701
        return mixed

Mix(3, 5)(torch.randn(2, 4, 5))
""",
    "a product that takes another number of axes than is stated": """
class General(nn.Module):
    def __init__(self, d_s, d_h):
        super().__init__()
        self.map = nn.Linear(d_s, d_h)

    def forward(self, state, memory):
        '''
        state: (batch_size, d_s)
        memory: (batch_size, T_enc, d_h)
        '''
        query = self.map(state)
        return torch.bmm(memory, query)  # <- SD701
""",
    "a join of what has, by two comments, other numbers of axes": """
from scorers import Attend


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = Attend()

    def forward(self, token, states):
        token = self.attend.embed(token)  # (batch_size, d_embed)
        context = self.attend(token, states)  # (batch_size, 1, d_state)
        return torch.cat((token, context), dim=-1)  # <- SD701
""",
    "a docstring that is as wrong about three parameters": """
class Product(nn.Module):
    def forward(self, query, key, value):
        '''
        query: (batch, T_dec, d)  # <- SD701
        key: (batch, T_enc, d)
        value: (batch, T_enc, d)
        '''
        return (query @ key.transpose(-2, -1)).softmax(-1) @ value


class Heads(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.size = heads, d // heads
        self.q, self.product = nn.Linear(d, d), Product()

    def forward(self, x):
        B, T, d = x.shape
        q = self.q(x).view(B, T, self.heads, self.size).transpose(1, 2)
        return self.product(q, q, q)
""",
    "what another function gives back, which makes another tensor after it": """
class Decoder(nn.Module):
    def forward(self, scores, memory):
        B, T = scores.shape
        weights = scores.unsqueeze(1)
        context = torch.bmm(weights, memory).squeeze(1)
        return context, weights


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.decoder = Decoder()

    def forward(self, scores, memory):
        context, weights = self.decoder(scores, memory)
        # weights = [B, T]  # <- SD701
        return context, weights
""",
    "what a function says of its own parameter, and of what it makes of it": """
class Pool(nn.Module):
    def pooled(self, x, y):
        # y: (B, d, P, M)
        weights = F.softmax(y, dim=-1)
        found = (y * weights).sum(dim=-1)  # (B, d, P, 1)  # <- SD701
        return x * found

    def forward(self, x, y):
        return self.pooled(x, y)
""",
    "a step of layout that is not there": """
def pooled(x):
    batch, channels, height, width = x.shape
    y = F.adaptive_avg_pool2d(x, 1)
    y = y.relu()  # Squeeze to (batch, channels, 1)  # <- SD701
    return y
""",
    "an axis of size 1 that is said to be another one": """
def asked(query):
    batch, width = query.shape
    step = query.unsqueeze(0)  # (batch, 1, width)  # <- SD701
    return step
""",
    "above what is returned as it is": """
def weights(scores, values):
    batch, time, width = values.shape
    found = scores(values).view(batch, time, 1)

    # (batch, time)  # <- SD701
    return found
""",
    "an arrow that puts in an axis more than its line": """
def hide(scores, mask):
    # (batch, T) -> (batch, 1, 1, T)  # <- SD701
    mask = mask.unsqueeze(-2)

    return scores * torch.logical_not(mask)
""",
    "a comment that gives another name's shape with an axis more": """
def hide(scores, mask=None):
    '''Hide what is padded.

    Args:
        mask: (batch_size, T)
    '''
    if mask is not None:
        mask = mask  # (batch_size, 1, T)  # <- SD701
        scores = scores.masked_fill(mask, -1e9)
    return scores
""",
    "an axis that what is stated does not have": """
def weigh(scores):
    '''Weights.

    Args:
        scores: (B, T)
    '''
    return F.softmax(scores, dim=2)  # <- SD701
""",
    "an expansion that keeps an axis more than is stated": """
def spread(query, keys):
    '''Every query beside every key.

    Args:
        query: (B, Q, d)
        keys: (B, K, d)
    '''
    return query.expand(-1, -1, keys.size(1), -1)  # <- SD701
""",
}

RIGHT = {
    "a shape that each of a list has": """
class Fusion(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.n = n
        self.ask, self.score = nn.Linear(d, d), nn.Linear(d, 1)

    def weigh(self, parts):
        batch_size, seq_len, _ = parts[-1].size()
        mixed = 0
        for part in parts:
            if len(part.shape) == 2:
                part = part.unsqueeze(1).repeat(1, seq_len, 1)
            mixed = mixed + self.ask(part)
        return F.softmax(self.score(torch.tanh(mixed)).view(batch_size, seq_len), dim=1)

    def forward(self, state, feats):
        '''
        feats: [batch_size, seq_len, dim]
        '''
        found = []
        for i in range(self.n):
            weights = self.weigh([state, feats[i]])
            found.append(torch.bmm(weights.unsqueeze(1), feats[i]).squeeze(1))
        return torch.cat(found, dim=1)
""",
    "a comment with as many axes as are seen, or more": """
def spread(x, y):
    wide = x.unsqueeze(-1).unsqueeze(-1)  # (B, 1, 1)
    wider = wide.unsqueeze(-1)  # (B, T, 1, 1, 1)
    return wider * y
""",
    "above a line whose comment has the name of the variable before": """
def score(v, energy):
    B, d, T = energy.shape
    energy = energy * 2
    # energy: (B, d, T)
    weights = torch.bmm(v.expand(B, 1, d), energy).squeeze(1)

    # energy: (B, T)

    return weights
""",
    "what a caller's comment says of another parameter": """
class Encoder(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.rnn = nn.LSTM(width, hidden, batch_first=True)

    def forward(self, x, lengths):
        lengths, order = lengths.sort(0, descending=True)
        x = x[order]  # (batch, length, width)
        return self.rnn(x)[0]


class Output(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = Encoder(2 * hidden, hidden)

    def forward(self, x, mask):
        # x: (batch, length, width)
        # mask: (batch, length, 1)
        return self.rnn(x, mask.sum(-1))
""",
    "a sequence that every round of a loop makes longer": """
class Model(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.head = nn.Linear(d, words)

    def forward(self, tokens):
        x = read(tokens)  # (B, T, C)
        return self.head(x[:, -1:, :])

    def generate(self, tokens, steps):
        for _ in range(steps):
            logits = self(tokens)  # (B, T, C)
            last = logits[:, -1, :]  # (B, C)
            new = torch.multinomial(F.softmax(last, dim=-1), num_samples=1)  # (B, 1)
            tokens = torch.cat((tokens, new), dim=1)  # (B, T + 1)
        return tokens
""",
    "an arrow above two lines, of what the second makes": """
class Layer(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attend = Heads(d_model, heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        out = self.attend(x, x, x, mask)
        return self.norm(x + out)


class Heads(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.d_model = d_model
        self.d_k = self.d_model // self.num_heads
        self.q = nn.Linear(self.d_model, self.d_model)
        self.k = nn.Linear(self.d_model, self.d_model)
        self.v = nn.Linear(self.d_model, self.d_model)
        self.out = nn.Linear(self.d_model, self.d_model)

    def forward(self, query, key, value, mask=None):
        batch_size = query.shape[0]
        query = self.q(query)
        value = self.v(value)

        # (batch, seq_len, d_model) -> (batch, seq_len, h, d_k)
        query = query.view(batch_size, -1, self.num_heads, self.d_k)
        value = value.view(batch_size, -1, self.num_heads, self.d_k)

        # (batch, seq_len, h, d_k) -> (batch, h, seq_len, d_k)
        query = torch.transpose(query, 1, 2)
        value = torch.transpose(value, 1, 2)

        # (batch, h, query_len, d_k) -> (batch, query_len, h, d_k)
        scaled_attention = self.read(query, key, value, mask)
        scaled_attention = torch.transpose(scaled_attention, 1, 2).contiguous()

        # (batch, query_len, h, d_k) -> (batch, query_len, d_model)
        concat_attention = scaled_attention.view(batch_size, -1, self.d_model)

        # (batch, query_len, d_model) -> (batch, query_len, d_model)
        multihead_attention = self.out(concat_attention)
        return multihead_attention

    def read(self, query, key, value, mask):
        scores = torch.matmul(query, torch.transpose(key, -2, -1))
        scores = scores.masked_fill(mask == 0, -1e10) if mask is not None else scores
        weights = F.softmax(scores, dim=-1)
        return torch.matmul(weights, value)
""",
    "what one branch knows of a rank is stated nowhere": """
def convert(arrays, weights):
    for name, weight in weights.items():
        if "out" in name:
            v = arrays[name]
            v = v.reshape(v.shape[0] * v.shape[1], v.shape[2])
        else:
            v = arrays[name]
        v = torch.from_numpy(v)
        if len(weight.shape) == 4:
            v = v.permute(3, 2, 0, 1)
        weights[name] = v
""",
    "above what is returned, beside what came before": """
def weights(scores, values):
    batch, time, width = values.shape
    found = scores(values).view(batch, time, 1)
    # (batch, time)
    return found.squeeze(-1)
""",
    "an axis of size 1 where it is said to be": """
def asked(query):
    batch, width = query.shape
    step = query.unsqueeze(1)  # (batch, 1, width)
    return step
""",
    "a step of layout that a later line takes": """
def pooled(x):
    # Squeeze to (batch, channels)
    batch, channels, height, width = x.shape
    y = F.adaptive_avg_pool2d(x, 1)
    return y.flatten(1)
""",
    "a comment that names the source and means what is made of it": """
def split(x, w, heads):
    B, T, D = x.shape
    qkv = (x @ w).reshape(B, T, 3, heads, D // heads)  # x: (B, T, 3, heads, D // heads)
    return qkv
""",
    "a comment that names the source from habit, and means the target": """
class Heads(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.count, self.qkv = count, nn.Linear(width, 3 * width)

    def forward(self, x):
        B, N, C, H = *x.shape, self.count
        qkv = self.qkv(x).reshape(B, N, 3, H, C // H).permute(2, 0, 3, 1, 4)  # x: (3, B, H, N, C // H)
        q, k, v = qkv[0], qkv[1], qkv[2]  # x: (B, H, N, C // H)
        return (q @ k.transpose(-2, -1)) @ v


class Windows(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.heads = Heads(width, count)

    def forward(self, image):
        bs, rows, columns, width = image.shape
        return self.heads(image.reshape(bs, rows * columns, width))
""",
    "comments that are right": """
class Attend(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q = nn.Linear(width, width)

    def forward(self, x):
        # x: (B, T, C)
        B, T, C = x.shape
        q = self.q(x).view(B, T, self.heads, self.size)  # (B, T, h, d)
        q = q.transpose(1, 2)  # (B, h, T, d)
        w = q @ q.transpose(-2, -1)  # (B, h, T, T)
        return w.softmax(-1)

Attend(8, 2)(torch.randn(2, 5, 8))
""",
    "an explicit line that is right": """
def scores(q, k):
    n, t, d = q.shape
    n, s, d = k.shape
    out = q @ k.transpose(1, 2)
    # shapedoc: out (n, t, s)
    return out
""",
    "names of their own": """
def attend(q, k):
    a, b, c = q.shape
    logits = q @ k.transpose(1, 2)  # (batch, queries, keys)
    return logits.softmax(-1)  # batch x queries x keys
""",
    "numbers that are values": """
x = torch.tensor([1, 2, 3])  # (1, 2, 3)
y = torch.zeros(4)  # values in (0, 1)
""",
    "an axis of size 1 that is left out": """
def step(x):
    n, t, d = x.shape
    last = x[:, -1:]  # (n, 1, d)
    return last.squeeze(1)  # (n, d)
""",
    "a reduction whose kept axis is left out, of which nothing else is known": """
class Norm(nn.Module):
    def forward(self, x):
        spread = x.var(dim=-1, keepdim=True)  # (B, T)
        normed = (x - x.mean(dim=-1, keepdim=True)) / spread.sqrt()  # (B, T, D)
        return normed
""",
    "a name that the docstring and the code use of two sizes": """
class Attend(nn.Module):
    def weights(self, query, key, cache=None):
        '''
        query: (batch, n_queries, d)
        key: (batch, n_keys, d)
        '''
        batch, n_queries, d = query.shape
        if cache is not None:
            key = torch.cat([key, cache], dim=1)
        batch, n_keys, d = key.shape
        scores = query @ key.transpose(1, 2)  # (batch, n_queries, n_keys)
        return scores

    def forward(self, x, cache=None):
        return self.weights(x, x, cache)
""",
    "an arrow that is said of a step in the middle of the line": """
def regularise(alphas):
    N, t, L = alphas.shape
    total = alphas.sum(dim=1)  # (N, t, L) -> (N, L)
    loss = total.sum(dim=1).mean()  # (N, L) -> (N,)
    return loss
""",
    "an assert about what a loop counts": """
def decode(table, B, d):
    n = 1
    while n < 20:
        step = table[:n].view(n, B, d)
        assert step.shape == (1, B, d)
        n = n + 1
    return step
""",
    "a docstring that lists what a batch is made of, and results by name": """
def train(batch, model):
    '''
    batch: (articles, words, max_len)

    Returns:
        output: the values of shape (B, T, d)
        weights: the weights of shape (B, T)
    '''
    articles, words, max_len = batch
    B, T, d = words.shape
    return words * 2, words.sum(-1)
""",
    "a docstring": """
def attend(q, k):
    '''Attend.

    Args:
        q: queries of shape (batch, T_dec, d)
        k: keys of shape (batch, T_enc, d)

    Returns:
        scores of shape (batch, T_dec, T_enc)
    '''
    return q @ k.transpose(-2, -1)
""",
    "an arrow of a part": """
class Decoder(nn.Module):
    def forward(self, hidden, memory):
        query = hidden[-1].unsqueeze(1)  # [layers, B, D] -> [B, 1, D]
        return query + memory
""",
    "an arrow that puts in the axes of its line": """
def hide(scores, mask):
    # (batch, T) -> (batch, 1, 1, T)
    mask = mask.unsqueeze(-2).unsqueeze(-2)
    return scores * torch.logical_not(mask)
""",
    "an arrow after the name of what goes in": """
class Words(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.table = nn.Embedding(vocab, d)
        self.encoder = nn.GRU(d, d, batch_first=True)

    def forward(self, tokens):
        x = self.table(tokens)  # tokens -> (B, T)
        return self.encoder(x)[0]  # (B, T, d)
""",
    "a comment above what it speaks of": """
class Scores(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.out = nn.Linear(d, 1)

    def forward(self, memory, state):
        # memory = (batch, T, d)
        hidden = memory.unsqueeze(1).squeeze(1)
        z = F.tanh(hidden + state.view(-1, 1, 16))
        # z = (batch, T)
        z = self.out(z).squeeze(2)
        return z
""",
}

CALLED = """
class Step(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)

    def forward(self, word, context):
        '''
        word: (N, length)  # <- SD701
        context: (N, d)
        '''
        return torch.cat([self.embed(word), context], dim=1)


class Decoder(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.step = Step(vocab, d)

    def forward(self, words, memory):
        N, T, d = memory.shape
        N, length = words.shape
        return self.step(words[:, 0], memory[:, 0])
"""

LOOSE = {
    "an axis of size 1 that another comment alone has": """
class Read(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)

    def forward(self, words):
        # words: (batch, length, 1)
        x = self.embed(words)  # (batch, length, d)
        return x
""",
    "a comma that is missing": """
def step(x):
    batch, width = x.shape
    row = x.unsqueeze(0)  # row: (1, batch width)
    return row
""",
    "masks and kept axes whose ones are left out": """
def scale(x, words):
    B, T, D = x.shape
    mask = (words != 0).view(B, 1, T, 1)  # (B, T)
    spread = x.var(dim=-1, keepdim=True)  # (B, T)
    return x / spread, mask
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD701", "SD702") == expected(text)


HANDED_ON = """
class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.d_k, self.map = heads, width // heads, nn.Linear(width, width)

    def forward(self, x, mask=None):
        '''
        :param x: tensor, shape: (batch_size, q_len, width)
        :param mask: tensor, shape: (batch_size, heads, q_len, k_len)
        '''
        batch_size, q_len, _ = x.size()
        x = self.map(x).transpose(0, 1).contiguous()
        return self.weigh(x.view(q_len, batch_size * self.heads, self.d_k).transpose(0, 1), mask)

    def weigh(self, x, mask=None):
        '''
        :param x: tensor, shape: (batch_size * heads, q_len, d_k)
        :param mask: tensor, shape: (batch_size * heads, q_len, k_len)  # <- SD701
        '''
        scores = torch.bmm(x, x.transpose(-2, -1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        return scores.softmax(-1)
"""


def test_what_two_functions_state_of_one_parameter_is_told_with_both() -> None:
    text = HEAD + HANDED_ON
    (finding,) = lint(text, "SD701")
    assert [Found(finding.span.line, "SD701")] == expected(text)
    assert "`Heads.forward`" in finding.message
    assert [text.splitlines()[label.span.line - 1].strip() for label in finding.labels] == [
        ":param mask: tensor, shape: (batch_size, heads, q_len, k_len)"
    ]


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD701", "SD702") == []


def test_what_a_caller_contradicts_is_told_once() -> None:
    assert found(HEAD + CALLED, "SD701") == expected(HEAD + CALLED)


@pytest.mark.parametrize("name", LOOSE)
def test_what_is_written_loosely_is_a_note(name: str) -> None:
    findings = found(HEAD + LOOSE[name], "SD701", "SD702")
    assert findings
    assert all(f.note for f in findings)


def test_an_explicit_line_is_held_to_its_sizes() -> None:
    text = """
import torch


def scores(q, k):
    n, t, d = q.shape
    n, s, d = k.shape
    out = q @ k.transpose(1, 2)
    # shapedoc: out (n, d, s)
    return out
"""
    assert [(f.span.line, f.severity) for f in lint(text, "SD701")] == [(9, "warning")]


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a comment with an axis too many"], "SD701") + "\n" == MESSAGE


MESSAGE = """\
warning[SD701] stated-shape-disagrees: a comment says that `pooled` is (B, T, hidden), it has another number of axes: (B, hidden)
  --> model.py:15:40
   |
15 |         pooled = states.mean(dim=1)  # (B, T, hidden)  # <- SD701
   |                                        ^^^^^^^^^^^^^^ pooled is (B, hidden), should be (B, T, hidden)
   |                  ------------------ pooled is (B, hidden)
   = why: a stated shape is what the next reader builds on; one of the two is wrong
   = help: write (B, hidden) here, or mend the code
   = more: shapedoc explain SD701
"""


TRIED = """
def scores(q, k):
    return q @ k.transpose(-2, -1)  # (B, h, T, T)

scores(torch.randn(3, 5), torch.randn(3, 5))
"""


def test_a_comment_that_only_one_call_contradicts_is_a_note() -> None:
    assert [f.note for f in found(HEAD + TRIED, "SD701")] == [True]


def test_what_follows_from_a_drift_is_told_with_it() -> None:
    text = full_text(HEAD + WRONG["a comment, and another of what is made of the same"], "SD701")
    assert "stated wrongly as well, for the same reason: line 10 (`second`)" in text
    assert "--------- second is (B, D)\n" in text


RETURNED = """
def attend(query, memory):
    B, T, D = memory.shape
    scores = torch.bmm(query.unsqueeze(1), memory.transpose(1, 2))
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights, memory), weights


class Step(nn.Module):
    def forward(self, state, memory):
        batch, length, width = memory.shape
        context, weights = attend(state, memory)  # weights: (batch, length)
        return weights
"""


def test_where_another_function_returns_it_is_shown() -> None:
    assert "return torch.bmm(weights, memory), weights" in full_text(HEAD + RETURNED, "SD701")


def test_the_axes_of_what_was_flattened_are_a_note() -> None:
    text = f"""{HEAD}
def places(rows, columns):
    marks = torch.stack(
        grid(torch.arange(rows), torch.arange(columns))
    ).flatten(1)  # (2, H, W)  # <- note SD701
    return marks[:, :, None] - marks[:, None, :]  # (2, H*W, H*W)
"""
    assert found(text, "SD701") == expected(text)


def test_the_same_elements_grouped_otherwise_are_a_note() -> None:
    text = f"""{HEAD}
class Kernel(nn.Module):
    def __init__(self, width, heads, size):
        super().__init__()
        self.heads, self.size = heads, size
        self.map, self.rnn = nn.Linear(width, heads * size), nn.GRU(width, width)

    def forward(self, x):
        B, T, width = x.shape
        H, K = self.heads, self.size
        taps = self.map(x).view(B, T, H, K)  # (B, T, H*K)  # <- note SD701
        flat = x.flatten(1)  # (B, T, width)  # <- note SD701
        first = x[:, :1].transpose(0, 1)  # (B, width)  # <- note SD701
        turned = x.transpose(1, 2).flatten(1)  # (B, T, width)  # <- SD701
        single = x.unsqueeze(2)  # (B, T, width)  # <- SD701
        rows = self.map(x.view(-1, width))  # (B, T, d_out)  # <- note SD701
        pooled = self.map(x.mean(1))  # (B, T, d_out)  # <- SD701
        return taps, flat, first, turned, single, rows, pooled
"""
    assert found(text, "SD701") == expected(text)
