"""What a module's width says of the tensors that are joined for it."""

from __future__ import annotations

from tests.rules.expectations import found

TEXT = """\
import torch
import torch.nn as nn


class Join(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.rnn = nn.GRU(a, b, bidirectional=True)
        self.out = nn.Linear(2 * b, b)

    def forward(self, x):
        states, last = self.rnn(x)
        return self.out(torch.cat([last[-2], (last,)[-1]], dim=1))
"""


def test_parts_that_cannot_have_one_rank_are_no_crash() -> None:
    assert all(f.code.startswith("SD1") for f in found(TEXT, "SD1"))
