"""Faults as public code has them, where not all shapes are known: each program says what is found in it."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from tests.rules.expectations import Found, expected

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"

STEP_WITHOUT_STATE = """\
class Decoder(nn.Module):
    def __init__(self, words, d_embed, d):
        super().__init__()
        self.embedding = nn.Embedding(words, d_embed)
        self.gru = nn.GRU(d_embed + d, d, batch_first=True)
        self.W1, self.W2, self.V = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, 1)

    def forward(self, token, hidden, memory):
        query = torch.squeeze(hidden, 0).unsqueeze(1)
        weights = F.softmax(self.V(torch.tanh(self.W1(memory) + self.W2(query))), dim=1)
        context = (weights * memory).sum(1)
        x = torch.cat((torch.unsqueeze(context, 1), self.embedding(token)), 2)
        output, state = self.gru(x)  # <- SD303
        return output, state
"""

STEP_WITH_STATE = STEP_WITHOUT_STATE.replace("self.gru(x)  # <- SD303", "self.gru(x, hidden)")

SORTED_FOR_THE_SCORES = """\
import numpy as np


def attend(query, encoder_outputs, lengths):
    B, T, d = encoder_outputs.shape
    order = np.argsort(lengths).tolist()[::-1]
    keys = encoder_outputs[order, :, :]
    weights = F.softmax(torch.bmm(keys, query.unsqueeze(2)).squeeze(2), dim=1)
    return torch.bmm(weights.unsqueeze(1), encoder_outputs)  # <- SD309
"""

SORTED_ALTOGETHER = SORTED_FOR_THE_SCORES.replace("encoder_outputs)  # <- SD309", "keys)")

SCORE_KEY_BY_KEY = """\
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attn = nn.Linear(2 * d, d)
        self.v = nn.Parameter(torch.rand(d))

    def forward(self, hidden, memory):
        scores = torch.zeros(len(memory))
        for i in range(len(memory)):
            energy = self.attn(torch.cat((hidden, memory[i]), 0))  # <- SD304
            scores[i] = self.v.dot(energy)
        return F.softmax(scores, dim=0)
"""

SCORE_KEY_BY_KEY_BENT = SCORE_KEY_BY_KEY.replace("self.v.dot(energy)", "self.v.dot(torch.tanh(energy))").replace(
    "  # <- SD304", ""
)

MASK_WITH_AN_AXIS_TOO_MANY = """\
def weigh(scores, keep):
    B, T = scores.shape
    assert keep.shape == (B, T)
    mask = keep.unsqueeze(1) == 0
    scores = scores.masked_fill(mask, -1e9)  # <- SD205
    return F.softmax(scores, dim=-1)
"""

MASK_THAT_FITS = MASK_WITH_AN_AXIS_TOO_MANY.replace(".unsqueeze(1)", "").replace("  # <- SD205", "")

MASK_NOT_PASSED_ON = """\
class Dot(nn.Module):
    def forward(self, query, memory):
        weights = F.softmax(torch.bmm(memory, query.unsqueeze(2)).squeeze(2), dim=1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.cell = nn.GRUCell(d, d)
        self.attention = Dot()

    def forward(self, inputs, hidden, ctx, ctx_mask=None):  # <- SD503
        outputs = []
        for i in range(inputs.size(0)):
            hidden = self.cell(inputs[i], hidden)
            outputs.append(self.attention(hidden, ctx))
        return torch.stack(outputs)
"""

MASK_OF_SOMETHING_ELSE = MASK_NOT_PASSED_ON.replace("ctx_mask=None):  # <- SD503", "target_mask=None):")

STATE_OF_SEVERAL_LAYERS = """\
class Decoder(nn.Module):
    def __init__(self, d, num_layers):
        super().__init__()
        self.rnn = nn.GRU(2 * d, d, num_layers)
        self.query, self.key, self.energy = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, 1)

    def forward(self, x, memory, hidden):
        scores = self.energy(torch.tanh(self.query(hidden) + self.key(memory)))  # <- SD201
        weights = F.softmax(scores, dim=0)
        context = torch.bmm(weights.permute(1, 2, 0), memory.permute(1, 0, 2)).permute(1, 0, 2)
        return self.rnn(torch.cat((context, x.unsqueeze(0)), dim=2), hidden)
"""

STATE_OF_THE_LAST_LAYER = STATE_OF_SEVERAL_LAYERS.replace("self.query(hidden)", "self.query(hidden[-1:])").replace(
    "  # <- SD201", ""
)

STEPS_OF_A_SPLIT = '''\
def steps(embed, tokens, previous):
    """
    previous: (batch_size, d)
    """
    out = []
    for step in torch.split(embed(tokens), 1):
        step = torch.squeeze(step)  # <- SD206
        out.append(torch.cat((previous, step), dim=1))
    return out
'''

QUERY_AS_ONE_MORE_STEP = """\
class Attention(nn.Module):
    def __init__(self, d, score="dot"):
        super().__init__()
        self.score = score
        self.W = nn.Linear(d, d)
        self.v = nn.Parameter(torch.rand(1, d))

    def forward(self, state, memory):
        B, T, d = memory.size()
        if self.score == "dot":
            scores = memory.bmm(state.unsqueeze(2)).squeeze(2)
        elif self.score == "concat":
            mapped = torch.tanh(self.W(torch.cat((state.unsqueeze(1), memory), 1)))  # <- SD104
            scores = mapped.matmul(self.v.t()).squeeze(2)
        return F.softmax(scores, -1)
"""

A_SENTINEL_IS_ASKED = """\
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.W, self.U, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, 1)

    def forward(self, state, sentinel, memory):
        B, T, d = memory.size()
        candidates = torch.cat((sentinel.unsqueeze(1), memory), 1)
        scores = self.v(torch.tanh(self.W(candidates) + self.U(state).unsqueeze(1))).squeeze(2)
        return torch.bmm(F.softmax(scores, -1).unsqueeze(1), candidates)
"""

ONE_ROW_OF_A_TABLE = """\
class Positions(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(max_len, d))

    def forward(self, x):
        B, T, d = x.shape
        return x + self.table[T]  # <- SD207
"""

A_MASK_THAT_THE_CALLER_KEEPS = """\
class Attention(nn.Module):
    def forward(self, query, memory, mask=None):
        scores = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e10)
        return torch.softmax(scores, dim=1)


class Decoder(nn.Module):
    def __init__(self, d, pad_idx):
        super().__init__()
        self.pad_idx, self.cell, self.attention = pad_idx, nn.GRUCell(d, d), Attention()

    def forward(self, source, memory, inputs, state):
        mask = source != self.pad_idx
        outputs = []
        for t in range(inputs.size(1)):
            state = self.cell(inputs[:, t], state)
            weights = self.attention(state, memory)  # <- SD503
            outputs.append(torch.bmm(weights.unsqueeze(1), memory).squeeze(1))
        return torch.stack(outputs, 1)
"""

PROGRAMS = {
    name.lower(): text for name, text in list(globals().items()) if name.isupper() and name not in ("HEAD", "PROGRAMS")
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_only_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + PROGRAMS[name]
    findings = analyse("model.py", text, Settings()).findings
    assert sorted(Found(f.span.line, f.code) for f in findings if f.severity != "note") == expected(text)
