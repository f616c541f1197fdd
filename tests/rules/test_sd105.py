"""SD105: tensors with another number of axes."""

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
    "an axis too many, and sizes of the driver's that do not fit": """
class Score(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.one, self.two, self.out = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, query, keys):
        query = query[:, :1, :].repeat(1, keys.size(1), 1)
        weights = F.softmax(self.out(torch.tanh(self.one(query) + self.two(keys))).unsqueeze(1), dim=-1)
        return torch.bmm(weights, keys)  # <- SD105


Score(4)(torch.randn(2, 1, 8), torch.randn(2, 5, 8))
""",
    "bmm of a query without its step": """
class Dot(nn.Module):
    def forward(self, query, memory):
        n, t, d = memory.shape
        n, d = query.shape
        return torch.bmm(query, memory.transpose(1, 2))  # <- SD105
""",
    "bmm of heads": """
def heads(q, k):
    n, h, t, d = q.shape
    return torch.bmm(q, k.transpose(2, 3))  # <- SD105
""",
    "three names for four axes": """
class Patches(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 16, 16)

    def forward(self, image):
        x = self.conv(image)
        n, t, d = x.shape  # <- SD105
        return x.view(n, t * d)

Patches(8)(torch.randn(2, 3, 32, 32))
""",
    "permute of three axes with four names": """
class Rnn(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.GRU(width, width)

    def forward(self, x):
        t, n, d = x.shape
        out, _ = self.rnn(x)
        return out.permute(1, 0, 2, 3)  # <- SD105
""",
    "an index too many": """
def last(memory):
    n, t, d = memory.shape
    pooled = memory.mean(dim=1)
    return pooled[:, -1, :]  # <- SD105
""",
    "an axis with a name at either end": """
class Reader(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.embed, self.d = nn.Embedding(words, d), d

    def forward(self, words):
        n = words.size(0)
        x = self.embed(words)
        x = x[torch.arange(n)]
        return words.new_zeros(3).index_select(0, x.argmax(-1).expand(n, 2))  # <- SD105
""",
    "a step for a module that takes sequences": """
class Writer(nn.Module):
    def __init__(self, vocab, width, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, hidden, batch_first=True)
        self.hidden = hidden

    def forward(self, token):
        n = token.size(0)
        x = self.embed(token)
        return self.rnn(x, torch.zeros(1, n, self.hidden))  # <- SD105

Writer(20, 8, 6)(torch.zeros(4, dtype=torch.long))
""",
    "a step that the loop takes, not its caller": """
class Writer(nn.Module):
    def __init__(self, vocab, width, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, hidden, batch_first=True)

    def forward(self, token, state):
        return self.rnn(self.embed(token), state)


class Loop(nn.Module):
    def __init__(self, vocab, width, hidden):
        super().__init__()
        self.writer = Writer(vocab, width, hidden)

    def forward(self, tokens, state):
        for t in range(tokens.size(1)):
            out, state = self.writer(tokens[:, t], state)  # <- SD105
        return state


Loop(20, 8, 6)(torch.zeros(4, 7, dtype=torch.long), torch.zeros(1, 4, 6))
""",
    "einsum with a letter too few": """
def scores(q, k):
    n, h, t, d = q.shape
    return torch.einsum("btd,bsd->bts", q, k)  # <- SD105
""",
    "t of a batch": """
def gram(x):
    n, t, d = x.shape
    return x @ x.t()  # <- SD105
""",
    "a token that is fed back with an axis more": """
class Decoder(nn.Module):
    def __init__(self, vocab, d, cell):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.cell = cell
        self.out = nn.Linear(d, vocab)

    def step(self, token, state):
        output, state = self.cell(self.embed(token), state)
        n, t = token.size(0), token.size(1)
        return self.out(output.reshape(-1, 16)).view(n, t, -1), state

    def forward(self, memory, steps):
        n = memory.size(0)
        token, state = torch.zeros(n, 1, dtype=torch.long), None
        for _ in range(steps):
            logits, state = self.step(token, state)
            token = logits.topk(1)[1]  # <- SD105
        return token
""",
    "a step that leaves the sequence it started as": """
class Decoder(nn.Module):
    def __init__(self, vocab, d, cell):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.cell = cell
        self.out = nn.Linear(d, vocab)

    def forward(self, memory, steps):
        n = memory.size(0)
        token, state = torch.zeros(n, dtype=torch.long), None
        for _ in range(steps):
            output, state = self.cell(self.embed(token), state)
            logits = self.out(output.reshape(-1, 16))
            token = logits.argmax(-1, keepdim=True)  # <- SD105
        return token
""",
    "a cell that is fed a step with its sequence, beside features of another width": """
class Captions(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, 512)
        self.gate = nn.Linear(512, width)
        self.cell = nn.LSTMCell(512 + width, 512)

    def forward(self, beam, h, c):
        words = torch.zeros(beam, 1, dtype=torch.long)
        joined = torch.cat((self.embed(words), self.gate(h)), dim=1)
        return self.cell(joined, (h, c))  # <- SD105
""",
    "rows picked by a column that was sorted": """
def by_length(lengths, images):
    n, one = lengths.shape
    lengths = lengths.view(n, 1)
    lengths, order = lengths.sort(dim=0, descending=True)
    images = images[order]  # <- SD105
    return images
""",
    "a target's step without its axis, fed back": """
class Decoder(nn.Module):
    def __init__(self, vocab, d, cell):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.cell = cell
        self.out = nn.Linear(d, vocab)

    def forward(self, memory, steps, target=None):
        n = memory.size(0)
        token, state = torch.zeros(n, 1, dtype=torch.long), None
        for i in range(steps):
            output, state = self.cell(self.embed(token), state)
            if target is not None:
                token = target[:, i]  # <- SD105
            else:
                token = self.out(output.reshape(n, 1, 16)).topk(1)[1].squeeze(-1)
        return token
""",
    "tokens that are scattered without their axis, where an option asks for it": """
def constrained(logits, tokens, options=None):
    if options is None:
        options = {}
    n, vocab = logits.shape
    n, t = tokens.shape
    if options.get("once", 0):
        logits.scatter_(1, tokens[:, 0], float("-inf"))  # <- SD105
    return logits
""",
}

WRONG |= {
    "three names for four results": """
class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.cell = nn.GRUCell(d, d)

    def step(self, x, state, memory):
        state = self.cell(x, state)
        weights = torch.softmax(memory @ state.unsqueeze(2), dim=1)
        return (weights * memory).sum(1), state, weights, x

    def sample(self, x, state, memory):
        context, state, weights = self.step(x, state, memory)  # <- SD105
        return context
""",
    "the state of an LSTM in two names": """
class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.run = nn.LSTM(d, d)

    def forward(self, words):
        notes, hidden, memory = self.run(words)  # <- SD105
        return notes, hidden
""",
    "two names for one tensor": """
class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.inner = nn.TransformerEncoderLayer(d, 2)

    def forward(self, words):
        T, B, d = words.shape
        out, weights = self.inner(words)  # <- SD105
        return out
""",
}

RIGHT = {
    "as many names as results, whatever the flag": """
class Attention(nn.Module):
    def forward(self, query, memory, weighed=False):
        weights = torch.softmax(query @ memory.transpose(1, 2), dim=-1)
        if weighed:
            return weights @ memory, weights
        return weights @ memory, weights, query

def use(attention: Attention, query, memory):
    context, weights = Attention()(query, memory, weighed=True)
    context, weights, query = Attention()(query, memory)
    context, *others = Attention()(query, memory)
    return context
""",
    "a module whose forward is another one": """
class Model(nn.Module):
    def __init__(self, d, forward):
        super().__init__()
        self.inner = nn.TransformerEncoderLayer(d, 2)
        self.inner.self_attn.forward = forward

    def forward(self, words):
        T, B, d = words.shape
        out, weights = self.inner(words)
        return out
""",
    "a call that is tried": """
def attend(module: nn.MultiheadAttention, query):
    module = nn.MultiheadAttention(8, 2)
    try:
        out, weights, extra = module(query, query, query)
    except ValueError:
        out, weights = module(query, query, query)
    return out
""",
    "the rows of a mapped table": """
def gates(x, d):
    first, second = nn.Linear(d, d)(torch.randn(2, 5, d))
    return first + second
""",
    "what has two ranks, which a test tells apart": """
def enlarge(info, beams):
    bsz = info.shape[0]; rest = info.shape[1:]
    if info.dim() == 3:
        return info.unsqueeze(1).repeat(1, beams, 1, 1).view(bsz * beams, *rest)
    return info.unsqueeze(1).repeat(1, beams, 1).view(bsz * beams, *rest)

class Core(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.k = nn.Linear(d, d)

    def forward(self, x, memory):
        B, T, _ = memory.size()
        return x + self.k(memory).view(B, T, -1).mean(1, keepdim=True)

class Decoder(nn.Module):
    def __init__(self, d, beams):
        super().__init__()
        self.core, self.beams = Core(d), beams

    def forward(self, x, memory, category):
        return self.core(x, enlarge(memory, self.beams)), enlarge(category, self.beams)
""",
    "what has two ranks, which a starred name tells apart": """
def enlarge(info, beams):
    bsz, *rest = info.shape
    if len(rest) == 2:
        return info.unsqueeze(1).repeat(1, beams, 1, 1).view(bsz * beams, *rest)
    return info.unsqueeze(1).repeat(1, beams, 1).view(bsz * beams, *rest)

class Core(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.k = nn.Linear(d, d)

    def forward(self, x, memory):
        B, T, _ = memory.size()
        return x + self.k(memory).view(B, T, -1).mean(1, keepdim=True)

class Decoder(nn.Module):
    def __init__(self, d, beams):
        super().__init__()
        self.core, self.beams = Core(d), beams

    def forward(self, x, memory, category):
        return self.core(x, enlarge(memory, self.beams)), enlarge(category, self.beams)
""",
    "room for a cache, of four sizes that an annotation counts": """
class Cache(nn.Module):
    def __init__(self, k_shape: tuple[int, int, int, int], dtype=None):
        super().__init__()
        self.register_buffer("k", torch.zeros(k_shape, dtype=dtype), persistent=False)
        self.room = k_shape[2]

    def forward(self, place, k):
        n = k.size(0)
        k = self.k[:n, ...].index_copy_(-2, place, k)
        return k[:, :, :7, :]
""",
    "lengths of who knows how many axes, sorted": """
def by_length(words, embedded):
    n = (words != 0).long().sum(dim=1)
    n, order = n.sort(descending=True)
    return embedded.index_select(dim=0, index=order).index_select(dim=0, index=order.argsort())
""",
    "matmul of any rank": """
def attend(q, k, v):
    return (q @ k.transpose(-2, -1)).softmax(-1) @ v

attend(torch.randn(2, 4, 5, 8), torch.randn(2, 4, 6, 8), torch.randn(2, 4, 6, 8))
attend(torch.randn(2, 5, 8), torch.randn(2, 6, 8), torch.randn(2, 6, 8))
""",
    "rank that a branch decides": """
def batched(x):
    if x.dim() == 2:
        x = x.unsqueeze(0)
    n, t, d = x.shape
    return torch.bmm(x, x.transpose(1, 2))

batched(torch.randn(5, 8))
batched(torch.randn(2, 5, 8))
""",
    "unpacking with a star": """
def merge(x):
    *lead, h, d = x.shape
    return x.reshape(*lead, h * d)

merge(torch.randn(2, 5, 4, 8))
merge(torch.randn(5, 4, 8))
""",
    "an unbatched sequence": """
rnn = nn.LSTM(8, 6)
out, (h, c) = rnn(torch.randn(5, 8))
t, d = out.shape
""",
    "NumPy steps": """
def step(state, memory):
    scores = memory @ state
    t, = scores.shape
    return np.exp(scores) / np.exp(scores).sum()

step(np.zeros(4), np.zeros((7, 4)))
""",
    "rows of a batch": """
def each(batch):
    out = []
    for row in batch:
        t, d = row.shape
        out.append(row.mean(0))
    return torch.stack(out)

each(torch.randn(3, 5, 8))
""",
    "sizes by index": """
def sizes(x):
    n, t = x.shape[0], x.shape[1]
    n, t = x.shape[:2]
    return x.view(n * t, -1)

sizes(torch.randn(2, 5, 8))
""",
    "lengths that are sorted, seen from both ends": """
class Reader(nn.Module):
    def forward(self, words):
        words = clipped(words)
        lengths = (words != 0).long().sum(dim=1)
        lengths, order = lengths.sort(descending=True)
        return words.index_select(dim=0, index=order)
""",
    "one axis from an ellipsis": """
def last(x):
    return x[..., -1, :]

last(torch.randn(5, 8))
last(torch.randn(2, 5, 8))
""",
    "a token that is fed back as it was": """
class Decoder(nn.Module):
    def __init__(self, vocab, d, cell):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.cell = cell
        self.out = nn.Linear(d, vocab)

    def forward(self, memory, steps):
        n = memory.size(0)
        token, state = torch.zeros(n, 1, dtype=torch.long), None
        for _ in range(steps):
            output, state = self.cell(self.embed(token), state)
            token = self.out(output.reshape(n, 1, 16)).topk(1)[1].squeeze(-1)
        return token
""",
    "what is looked up is laid out anew": """
class Decoder(nn.Module):
    def __init__(self, vocab, d, cell):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.cell = cell
        self.out = nn.Linear(d, vocab)

    def forward(self, memory, steps):
        n = memory.size(0)
        token, state = torch.zeros(n, 1, dtype=torch.long), None
        for _ in range(steps):
            output, state = self.cell(self.embed(token).view(1, n, -1), state)
            token = self.out(output.reshape(-1, 16)).argmax(-1)
        return token
""",
    "rows picked by the places that were found": """
def chosen(kept, boxes):
    (n,) = kept.shape
    places = torch.nonzero(kept >= 0)
    return boxes[places]
""",
    "rows picked by a vector that was sorted": """
def by_length(lengths, images):
    n, one = lengths.shape
    lengths, order = lengths.view(n, 1).squeeze(1).sort(dim=0, descending=True)
    return images[order]
""",
    "a target's step with its axis, fed back": """
class Decoder(nn.Module):
    def __init__(self, vocab, d, cell):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.cell = cell
        self.out = nn.Linear(d, vocab)

    def forward(self, memory, steps, target=None):
        n = memory.size(0)
        token, state = torch.zeros(n, 1, dtype=torch.long), None
        for i in range(steps):
            output, state = self.cell(self.embed(token), state)
            if target is not None:
                token = target[:, i].unsqueeze(1)
            else:
                token = self.out(output.reshape(n, 1, 16)).topk(1)[1].squeeze(-1)
        return token
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD105", "SD107", "SD111") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD105", "SD107", "SD111") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["bmm of a query without its step"], "SD105") + "\n" == MESSAGE


MESSAGE = """\
error[SD105] wrong-rank: `bmm` needs 3 axes, `query` has 2
  --> model.py:11:26
   |
10 |         n, d = query.shape
   |         ------------------ its 2 axes are named here
11 |         return torch.bmm(query, memory.transpose(1, 2))  # <- SD105
   |                          ^^^^^ query is (n, d)
   = why: bmm multiplies one batch of matrices and broadcasts nothing: both are (b, n, m) and (b, m, p)
   = help: query.unsqueeze(1), or matmul, which broadcasts
   = more: shapedoc explain SD105
"""
