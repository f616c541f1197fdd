"""SD301 and SD302: the state that an attention queries, before its step or after it."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


"""

WRONG = {
    "Bahdanau whose first context is zeros, read out with the state that asked": """
class Writer(nn.Module):
    # Bahdanau et al. (2015)
    def __init__(self, e, h):
        super().__init__()
        self.cell, self.out = nn.GRUCell(e + h, h), nn.Linear(2 * h, e)
        self.w, self.u, self.v = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)

    def read(self, s, notes):
        e = self.v(torch.tanh(self.w(s).unsqueeze(1) + self.u(notes)))
        return (e.softmax(1) * notes).sum(1)

    def forward(self, x, s, notes):
        seen, out = torch.zeros_like(s), []
        for t in range(x.size(0)):
            s = self.cell(torch.cat([x[t], seen], 1), s)
            seen = self.read(s, notes)  # <- SD301
            out.append(self.out(torch.cat([s, seen], 1)))
        return torch.stack(out)

Writer(3, 7)(torch.randn(4, 2, 3), torch.zeros(2, 7), torch.randn(2, 5, 7))
""",
    "Bahdanau on the new state": """
class BahdanauDecoder(nn.Module):
    def __init__(self, vocab, emb, h):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(vocab, emb), nn.GRU(emb, h, batch_first=True)
        self.w, self.u, self.v, self.out = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1), nn.Linear(2 * h, vocab)

    def attention(self, query, keys):
        scores = self.v(torch.tanh(self.w(query).unsqueeze(1) + self.u(keys)))
        weights = F.softmax(scores, dim=1)
        return (weights * keys).sum(dim=1)

    def forward(self, token, hidden, keys):
        output, hidden = self.rnn(self.embed(token).unsqueeze(1), hidden)
        context = self.attention(hidden[-1], keys)  # <- SD301
        return self.out(torch.cat([output.squeeze(1), context], dim=-1)), hidden

BahdanauDecoder(11, 5, 7)(torch.zeros(2, dtype=torch.long), torch.zeros(1, 2, 7), torch.randn(2, 3, 7))
""",
    "Bahdanau in a comment, in place, in a loop": """
class Decoder(nn.Module):
    # Bahdanau et al. (2015)
    def __init__(self, emb, h):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(emb, h), nn.Linear(2 * h, emb)
        self.w, self.u, self.v = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)

    def forward(self, x, h, c, enc):
        steps = []
        for t in range(x.size(0)):
            h, c = self.cell(x[t], (h, c))
            e = self.v(torch.tanh(self.w(h).unsqueeze(0) + self.u(enc)))  # <- SD301
            a = torch.softmax(e, dim=0)
            steps.append(self.out(torch.cat([h, (a * enc).sum(0)], 1)))
        return torch.stack(steps)

zero = torch.zeros(2, 7)
Decoder(5, 7)(torch.randn(4, 2, 5), zero, zero, torch.randn(3, 2, 7))
""",
    "an old variable after the cell": """
class Decoder(nn.Module):
    def __init__(self, vocab, emb, h):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(vocab, emb), nn.LSTM(emb, h), nn.Linear(2 * h, vocab)

    def forward(self, tokens, state, enc):
        outs = []
        for t in range(tokens.size(1)):
            y, new = self.rnn(self.embed(tokens[:, t]).unsqueeze(0), state)
            q = state[0][-1].unsqueeze(1)
            w = torch.softmax(torch.bmm(q, enc.transpose(1, 2)), -1)  # <- SD302
            c = torch.bmm(w, enc).squeeze(1)
            outs.append(self.out(torch.cat([y.squeeze(0), c], -1)))
            state = new
        return torch.stack(outs, 1)

zero = torch.zeros(1, 2, 7)
Decoder(11, 5, 7)(torch.zeros(2, 4, dtype=torch.long), (zero, zero), torch.randn(2, 3, 7))
""",
    "Luong before the cell": """
class Dot(nn.Module):
    def forward(self, query, keys):
        weights = torch.einsum("bh,bth->bt", query, keys).softmax(dim=-1)
        return torch.einsum("bt,bth->bh", weights, keys)


class LuongDecoder(nn.Module):
    def __init__(self, emb, h):
        super().__init__()
        self.attend, self.cell, self.out = Dot(), nn.GRUCell(emb, h), nn.Linear(2 * h, emb)

    def forward(self, x, state, keys):
        context = self.attend(state, keys)  # <- SD302
        state = self.cell(x, state)
        return torch.tanh(self.out(torch.cat((context, state), dim=1))), state


decoder, state = LuongDecoder(5, 7), torch.zeros(2, 7)
for step in range(3):
    y, state = decoder(torch.randn(2, 5), state, torch.randn(2, 4, 7))
""",
}

RIGHT = {
    "a single step that is handed the context of the step before": """
class Bahdanau(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.w, self.v = nn.Linear(h, h), nn.Linear(h, 1)

    def forward(self, s, notes):
        return self.v(torch.tanh(self.w(s).unsqueeze(1) + notes)).squeeze(-1)


class Step(nn.Module):
    def __init__(self, cell, scorer):
        super().__init__()
        self.cell, self.scorer = cell, scorer

    def forward(self, x, seen, s, notes):
        s = self.cell(torch.cat((x, seen), -1), s)
        weights = F.softmax(self.scorer(s, notes), dim=-1)
        return s, torch.bmm(weights.unsqueeze(1), notes).squeeze(1)


def test_a_step():
    x, s, seen, notes = torch.randn(2, 7), torch.zeros(2, 7), torch.zeros(2, 7), torch.randn(2, 5, 7)
    s, seen = Step(nn.GRUCell(14, 7), Bahdanau(7))(x, seen, s, notes)
    assert seen.shape == (2, 7)
""",
    "Bahdanau turned round, the first context made before the loop": """
class Writer(nn.Module):
    # Bahdanau et al. (2015)
    def __init__(self, e, h):
        super().__init__()
        self.cell, self.out = nn.GRUCell(e + h, h), nn.Linear(2 * h, e)
        self.w, self.u, self.v = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)

    def read(self, s, notes):
        e = self.v(torch.tanh(self.w(s).unsqueeze(1) + self.u(notes)))
        return (e.softmax(1) * notes).sum(1)

    def forward(self, x, s, notes):
        seen, out = self.read(s, notes), []
        for t in range(x.size(0)):
            s = self.cell(torch.cat([x[t], seen], 1), s)
            out.append(self.out(torch.cat([s, seen], 1)))
            seen = self.read(s, notes)
        return torch.stack(out)

Writer(3, 7)(torch.randn(4, 2, 3), torch.zeros(2, 7), torch.randn(2, 5, 7))
""",
    "Bahdanau, rotated": '''
class BahdanauRotated(nn.Module):
    """Bahdanau attention, rotated: the context is computed for the next step."""
    def __init__(self, vocab, emb, h):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.wa, self.ua, self.va = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)
        self.cell = nn.GRUCell(emb + h, h)
        self.out = nn.Linear(2 * h, vocab)

    def attend(self, s, enc):
        w = F.softmax(self.va(torch.tanh(self.wa(s).unsqueeze(1) + self.ua(enc))), dim=1)
        return (w * enc).sum(1)

    def forward(self, tokens, s, enc):
        c = self.attend(s, enc)
        outs = []
        for t in range(tokens.size(1)):
            s = self.cell(torch.cat([self.embed(tokens[:, t]), c], -1), s)
            c = self.attend(s, enc)
            outs.append(self.out(torch.cat([s, c], -1)))
        return torch.stack(outs, 1)

BahdanauRotated(11, 5, 7)(torch.zeros(2, 4, dtype=torch.long), torch.zeros(2, 7), torch.randn(2, 3, 7))
''',
    "Bahdanau, one step a call": '''
class BahdanauStep(nn.Module):
    """Bahdanau et al., 2015; one step, batch first GRU with layers."""
    def __init__(self, vocab, emb, h, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.wa, self.ua, self.va = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)
        self.rnn = nn.GRU(emb + h, h, layers, batch_first=True)
        self.out = nn.Linear(2 * h + emb, vocab)

    def forward(self, token, hidden, enc):
        query = hidden[-1].unsqueeze(1)
        e = self.va(torch.tanh(self.wa(query) + self.ua(enc))).squeeze(-1)
        a = torch.softmax(e, -1)
        c = torch.bmm(a.unsqueeze(1), enc)
        x = self.embed(token).unsqueeze(1)
        o, hidden = self.rnn(torch.cat([x, c], -1), hidden)
        return self.out(torch.cat([o, c, x], -1).squeeze(1)), hidden

step, hidden = BahdanauStep(11, 5, 7), torch.zeros(2, 2, 7)
for t in range(4):
    scores, hidden = step(torch.zeros(2, dtype=torch.long), hidden, torch.randn(2, 3, 7))
''',
    "Luong with input feeding": '''
class LuongInputFeeding(nn.Module):
    """Luong et al., 2015, with input feeding."""
    def __init__(self, vocab, emb, h):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.cell = nn.LSTMCell(emb + h, h)
        self.w = nn.Linear(2 * h, h)
        self.out = nn.Linear(h, vocab)

    def forward(self, tokens, state, enc):
        fed = torch.zeros_like(state[0])
        outs = []
        for t in range(tokens.shape[1]):
            state = self.cell(torch.cat([self.embed(tokens[:, t]), fed], 1), state)
            s = torch.einsum("bh,bth->bt", state[0], enc)
            a = s.softmax(-1)
            c = torch.einsum("bt,bth->bh", a, enc)
            fed = torch.tanh(self.w(torch.cat([c, state[0]], 1)))
            outs.append(self.out(fed))
        return torch.stack(outs, 1)

self.w, self.u, self.v = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)
self.cell = nn.GRUCell(emb, h)
''',
    "dot attention that feeds the next step": '''
class Las(nn.Module):
    """dot attention with last state feeding the cell (listen, attend and spell)"""
    def __init__(self, vocab, emb, h):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.c1, self.c2 = nn.LSTMCell(emb + h, h), nn.LSTMCell(h, h)
        self.out = nn.Linear(2 * h, vocab)

    def forward(self, tokens, enc):
        B = tokens.size(0)
        s1 = s2 = (enc.new_zeros(B, enc.size(2)), enc.new_zeros(B, enc.size(2)))
        c = enc[:, 0]
        outs = []
        for t in range(tokens.size(1)):
            s1 = self.c1(torch.cat([self.embed(tokens[:, t]), c], 1), s1)
            s2 = self.c2(s1[0], s2)
            a = torch.softmax(torch.bmm(enc, s2[0].unsqueeze(2)).squeeze(2), 1)
            c = torch.bmm(a.unsqueeze(1), enc).squeeze(1)
            outs.append(self.out(torch.cat([s2[0], c], 1)))
        return torch.stack(outs, 1)

Las(11, 5, 7)(torch.zeros(2, 4, dtype=torch.long), torch.randn(2, 3, 7))
''',
    "between two cells": '''
class Tacotron(nn.Module):
    """Bahdanau's additive score between two cells"""
    def __init__(self, emb, h):
        super().__init__()
        self.a, self.d = nn.LSTMCell(emb + h, h), nn.LSTMCell(2 * h, h)
        self.wa, self.ua, self.va = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)

    def forward(self, frames, enc, sa, sd, c):
        outs = []
        for x in frames:
            sa = self.a(torch.cat([x, c], 1), sa)
            w = F.softmax(self.va(torch.tanh(self.wa(sa[0]).unsqueeze(1) + self.ua(enc))), dim=1)
            c = (w * enc).sum(1)
            sd = self.d(torch.cat([sa[0], c], 1), sd)
            outs.append(torch.cat([sd[0], c], 1))
        return torch.stack(outs)

zero = torch.zeros(2, 7)
Tacotron(5, 7)(torch.randn(4, 2, 5), torch.randn(2, 3, 7), (zero, zero), (zero, zero), zero)
''',
    "additive on the new state, and nothing is claimed": """
class Decoder(nn.Module):
    def __init__(self, emb, h):
        super().__init__()
        self.w, self.u, self.v, self.cell = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1), nn.GRUCell(emb, h)

    def forward(self, x, s, enc):
        s = self.cell(x, s)
        a = torch.softmax(self.v(torch.tanh(self.w(s).unsqueeze(1) + self.u(enc))), 1)
        return torch.cat([s, (a * enc).sum(1)], 1), s

Decoder(5, 7)(torch.randn(2, 5), torch.zeros(2, 7), torch.randn(2, 3, 7))
""",
    "a step that is given its last context": """
class BahdanauDecoder(nn.Module):
    def __init__(self, emb, h):
        super().__init__()
        self.w, self.u, self.v = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)
        self.cell = nn.GRUCell(emb + h, h)

    def forward(self, x, context, s, enc):
        s = self.cell(torch.cat([x, context], 1), s)
        a = torch.softmax(self.v(torch.tanh(self.w(s).unsqueeze(1) + self.u(enc))), 1)
        return torch.cat([s, (a * enc).sum(1)], 1), s
""",
    "Luong over all outputs at once": '''
class Decoder(nn.Module):
    """Luong."""

    def __init__(self, emb, h):
        super().__init__()
        self.rnn, self.out = nn.LSTM(emb, h, batch_first=True), nn.Linear(2 * h, h)

    def forward(self, x, state, enc):
        y, state = self.rnn(x, state)
        c = torch.bmm(torch.bmm(y, enc.transpose(1, 2)).softmax(-1), enc)
        return torch.tanh(self.out(torch.cat([c, y], -1))), state

zero = torch.zeros(1, 2, 7)
Decoder(5, 7)(torch.randn(2, 4, 5), (zero, zero), torch.randn(2, 3, 7))
''',
    "an encoder's last state pools its own outputs": """
class Classifier(nn.Module):
    def __init__(self, emb, h):
        super().__init__()
        self.rnn, self.out = nn.GRU(emb, h, batch_first=True), nn.Linear(2 * h, 3)

    def forward(self, x):
        y, h = self.rnn(x)
        a = torch.bmm(y, h[-1].unsqueeze(2)).squeeze(2).softmax(1)
        return self.out(torch.cat([h[-1], torch.bmm(a.unsqueeze(1), y).squeeze(1)], 1))

Classifier(5, 7)(torch.randn(2, 4, 5))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD301", "SD302") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD301", "SD302") == []


@pytest.mark.parametrize("joined", ["torch.cat([x[t], seen], 1)", "self.join(torch.cat([x[t], seen], 1))"])
def test_a_mixture_that_says_nothing_else_is_a_note(joined: str) -> None:
    key = "Bahdanau whose first context is zeros, read out with the state that asked"
    text = WRONG[key].replace("    # Bahdanau et al. (2015)\n", "").replace("SD301", "note SD308")
    text = text.replace("torch.cat([x[t], seen], 1)", joined).replace(
        "self.w,", "self.join = nn.Linear(e + h, e + h)\n        self.w,"
    )
    assert found(HEAD + text, "SD301", "SD302", "SD308") == expected(HEAD + text) != []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["Luong before the cell"], "SD301", "SD302") + "\n" == MESSAGE


MESSAGE = """\
error[SD302] multiplicative-attention-on-old-state: multiplicative attention queries state, the old state s_(t\
-1), and its context is joined with s_t
  --> model.py:19:19
   |
 9 |         weights = torch.einsum("bh,bth->bt", query, keys).softmax(dim=-1)
   |                   --------------------------------------- the score is made here
19 |         context = self.attend(state, keys)  # <- SD302
   |                   ^^^^^^^^^^^^^^^^^^^^^^^^ state is s_(t-1), should be s_t
20 |         state = self.cell(x, state)
   |                 ------------------- the same state goes into the cell here, which returns s_t
21 |         return torch.tanh(self.out(torch.cat((context, state), dim=1))), state
   |                                    ---------------------------------- the context is joined with s_t here
26 |     y, state = decoder(torch.randn(2, 5), state, torch.randn(2, 4, 7))
   |                ------------------------------------------------------- in this call of `LuongDecoder.forward`
   = why: in Luong's decoder the context is made with s_t and joined with s_t: h~_t = tanh(W_c [c_t; s_t]). Wi\
th s_(t-1) the weights are one step late
   = note: the context goes into no cell, as it would in Bahdanau's decoder
   = help: attend after the cell, with `state`
   = more: shapedoc explain SD302
"""
