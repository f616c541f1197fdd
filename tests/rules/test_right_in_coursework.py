"""Right code as courses have it written: beams, readers, gradients, of kinds once told as wrong."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = (
    "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\n\n\n"
)

RIGHT = {
    "SD107: one example is decoded, and copied once for every hypothesis": """
class Search(nn.Module):
    def __init__(self, d_in, d_h):
        super().__init__()
        self.embed = nn.Embedding(100, d_in)
        self.lstm = nn.LSTM(d_in, d_h, batch_first=True)
        self.cell = nn.LSTMCell(d_in, d_h)
        self.key, self.query, self.v = nn.Linear(d_h, d_h), nn.Linear(d_h, d_h), nn.Linear(d_h, 1)

    def forward(self, tokens, width):
        memory, (h, c) = self.lstm(self.embed(tokens))
        batch = tokens.size(0)
        beams = [([1], h[-1], c[-1]) for _ in range(batch)]
        for step in range(20):
            word = self.embed(torch.tensor([words[-1] for words, _, _ in beams]))
            h = torch.cat([h for _, h, _ in beams], dim=0)
            c = torch.cat([c for _, _, c in beams], dim=0)
            memories = torch.cat([memory for _ in beams], dim=0)
            h, c = self.cell(word, (h, c))
            scores = self.v(torch.tanh(self.key(memories) + self.query(h).unsqueeze(1))).squeeze(-1)
            beams = self.best(beams, scores, h, c, width)
        return beams

    def best(self, beams, scores, h, c, width):
        found = []
        for i, (words, _, _) in enumerate(beams):
            for k in range(width):
                found.append((words + [k], h[i : i + 1], c[i : i + 1]))
        return found[:width]
""",
    "SD201, SD304: a comment on a mask that its sum, taken for lengths, speaks against": """
def masked_softmax(logits, mask, dim=-1):
    mask = mask.type(torch.float32)
    return F.softmax(mask * logits + (1 - mask) * -1e30, dim)


class Encoder(nn.Module):
    def __init__(self, d, d_h):
        super().__init__()
        self.rnn = nn.LSTM(d, d_h, batch_first=True, bidirectional=True)

    def forward(self, x, lengths):
        lengths, order = lengths.sort(0, descending=True)
        packed = pack_padded_sequence(x[order], lengths.cpu(), batch_first=True)
        states, _ = self.rnn(packed)
        states, _ = pad_packed_sequence(states, batch_first=True)
        _, back = order.sort(0)
        return states[back]


class Pointer(nn.Module):
    def __init__(self, d_h):
        super().__init__()
        self.start, self.end = nn.Linear(2 * d_h, 1), nn.Linear(2 * d_h, 1)
        self.encoder = Encoder(2 * d_h, d_h)

    def forward(self, states, mask):
        # states: (batch_size, seq_len, 2h)
        # mask: (batch_size, seq_len, 1)
        start = self.start(states)
        end = self.end(self.encoder(states, mask.sum(-1)))
        return masked_softmax(start.squeeze(2), mask), masked_softmax(end.squeeze(2), mask)
""",
    "SD102, SD201: a mask of queries and keys that have two names, and here are one sequence": """
class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.attend = Attend(cfg)

    def forward(self, x, attention_mask=None, source=None):
        '''
        Args:
            tokens: (N, L, D)
            attention_mask: (N, Lq, L)
        '''
        if source is not None:
            return self.attend(x, source, source, attention_mask)
        return self.attend(x, x, x, attention_mask)


class Attend(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads, self.width = cfg.heads, cfg.size // cfg.heads
        self.query, self.key, self.value = (nn.Linear(cfg.size, cfg.size) for _ in range(3))

    def split(self, x):
        shape = x.size()[:-1] + (self.heads, self.width)
        return x.view(*shape).permute(0, 2, 1, 3)

    def forward(self, query, key, value, attention_mask=None):
        '''
        Args:
            query: (N, Lq, D)
            key: (N, L, D)
            value: (N, L, D)
            attention_mask: (N, Lq, L)
        '''
        if attention_mask is not None:
            attention_mask = (1 - attention_mask.unsqueeze(1)) * -10000.0
        q, k, v = self.split(self.query(query)), self.split(self.key(key)), self.split(self.value(value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.width)
        if attention_mask is not None:
            scores = scores + attention_mask
        return torch.matmul(torch.softmax(scores, dim=-1), v).permute(0, 2, 1, 3)
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []
