"""Scores that are hidden wherever a mask is not 0."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import math
import torch
import torch.nn.functional as F

"""

WRONG = {
    "a mask that a function is given": """
def attend(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask != 0, -1e9)  # <- SD501
    return F.softmax(scores, dim=-1) @ value
""",
    "its axes put in first": """
def attend(scores, mask):
    scores = scores.masked_fill(mask.unsqueeze(1).ne(0), float("-inf"))  # <- SD501
    return F.softmax(scores, dim=-1)
""",
}

RIGHT = {
    "where it is 0": """
def attend(scores, mask):
    return F.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1)
""",
    "a mask of what is hidden, as it is": """
def attend(scores, mask, other):
    scores = scores.masked_fill(mask, -1e9).masked_fill(other.bool(), -1e9)
    return F.softmax(scores, dim=-1)
""",
    "windows of two groups": """
def shifted(groups):
    mask = groups.unsqueeze(1) - groups.unsqueeze(2)
    return mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0)
""",
    "groups that differ": """
def attend(scores, groups):
    apart = groups.unsqueeze(1) - groups.unsqueeze(2)
    return F.softmax(scores.masked_fill(apart != 0, -1e9), dim=-1)
""",
    "scores that are hidden where they are something": """
def rest(scores):
    return scores.tril().masked_fill(scores != 0, -1e9)
""",
    "a mask that is called after what it hides": """
def attend(scores, key_padding_mask):
    return F.softmax(scores.masked_fill(key_padding_mask.unsqueeze(1) != 0, -1e9), dim=-1)
""",
    "another number": """
def attend(scores, kinds):
    return F.softmax(scores.masked_fill(kinds != 2, -1e9), dim=-1)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_zero_is_to_be_seen(name: str) -> None:
    text = HEAD + WRONG[name]
    assert found(text, "SD501") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_may_be_meant_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD501") == []
