"""SD114: branches that ask whether a tensor of several elements is true."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn

"""

WRONG = {
    "a mask that need not be given": """
class Attention(nn.Module):
    def forward(self, query, key, value, mask=None):
        scores = torch.bmm(query, key.transpose(1, 2))
        if mask:  # <- SD114
            scores = scores.masked_fill(mask == 0, -1e9)
        return torch.bmm(scores.softmax(-1), value)
""",
    "one that is made where it is not given": """
def attend(scores, words, mask=None):
    if not mask:  # <- SD114
        mask = words == 0
    return scores.masked_fill(mask, -1e9).softmax(-1)
""",
    "a tensor that is made": """
def attend(scores, words):
    B, T = words.shape
    mask = words == 0
    if mask:  # <- SD114
        scores = scores.masked_fill(mask, -1e9)
    return scores.softmax(-1)
""",
}

RIGHT = {
    "asked whether it is there": """
def attend(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    return scores.softmax(-1)
""",
    "a flag, a list and a number": """
def attend(scores, causal=False, names=(), loss=None):
    T = scores.size(-1)
    if causal:
        scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -1e9)
    if names:
        print(names)
    total = scores.sum()
    if total:
        print(total)
    return scores.softmax(-1)
""",
    "all of it or any": """
def attend(scores, mask):
    if mask.any():
        scores = scores.masked_fill(mask, -1e9)
    return scores.softmax(-1)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_it_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert found(text, "SD114") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_right_code_is_left_alone(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD114") == []
