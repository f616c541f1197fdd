"""One fault is told once: by its rule, where it stands, and nothing that only follows from it."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from tests.rules.expectations import Found, expected

HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"

PROGRAMS = {
    "a module for the other layout, and a mean over the steps of what it gives": """\
class Coder(nn.Module):
    def __init__(self, vocab, width, heads, layers, latent, longest, pad=0):
        super().__init__()
        self.pad = pad
        self.embed = nn.Embedding(vocab, width, padding_idx=pad)
        self.place = nn.Parameter(torch.randn(1, longest, width))
        one = nn.TransformerEncoderLayer(width, heads)  # <- SD602
        self.encoder = nn.TransformerEncoder(one, layers)
        self.mean, self.spread = nn.Linear(width, latent), nn.Linear(width, latent)

    def forward(self, x):
        batch, steps = x.shape
        e = self.embed(x) + self.place[:, :steps]
        h = self.encoder(e)
        h = h.mean(dim=1)
        return self.mean(h), self.spread(h)
""",
    "a mask that meets the batch twice, and a softmax that names no axis": """\
from settings import placed

class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ask, self.v = nn.Linear(2 * d, d), nn.Parameter(torch.rand(d))

    def forward(self, state, memory, lengths=None):
        steps = memory.size(0)
        states = state.repeat(steps, 1, 1).transpose(0, 1)
        memory = memory.transpose(0, 1)  # [B*T*H]
        scores = self.score(states, memory)
        if lengths is not None:
            rows = []
            for i in range(lengths.size(0)):
                rows.append([0] * lengths[i].item() + [1] * (memory.size(1) - lengths[i].item()))
            padding = placed(torch.ByteTensor(rows).unsqueeze(1))  # [B,1,T]
            scores = scores.masked_fill(padding, -1e18)  # <- SD205
        return F.softmax(scores).unsqueeze(1)  # <- SD403

    def score(self, states, memory):
        energy = torch.tanh(self.ask(torch.cat([states, memory], 2)))  # [B*T*2H]->[B*T*H]
        energy = energy.transpose(2, 1)  # [B*H*T]
        v = self.v.repeat(memory.shape[0], 1).unsqueeze(1)  # [B*1*H]
        return torch.bmm(v, energy).squeeze(1)  # [B*T]
""",
    "a batch that is squeezed for the 1 that a comment says is there": """\
class Step(nn.Module):
    def __init__(self, d, words):
        super().__init__()
        self.rnn, self.out = nn.GRU(d, d, batch_first=True), nn.Linear(d, words)

    def forward(self, word, context, state):
        B, d = context.shape
        x = torch.cat((word.unsqueeze(0), context.unsqueeze(0)), 0).sum(0, keepdim=True)
        outputs, state = self.rnn(x.transpose(1, 0), state.unsqueeze(0))  # 1 x B x N, B x N
        return self.out(outputs.squeeze(0)), state  # <- SD206
""",
    "a mask on scores that do not fit": """\
def look(q, k, past):
    B, H, T, c = q.shape
    B, H, S, c = k.shape
    score = q @ k  # <- SD101
    score = score.masked_fill(torch.ones(T, S).tril() == 0, -1e9)
    return score.softmax(-1)
""",
    "what follows in one walk and is seen by itself in another": """\
class Grouped(nn.Module):
    def __init__(self, width, heads, groups):
        super().__init__()
        self.heads, self.groups, self.d = heads, groups, width // heads
        self.key = nn.Linear(width, groups * self.d)
        self.query = nn.Linear(width, width)

    def forward(self, x):
        N, L, _ = x.shape
        q = self.query(x).view(N, L, self.heads, self.d).transpose(1, 2)
        k = self.key(x).view(N, L, self.heads, self.d).transpose(1, 2)  # <- SD103
        k = k.repeat_interleave(self.heads // self.groups, dim=1)
        return (q @ k.transpose(-2, -1) / self.d**0.5).softmax(-1)


Grouped(64, 8, 2)(torch.randn(3, 5, 64))
""",
    "weights without an axis of queries": """\
class Score(nn.Module):
    def __init__(self, a, b, n):
        super().__init__()
        self.one, self.two, self.out = nn.Linear(a, n), nn.Linear(b, n), nn.Linear(n, 1)

    def forward(self, state, notes):
        w = torch.tanh(self.one(state).unsqueeze(1) + self.two(notes))
        w = F.softmax(self.out(w).squeeze(2), dim=1)
        return torch.bmm(w, notes)  # <- SD105


def read(score, state, text, table):
    notes = table(text)
    N, L = text.shape
    B, a = state.shape
    return score(state, notes)


read(Score(3, 4, 5), torch.randn(2, 3), torch.zeros(2, 7, dtype=torch.long), nn.Embedding(9, 4))
""",
    "a softmax over the heads, with a mask of keys": """\
def heads(q, k, v, real):
    N, H, L, c = q.shape
    N, H, M, c = k.shape
    s = q @ k.transpose(-2, -1) / math.sqrt(c)
    s = s.masked_fill(~real[:, None, None, :], -1e9)
    return s.softmax(dim=1) @ v  # <- SD401
""",
    "a softmax over one, with a mask of keys": """\
class Pool(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.score = nn.Linear(c, 1)

    def forward(self, notes, real):
        N, L, c = notes.shape
        s = self.score(notes).masked_fill(~real.unsqueeze(2), -1e9)
        w = torch.softmax(s, dim=-1)  # <- SD402
        return (w * notes).sum(1)
""",
    "a mask of three axes that a name was given": """\
def fused(q, k, v, real):
    N, H, L, c = q.shape
    N, H, M, c = k.shape
    N, M = real.shape
    hidden = real[:, None, :]  # <- SD112
    return F.scaled_dot_product_attention(q, k, v, attn_mask=hidden)
""",
    "parts of unequal rank, one of which is known by its use alone": """\
class Step(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        self.table, self.run = nn.Embedding(20, e), nn.GRU(e + h, h, batch_first=True)

    def forward(self, words, summary):
        N, h = summary.shape
        seen = self.table(words)
        return self.run(torch.cat([seen[:, 0:1, :], summary], dim=2))  # <- SD104
""",
    "halves of the state of either kind of cell": """\
class Read(nn.Module):
    def __init__(self, kind, e, h, n):
        super().__init__()
        self.kind = kind
        if kind == "LSTM":
            self.run = nn.LSTM(e, h, n, bidirectional=True)
        else:
            self.run = nn.GRU(e, h, n, bidirectional=True)

    def forward(self, x):
        out, last = self.run(x)
        if self.kind == "LSTM":
            return torch.cat(last[0].chunk(chunks=2, dim=0), dim=2)  # <- SD305
        return torch.cat(last.chunk(chunks=2, dim=0), dim=2)
""",
    "directions before layers": """\
class Read(nn.Module):
    def __init__(self, e, h, n):
        super().__init__()
        self.n, self.h = n, h
        self.run = nn.GRU(e, h, n, bidirectional=True)

    def forward(self, x):
        L, N, e = x.shape
        _, last = self.run(x)
        last = last.view(2, self.n, N, self.h)  # <- SD305
        return torch.cat([last[0], last[1]], dim=-1)
""",
    "a pair exchanged in the call of the decoder": """\
class Write(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        self.run = nn.LSTM(e, h)

    def forward(self, x, pair):
        return self.run(x, pair)[0]


class Both(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        self.read, self.write = nn.LSTM(e, h), Write(e, h)

    def forward(self, x, y):
        _, (one, two) = self.read(x)
        return self.write(y, (two, one))  # <- SD306
""",
    "the cell state mapped before it is multiplied": """\
class Ask(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        self.run, self.turn = nn.LSTMCell(e, h), nn.Linear(h, h)

    def forward(self, x, one, two, notes):
        one, two = self.run(x, (one, two))
        asked = self.turn(two).unsqueeze(2)  # <- SD306
        w = torch.bmm(notes, asked).squeeze(2).softmax(1)
        return torch.bmm(w.unsqueeze(1), notes).squeeze(1), one, two
""",
    "a step that gets the first state again": """\
class Step(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        self.run = nn.LSTMCell(e, h)

    def forward(self, x, one, two):
        return self.run(x, (one, two))


class Unroll(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        self.step = Step(e, h)

    def forward(self, xs, one, two):
        out = []
        for t in range(xs.size(0)):
            a, b = self.step(xs[t], one, two)  # <- SD303
            out.append(a)
        return torch.stack(out)
""",
    "one state laid out anew at each step": """\
class Unroll(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        self.run = nn.GRU(e, h, batch_first=True)

    def forward(self, xs, first):
        N, L, e = xs.shape
        out = []
        for t in range(L):
            o, new = self.run(xs[:, t : t + 1], first.unsqueeze(0))  # <- SD303
            out.append(o)
        return torch.cat(out, dim=1)
""",
    "a width that is divided before it meets the layer": """\
class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.both = heads, nn.Linear(width, 2 * width)

    def forward(self, x):
        N, L, c = x.shape
        part = c // self.heads
        q, k = self.both(x).chunk(2, dim=-1)
        q = q.view(N, L, self.heads, part).transpose(1, 2)
        k = k.view(N, L, self.heads, c).transpose(1, 2)  # <- SD103
        return q @ k.transpose(-2, -1) / math.sqrt(part)
""",
    "a sum of states without a nonlinearity, the batch without a name": """\
class Score(nn.Module):
    def __init__(self, a, b, n):
        super().__init__()
        self.one, self.two, self.out = nn.Linear(a, n), nn.Linear(b, n), nn.Linear(n, 1)

    def forward(self, state, notes):
        s = self.one(state).unsqueeze(1) + self.two(notes)  # <- SD304
        w = F.softmax(self.out(s).squeeze(2), dim=1)
        return torch.bmm(w.unsqueeze(1), notes).squeeze(1)


class Model(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        self.table, self.run, self.score = nn.Embedding(9, e), nn.GRU(e, h, batch_first=True), Score(h, h, 5)

    def forward(self, words):
        N, L = words.shape
        notes, last = self.run(self.table(words))
        return self.score(last[-1], notes)
""",
    "an axis too far, in a loop that goes on with it": """\
class Score(nn.Module):
    def __init__(self, a, b, n):
        super().__init__()
        self.one, self.two, self.out = nn.Linear(a, n), nn.Linear(b, n), nn.Linear(n, 1)

    def forward(self, state, notes):
        s = self.out(torch.tanh(self.one(state).unsqueeze(1) + self.two(notes))).squeeze(2)
        w = F.softmax(s, dim=2)  # <- SD111
        return torch.bmm(w.unsqueeze(1), notes).squeeze(1)


class Unroll(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        self.table, self.read, self.score = nn.Embedding(9, e), nn.GRU(e, h, batch_first=True), Score(h, h, 5)
        self.step = nn.GRUCell(h, h)

    def forward(self, words):
        N, L = words.shape
        notes, last = self.read(self.table(words))
        state = last[-1]
        for _ in range(L):
            state = self.step(self.score(state, notes), state)
        return state
""",
    "values of the asking sequence, in a call": """\
class Look(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b, self.v, self.c = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, c), c

    def forward(self, one, two, three):
        q, k, v = self.a(one), self.b(two), self.v(three)
        w = (q @ k.transpose(1, 2) / math.sqrt(self.c)).softmax(-1)
        return w @ v


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.own, self.other, self.norm = Look(c), Look(c), nn.LayerNorm(c)

    def forward(self, x, notes):
        (N, L, c), (N, M, c) = x.shape, notes.shape
        x = self.norm(x + self.own(x, x, x))
        return x + self.other(x, notes, x)  # <- SD408
""",
    "values of the asking sequence, through a matrix of heads": """\
class Heads(nn.Module):
    def __init__(self, n, c, d):
        super().__init__()
        self.a = nn.Parameter(torch.randn(n, c, d))
        self.b = nn.Parameter(torch.randn(n, c, d))
        self.v = nn.Parameter(torch.randn(n, c, d))

    def forward(self, x, notes):
        q = torch.einsum("bic,hcd->bhid", x, self.a)
        k = torch.einsum("bjc,hcd->bhjd", notes, self.b)
        v = torch.einsum("bjc,hcd->bhjd", x, self.v)  # <- SD408
        w = (torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.size(-1))).softmax(-1)
        return torch.einsum("bhij,bhjd->bhid", w, v)
""",
    "weights times what is called the words to keep": """\
class Weigh(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.turn = nn.Linear(c, c)

    def forward(self, state, notes, keep):
        N, L, c = notes.shape
        w = torch.bmm(notes, self.turn(state).unsqueeze(2)).squeeze(2).softmax(-1)
        w = w * keep  # <- SD404
        return torch.bmm(w.unsqueeze(1), notes).squeeze(1)


def run(weigh, state, notes, words):
    N, L = words.shape
    return weigh(state, notes, words.ne(0))


run(Weigh(4), torch.randn(2, 4), torch.randn(2, 5, 4), torch.zeros(2, 5, dtype=torch.long))
""",
    "a stale query of a decoder that is fed what it said": """\
class Feed(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        self.run, self.join = nn.LSTMCell(e + h, h), nn.Linear(2 * h, h)

    def look(self, state, notes):
        w = torch.bmm(notes, state.unsqueeze(2)).squeeze(2).softmax(1)
        return torch.bmm(w.unsqueeze(1), notes).squeeze(1)

    def forward(self, xs, notes, one, two):
        said, out = torch.zeros_like(one), []
        for t in range(xs.size(0)):
            last = one
            one, two = self.run(torch.cat([xs[t], said], 1), (one, two))
            seen = self.look(last, notes)  # <- SD302
            said = torch.tanh(self.join(torch.cat([seen, one], 1)))
            out.append(said)
        return torch.stack(out)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_fault_is_told_once(name: str) -> None:
    text = HEAD + PROGRAMS[name]
    findings = analyse("model.py", text, Settings()).findings
    told = sorted(Found(f.span.line, f.code) for f in findings if f.severity != "note")
    assert told == expected(text)
