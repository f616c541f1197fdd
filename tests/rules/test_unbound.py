"""Queries, keys and values that are taken apart along the batch."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn

class Heads(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.d_head = h, d // h
        self.qkv = nn.Linear(d, 3 * d)

    def forward(self, x):
        B, T, d = x.shape
        qkv = self.qkv(x).reshape(B, T, 3, self.h, self.d_head)
"""

WRONG = {
    "by unbind": """
        q, k, v = qkv.unbind(0)  # <- SD105
        return q, k, v
""",
    "entry by entry": """
        q, k, v = qkv[0], qkv[1], qkv[2]  # <- SD105
        return q, k, v
""",
    "as it is": """
        q, k, v = qkv  # <- SD105
        return q, k, v
""",
}

RIGHT = {
    "along the three": """
        q, k, v = qkv.unbind(2)
        return q, k, v
""",
    "with the three in front": """
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        return q, k, v
""",
    "entries of the three": """
        q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
        return q, k, v
""",
    "two examples of the batch": """
        first, second = qkv[0], qkv[1]
        return first, second
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_the_batch_is_no_three(name: str) -> None:
    text = HEAD + WRONG[name]
    assert found(text, "SD105") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_meant_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD105") == []
