"""Ranks that are known from what is said of another tensor only."""

from __future__ import annotations

from tests.rules.expectations import found

PROGRAM = '''
import torch
import torch.nn as nn


class Join(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.embed = nn.Embedding(words, d)
        self.table = torch.zeros(50, d)

    def forward(self, words, extra):
        """Put more behind what was read.

        Args:
            extra: (B, T, S, d)
        """
        x = %s
        x = torch.cat((x, extra), dim=1)
        table = self.table[: x.size(1)].unsqueeze(0)
        return x + table
'''


def test_what_is_said_of_one_part_of_a_join_is_no_evidence_of_the_other() -> None:
    assert found(PROGRAM % "self.embed(words)", "SD102", "SD201", "SD207") == []


def test_a_part_of_known_rank_is_evidence() -> None:
    known = "self.embed(words).view(words.size(0), -1, words.size(2), self.table.size(1))"
    assert [f.code for f in found(PROGRAM % known, "SD102", "SD201", "SD207")] == ["SD207"]


LOOP = """
import numpy as np


def show(picture, draw):
    # picture: [M, N], M: rows, N: columns
    draw(picture[:, 0, :])


def run(steps, draw):
    steps = np.array([s.cpu().numpy() for s in steps])
    for i in range(steps.shape[1]):
        show(steps[:, i, ...], draw)
"""


def test_what_a_function_states_of_a_part_is_no_evidence_of_the_whole() -> None:
    assert found(LOOP, "SD105", "SD101", "SD102") == []


STATE = """
import torch
import torch.nn as nn
from parts import cell


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.score = nn.Linear(d, d)

    def forward(self, notes, mask):
        state = cell(notes)
        state = state.unsqueeze(1)  # (N, d) -> (N, 1, d)
        weights = (self.score(state) * notes).sum(-1)
        return weights.masked_fill(mask, -1e9)


notes = torch.randn(3, 6, 5)
Attention(5)(notes, torch.tensor([6, 4, 2]) > 0)
"""


def test_what_is_not_followed_is_what_is_stated_of_it() -> None:
    assert [f.line for f in found(STATE, "SD102", "SD205")] == [16]
