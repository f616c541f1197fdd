"""SD504: rows without any key."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD504",)
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "queries and keys joined": """
def attend(x, tokens, pad):
    B, T = tokens.shape
    keep = tokens != pad
    mask = keep[:, :, None] & keep[:, None, :]  # <- SD504
    scores = x @ x.transpose(1, 2)
    return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ x
""",
    "a product of masks": """
def attend(x, lengths):
    B, T, d = x.shape
    keep = (torch.arange(T) < lengths.view(B, 1)).float()
    mask = keep.unsqueeze(1) * keep.unsqueeze(2)  # <- SD504
    scores = x @ x.transpose(1, 2)
    return scores.masked_fill(mask == 0, float("-inf")).softmax(-1) @ x
""",
    "a mask from outside, joined with itself": """
def attend(x, keep):
    B, T = keep.shape
    mask = keep.unsqueeze(1) & keep.unsqueeze(2)  # <- SD504
    scores = x @ x.transpose(1, 2)
    return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ x
""",
}

RIGHT = {
    "a finite number": """
def attend(x, tokens, pad):
    B, T = tokens.shape
    keep = tokens != pad
    mask = keep[:, :, None] & keep[:, None, :]
    scores = x @ x.transpose(1, 2)
    return scores.masked_fill(~mask, -1e9).softmax(-1) @ x
""",
    "mended after": """
def attend(x, tokens, pad):
    B, T = tokens.shape
    keep = tokens != pad
    mask = keep[:, :, None] & keep[:, None, :]
    scores = x @ x.transpose(1, 2)
    return scores.masked_fill(~mask, float("-inf")).softmax(-1).nan_to_num(0.0) @ x
""",
    "keys alone": """
def attend(x, tokens, pad):
    keep = tokens != pad
    scores = x @ x.transpose(1, 2)
    return scores.masked_fill(~keep[:, None, :], float("-inf")).softmax(-1) @ x
""",
    "keys and causal": """
def attend(x, tokens, pad):
    B, T = tokens.shape
    keep = (tokens != pad)[:, None, :] & torch.ones(T, T, dtype=torch.bool).tril()
    scores = x @ x.transpose(1, 2)
    return scores.masked_fill(~keep, float("-inf")).softmax(-1) @ x
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, *CODES) == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], *CODES) == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["queries and keys joined"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
warning[SD504] fully-masked-row: keep[:, :, None] (B, T, 1) hides every key from the queries that are padding: \
their row is -inf, and becomes NaN
  --> model.py:10:12
   |
10 |     mask = keep[:, :, None] & keep[:, None, :]  # <- SD504
   |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ keep[:, :, None] is (B, T, 1), should be a mask that varies \
along the keys alone
12 |     return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ x
   |            ---------------------------------------- filled with -inf here
   = why: a softmax over -inf alone is 0 / 0; the NaN reaches the loss, or through the next layer every other row
   = note: with a finite number such as -1e9 such a row gets equal weights, and no NaN
   = help: mask the keys alone, and leave padded queries to the mask of the loss
   = more: shapedoc explain SD504
"""
