"""Heads that one tensor has at another place than what it meets."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn
from elsewhere import attention, flat_attention

class Heads(nn.Module):
    def __init__(self, n_heads, d_head):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.q, self.k = nn.Linear(n_heads * d_head, n_heads * d_head), nn.Linear(n_heads * d_head, n_heads * d_head)
        self.v = nn.Linear(n_heads * d_head, n_heads * d_head)

    def forward(self, query, memory):
        B = query.size(0)
"""

WRONG = {
    "values that are passed on as they were cut": """
        q = self.q(query).view(B, -1, self.n_heads, self.d_head).transpose(1, 2)
        k = self.k(memory).view(B, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = self.v(memory).view(B, -1, self.n_heads, self.d_head)  # <- SD101
        return attention(q, k, v)
""",
    "keys in a product with the queries": """
        q = self.q(query).view(B, -1, self.n_heads, self.d_head).transpose(1, 2)
        k = self.k(memory).view(B, -1, self.n_heads, self.d_head)
        return q @ k.transpose(2, 3)  # <- SD101
""",
}

RIGHT = {
    "all of them transposed": """
        q = self.q(query).view(B, -1, self.n_heads, self.d_head).transpose(1, 2)
        k = self.k(memory).view(B, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = self.v(memory).view(B, -1, self.n_heads, self.d_head).transpose(1, 2)
        return attention(q, k, v), q @ k.transpose(2, 3)
""",
    "none of them transposed": """
        q = self.q(query).view(B, -1, self.n_heads, self.d_head)
        k = self.k(memory).view(B, -1, self.n_heads, self.d_head)
        v = self.v(memory).view(B, -1, self.n_heads, self.d_head)
        return flat_attention(q, k, v)
""",
    "keys that wait for a product": """
        q = self.q(query).view(B, -1, self.n_heads, self.d_head).permute(0, 2, 1, 3)
        k = self.k(memory).view(B, -1, self.n_heads, self.d_head).permute(0, 2, 3, 1)
        return attention(q, k), q @ k
""",
    "one query for each head": """
        q = self.q(query).view(B, self.n_heads, 1, self.d_head)
        k = self.k(memory).view(B, -1, self.n_heads, self.d_head).transpose(1, 2)
        return q @ k.transpose(2, 3)
""",
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_wrong(name: str) -> None:
    text = HEAD + WRONG[name].lstrip("\n")
    assert found(text, "SD101") == expected(text)


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_right(name: str) -> None:
    assert found(HEAD + RIGHT[name].lstrip("\n"), "SD101", "SD102", "SD201") == []


def test_steps_that_meet_heads() -> None:
    text = (
        HEAD
        + """\
        q = self.q(query[:, 0]).view(B, self.n_heads, self.d_head)
        k = self.k(memory).view(B, -1, self.n_heads, self.d_head)
        return q.unsqueeze(-2) * k  # <- SD102
"""
    )
    assert found(text, "SD102") == expected(text)
