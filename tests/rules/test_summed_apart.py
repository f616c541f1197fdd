"""SD101: axes that a product cannot mean to sum, whoever gave their sizes."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange

"""

WRONG = {
    "features beside rows, and the same again with the values": """
class Mixer(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.ask = nn.Linear(width, size)
        self.offer = nn.Linear(width, size)
        self.say = nn.Linear(width, size)

    def forward(self, x):
        asked, offered, said = self.ask(x), self.offer(x), self.say(x)
        shares = F.softmax(asked.bmm(offered) / 8, dim=-1)  # <- SD101
        return shares.bmm(said)
""",
    "features that were compared are features after a softmax": """
class Heads(nn.Module):
    def __init__(self, width, heads, size):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * heads * size)
        self.share = nn.Softmax(dim=-1)

    def forward(self, x):
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=self.heads), parts)
        shares = self.share(torch.matmul(k.transpose(-1, -2), q))
        return torch.matmul(shares, v)  # <- SD101
""",
    "weights with an axis put in stand on the wrong side": """
class Reader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rate = nn.Linear(width, 1)

    def forward(self, state, memory):
        rates = self.rate(torch.tanh(state.unsqueeze(1) + memory)).squeeze(2)
        shares = F.softmax(rates, dim=1)
        return torch.bmm(memory, shares.unsqueeze(1)).squeeze(1)  # <- SD101
""",
    "weights whose rank is known from the product alone": """
class Pool(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.a = nn.Linear(width, size)
        self.b = nn.Linear(width, size)
        self.c = nn.Linear(size, 1, bias=False)

    def forward(self, outputs, last):
        energy = torch.tanh(self.a(last.unsqueeze(1)) + self.b(outputs))
        shares = torch.softmax(self.c(energy), dim=1)  # <- SD401
        return torch.bmm(outputs, shares.transpose(1, 2)).squeeze(1)  # <- note SD101
""",
    "a learned column on the left of what it scores": """
class Trilinear(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.left = nn.Parameter(torch.zeros(width, 1))
        self.right = nn.Parameter(torch.zeros(width, 1))

    def forward(self, text, question):
        b, m, width = text.shape
        b, n, width = question.shape
        one = torch.matmul(self.left, text).expand([-1, -1, n])  # <- SD101
        two = torch.matmul(question, self.right).transpose(1, 2).expand([-1, m, -1])
        return one + two
""",
}

RIGHT = {
    "each on its side": """
class Mixer(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.ask = nn.Linear(width, size)
        self.offer = nn.Linear(width, size)
        self.say = nn.Linear(width, size)

    def forward(self, x):
        asked, offered, said = self.ask(x), self.offer(x), self.say(x)
        shares = F.softmax(asked.bmm(offered.transpose(1, 2)) / 8, dim=-1)
        return shares.bmm(said)
""",
    "channels that attend to channels": """
class Channels(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)

    def forward(self, x):
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=self.heads), parts)
        shares = torch.matmul(k.transpose(-1, -2), q).softmax(-1)
        return torch.matmul(v, shares.transpose(-1, -2))
""",
    "a learned score for every place": """
class Places(nn.Module):
    def __init__(self, width, most):
        super().__init__()
        self.rate = nn.Linear(2 * width, most)

    def forward(self, token, state, outputs):
        shares = F.softmax(self.rate(torch.cat((token[0], state[0]), 1)), dim=1)
        return torch.bmm(shares.unsqueeze(1), outputs)
""",
    "every pair of a start and an end": """
def spans(start, end):
    first, last = F.softmax(start, dim=1), F.softmax(end, dim=1)
    return torch.bmm(first.unsqueeze(2), last.unsqueeze(1))
""",
    "frequencies times places": """
class Angles(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.pace = nn.Parameter(torch.zeros(width, 1))

    def forward(self, places):
        return torch.matmul(self.pace, places[:, None, :].float())
""",
    "a learned column on the right": """
class Trilinear(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.left = nn.Parameter(torch.zeros(width, 1))

    def forward(self, text, question):
        return torch.matmul(text, self.left).expand([-1, -1, question.size(1)])
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert found(text, "SD101", "SD401") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD101", "SD401") == []
