"""Axes of which nothing is known, beside the features whose size they are asked to have."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "tokens before the channels of a convolution": """
class Local(nn.Module):
    def __init__(self, vocab_size, d_embed, d_out):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_embed)
        self.conv = nn.Conv1d(d_embed, d_out, 3, padding=1)

    def forward(self, tokens):
        B, T = tokens.shape
        return self.conv(self.embed(tokens))  # <- SD106
""",
    "a norm over the batch of what a map makes": """
class Block(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.widen, self.narrow = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm = nn.BatchNorm1d(d_model)

    def forward(self, x):
        B, T, _ = x.shape
        return self.norm(self.narrow(F.relu(self.widen(x))))  # <- SD106
""",
    "zeros in front of what is not turned": """
class Causal(nn.Module):
    def __init__(self, vocab_size, width, span):
        super().__init__()
        self.width, self.span = width, span
        self.embed = nn.Embedding(vocab_size, width)
        self.conv = nn.Conv1d(width, 2 * width, span)

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.embed(tokens)
        before = torch.zeros(B, self.width, self.span - 1)
        return self.conv(torch.cat((before, x), dim=2))  # <- SD104
""",
    "a residual that is not turned back": """
class Gated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, 2 * width, 3, padding=1)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        B, T, _ = x.shape
        gated = F.glu(self.conv(x.transpose(1, 2)), dim=1)
        return gated + self.out(gated.transpose(1, 2))  # <- SD102
""",
    "steps under a layer norm": """
class Smooth(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv, self.norm = nn.Conv1d(width, width, 3, padding=1), nn.LayerNorm(width)

    def forward(self, x):
        B, T, _ = x.shape
        return self.norm(self.conv(x.transpose(1, 2)))  # <- SD106
""",
}

RIGHT = {
    "all of them turned": """
class Gated(nn.Module):
    def __init__(self, vocab_size, width, span):
        super().__init__()
        self.width, self.span = width, span
        self.embed = nn.Embedding(vocab_size, width)
        self.conv = nn.Conv1d(width, 2 * width, span)
        self.norm = nn.BatchNorm1d(width)
        self.out = nn.Linear(width, width)

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.embed(tokens).transpose(1, 2)
        before = torch.zeros(B, self.width, self.span - 1)
        gated = F.glu(self.conv(torch.cat((before, x), dim=2)), dim=1)
        return self.norm(gated + self.out(gated.transpose(1, 2)).transpose(1, 2))
""",
    "rows flattened before a norm over the batch": """
class Block(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.map, self.norm = nn.Linear(d_model, d_model), nn.BatchNorm1d(d_model)

    def forward(self, x):
        B, T, _ = x.shape
        x = self.map(x)
        return self.norm(x.flatten(0, 1)).reshape_as(x)
""",
    "steps that are channels": """
class Mixer(nn.Module):
    def __init__(self, seq_len, d_model):
        super().__init__()
        self.map = nn.Linear(d_model, d_model)
        self.mix = nn.Conv1d(seq_len, seq_len, 1)

    def forward(self, x):
        B, T, _ = x.shape
        return self.mix(self.map(x))
""",
    "as many steps as features, as the author says": """
class Square(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.d = d
        self.map = nn.Linear(d, d)
        self.conv = nn.Conv1d(d, d, 1)

    def forward(self, x):
        B, T, _ = x.shape
        assert T == self.d
        return self.conv(self.map(x))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    program = HEAD + WRONG[name].lstrip("\n")
    assert found(program, "SD102", "SD104", "SD106") == expected(program)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert not found(HEAD + RIGHT[name].lstrip("\n"))
