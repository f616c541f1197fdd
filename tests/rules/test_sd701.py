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
    "a step of what another comment states": """
class Decoder(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.emb = nn.Embedding(words, d)

    def forward(self, tgt, cell, state):
        if isinstance(tgt, tuple):
            tgt = tgt[0]
        emb_tgt = self.emb(tgt)
        # |emb_tgt| = (batch_size, length, word_vec_dim)
        for t in range(3):
            emb_t = emb_tgt[:, t, :]
            # |emb_t| = (batch_size, 1, word_vec_dim)  # <- SD701
            state = cell(emb_t, state)
        return state
""",
    "no fewer axes than one operand certainly has": """
class Score(nn.Module):
    def __init__(self, d_enc, d_dec, d_att):
        super().__init__()
        self.enc, self.dec, self.out = nn.Linear(d_enc, d_att), nn.Linear(d_dec, d_att), nn.Linear(d_att, 1)
        self.d_att, self.made = d_att, None

    def forward(self, states, lengths, state, batch):
        if self.made is None:
            self.made = self.enc(states)
        if state is None:
            state = states.new_zeros(batch, self.d_att)
        tiled = self.dec(state).view(batch, 1, self.d_att)

        # dot with the vector
        # utt x frame x att_dim -> utt x frame  # <- SD701
        e = self.out(torch.tanh(self.made + tiled))

        return torch.softmax(e, dim=1)
""",
    "lengths that end in a capital": """
class GlobalAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.linear_in = nn.Linear(dim, dim, bias=False)

    def forward(self, input, context):
        '''
        input: batch x dim
        context: batch x sourceL x dim
        '''
        target = self.linear_in(input).unsqueeze(2)  # batch x dim x 1
        attn = torch.bmm(context, target)  # batch x sourceL  # <- SD701
        return attn.softmax(-1)
""",
    "an arrow above several lines that turn their axes": """
class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        B, L, D = x.size()
        # (B, L, D) -> (B, L, H, D/H)
        query = self.q(x).view(B, -1, self.heads, self.size)
        key = self.k(x).view(B, -1, self.heads, self.size)

        # (B, L, H, D/H) -> (B, L, H, D/H)  # <- SD701
        query = query.transpose(1, 2)
        key = key.transpose(1, 2)
        return query @ key.transpose(2, 3)
""",
    "an element of each row, whose axis stays": """
def chosen(model, words):
    found = F.log_softmax(model(words), dim=-1)  # [B, L, V]
    words = words.long()  # [B, L]
    found = found.gather(dim=-1, index=words.unsqueeze(-1))  # [B, L]  # <- SD701
    return found
""",
    "a step that is put where a matrix is": """
class Writer(nn.Module):
    def __init__(self, write, words):
        super().__init__()
        self.write = write
        self.words = words

    def forward(self, states):
        B, T, width = states.shape
        found = torch.empty(B, self.words, T)
        for t in range(T):
            step = self.write(states[:, t])
            # step: (batch_size, 1, words)
            found[:, :, t] = step  # <- SD701
        return found
""",
    "an index of one axis for a matrix, by the docstring": """
def loss(logits, targets):
    \"\"\"
    Args:
        logits (Tensor): Scores of every word (batch_size * seq_len, vocab_size).
        targets (Tensor): The words that are right, shape (batch_size * seq_len,).
    \"\"\"
    return -F.log_softmax(logits, dim=-1).gather(dim=-1, index=targets)  # <- SD701
""",
    "every other one, and the number of all": """
class Positions(nn.Module):
    def __init__(self, steps, width):
        super().__init__()
        even = torch.arange(0, width, 2)
        rates = torch.exp(-9.2 / width * even)  # (width,)  # <- SD701
        self.angles = torch.arange(steps).unsqueeze(1) * rates
""",
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
