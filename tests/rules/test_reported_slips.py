"""Slips that people have reported of public attention code: an axis, an order or a name that is another one.

Each program, and what made it right.
"""

from __future__ import annotations

import pytest

from tests.rules.expectations import all_found, expected, mended

HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"

# A program with the line at fault marked, and the lines that are otherwise in the right one.
REPORTED = {
    "scores of every example, normalised over all of them": (
        """\
class Dot(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.softmax = nn.Softmax(dim=0)  # <- SD401
        self.out = nn.Linear(2 * width, width, bias=False)

    def forward(self, query, context):
        batch, asked, width = query.size()
        places = context.size(1)
        query = self.query(query.reshape(batch * asked, width)).reshape(batch, asked, width)
        scores = torch.bmm(query, context.transpose(1, 2).contiguous())
        scores = scores.view(batch * asked, places)
        weights = self.softmax(scores).view(batch, asked, places)
        mixed = torch.bmm(weights, context)
        return torch.tanh(self.out(torch.cat((mixed, query), dim=2)))
""",
        (
            (
                "        self.softmax = nn.Softmax(dim=0)  # <- SD401",
                "        self.softmax = nn.Softmax(dim=-1)",
            ),
        ),
    ),
    "heads in front, merged as they lie": (
        """\
class Heads(nn.Module):
    def __init__(self, width, heads, size):
        super().__init__()
        self.heads, self.size = heads, size
        self.q, self.k, self.v = (nn.Linear(width, heads * size) for _ in range(3))
        self.out = nn.Linear(heads * size, width)

    def forward(self, x):
        B, T, _ = x.size()
        q = self.q(x).view(B, T, self.heads, self.size).permute(2, 0, 1, 3)
        k = self.k(x).view(B, T, self.heads, self.size).permute(2, 0, 1, 3)
        v = self.v(x).view(B, T, self.heads, self.size).permute(2, 0, 1, 3)
        mixed = torch.zeros(self.heads, B, T, self.size, device=x.device)
        for h in range(self.heads):
            weights = torch.softmax(q[h] @ k[h].transpose(1, 2) / math.sqrt(self.size), dim=-1)
            mixed[h] = weights @ v[h]
        return self.out(mixed.view(B, T, -1))  # <- SD601
""",
        (
            (
                "        return self.out(mixed.view(B, T, -1))  # <- SD601",
                "        return self.out(mixed.permute(1, 2, 0, 3).reshape(B, T, -1))",
            ),
        ),
    ),
    "heads taken apart in the other order": (
        """\
class Relative(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)

    def split(self, x):
        B, T, _ = x.shape
        return x.view(B, T, self.heads, self.size).transpose(1, 2).reshape(B * self.heads, T, self.size)

    def forward(self, x):
        B = x.size(0)
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.size), dim=-1)
        mixed = torch.bmm(weights, v).view(self.heads, B, -1, self.size)  # <- SD601
        mixed = mixed.permute(0, 2, 1, 3).contiguous().view(B, -1, self.heads * self.size)
        return self.out(mixed)
""",
        (
            (
                "        mixed = torch.bmm(weights, v).view(self.heads, B, -1, self.size)  # <- SD601",
                "        mixed = torch.bmm(weights, v).view(B, self.heads, -1, self.size)",
            ),
        ),
    ),
    "branches that are weighed over the batch": (
        """\
class Selective(nn.Module):
    def __init__(self, channels, kernels, reduction):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(channels, channels, k, padding=k // 2) for k in (1, 3, 5, 7)])
        self.fc = nn.Linear(channels, channels // reduction)
        self.fcs = nn.ModuleList([nn.Linear(channels // reduction, channels) for _ in (1, 3, 5, 7)])
        self.softmax = nn.Softmax(dim=1)  # <- SD401

    def forward(self, x):
        B, C, H, W = x.size()
        maps = torch.stack([conv(x) for conv in self.convs], 0)
        squeezed = self.fc(maps.sum(0).mean(-1).mean(-1))
        weights = torch.stack([fc(squeezed).view(B, C, 1, 1) for fc in self.fcs], 0)
        weights = self.softmax(weights)
        return (weights * maps).sum(0)
""",
        (
            (
                "        self.softmax = nn.Softmax(dim=1)  # <- SD401",
                "        self.softmax = nn.Softmax(dim=0)",
            ),
        ),
    ),
    "directions of one example after those of another": (
        """\
class Reader(nn.Module):
    def __init__(self, words, width, hidden, classes):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, hidden, bidirectional=True)
        self.hidden = hidden
        self.out = nn.Linear(2 * hidden, classes)

    def attend(self, outputs, last):
        asked = last.view(-1, 2 * self.hidden, 1)  # <- SD606
        weights = F.softmax(torch.bmm(outputs, asked).squeeze(2), 1)
        return torch.bmm(outputs.transpose(1, 2), weights.unsqueeze(2)).squeeze(2)

    def forward(self, tokens):
        x = self.embed(tokens).permute(1, 0, 2)
        outputs, (last, _) = self.rnn(x)
        return self.out(self.attend(outputs.permute(1, 0, 2), last))
""",
        (
            (
                "        asked = last.view(-1, 2 * self.hidden, 1)  # <- SD606",
                "        asked = last.transpose(0, 1).reshape(-1, 2 * self.hidden, 1)",
            ),
        ),
    ),
    "a query that stays at the first state": (
        """\
class Decoder(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.w, self.u, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, 1)
        self.cell = nn.GRUCell(2 * width, width)
        self.out = nn.Linear(width, words)

    def attend(self, state, memory):
        batch, places, width = memory.shape
        scores = self.v(torch.tanh(self.w(state).unsqueeze(1) + self.u(memory)))
        return (torch.softmax(scores, dim=1) * memory).sum(1)

    def forward(self, tokens, state, memory):
        given, logits = state, []
        for t in range(tokens.size(1)):
            context = self.attend(given, memory)  # <- SD303
            state = self.cell(torch.cat((self.embed(tokens[:, t]), context), dim=1), state)
            logits.append(self.out(state))
        return torch.stack(logits, dim=1)
""",
        (
            (
                "            context = self.attend(given, memory)  # <- SD303",
                "            context = self.attend(state, memory)",
            ),
        ),
    ),
    "one norm for both halves of a block": (
        """\
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y)[0]
        return x + self.down(F.gelu(self.up(self.norm1(x))))  # <- SD607
""",
        (
            (
                "        return x + self.down(F.gelu(self.up(self.norm1(x))))  # <- SD607",
                "        return x + self.down(F.gelu(self.up(self.norm2(x))))",
            ),
        ),
    ),
    "the last step of a reader in both directions": (
        """\
class Reader(nn.Module):
    def __init__(self, words, width, hidden):
        super().__init__()
        self.embed = nn.Embedding(words, width, padding_idx=0)
        self.rnn = nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, 2)

    def forward(self, tokens):
        outputs, last = self.rnn(self.embed(tokens))
        return self.out(outputs[:, -1])  # <- SD309
""",
        (
            (
                "        return self.out(outputs[:, -1])  # <- SD309",
                "        return self.out(torch.cat((last[-2], last[-1]), dim=1))",
            ),
        ),
    ),
    "the number of a beam in a list": (
        """\
class Writer(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.words = words
        self.embed = nn.Embedding(words, width)
        self.cell = nn.LSTMCell(width, width)
        self.out = nn.Linear(width, words)

    def search(self, state, beam, steps):
        written = [[1]]
        scores = torch.zeros(1)
        for _ in range(steps):
            last = torch.tensor([line[-1] for line in written])
            state = self.cell(self.embed(last), state)
            log_p = F.log_softmax(self.out(state[0]), dim=-1)
            total = (scores.unsqueeze(1).expand_as(log_p) + log_p).view(-1)
            best, places = torch.topk(total, k=beam)
            beams = places / self.words  # <- SD103
            words = places % self.words
            longer, kept = [], []
            for number, word, score in zip(beams, words, best):
                number = number.item()
                longer.append(written[number] + [word.item()])
                kept.append(number)
            written = longer
            scores = best
            state = (state[0][kept], state[1][kept])
        return written
""",
        (
            (
                "            beams = places / self.words  # <- SD103",
                "            beams = places // self.words",
            ),
        ),
    ),
}


@pytest.mark.parametrize("name", REPORTED)
def test_what_is_reported_is_found(name: str) -> None:
    text = HEAD + REPORTED[name][0]
    assert all_found(text) == expected(text)


@pytest.mark.parametrize("name", REPORTED)
def test_what_made_it_right_is_silent(name: str) -> None:
    assert all_found(HEAD + mended(*REPORTED[name])) == []
