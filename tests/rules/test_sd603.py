"""SD603: all axes reversed where two were meant."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD603", "SD101", "SD401")
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "keys": """
def scores(q, k):
    H, T, d = k.shape
    return q @ k.T / np.sqrt(d)  # <- SD603
""",
    "a function of numpy": """
def scores(q, k):
    B, T, d = k.shape
    return np.matmul(q, np.transpose(k))  # <- SD603
""",
    "in torch": """
x = torch.randn(4, 4, 4)
w = torch.softmax(x @ x.T, dim=-1)  # <- SD603
""",
}

RIGHT = {
    "a matrix": """
def scores(q, k):
    T, d = k.shape
    return q @ k.T / np.sqrt(d)
""",
    "axes are named": """
def scores(q, k):
    B, T, d = k.shape
    return q @ np.swapaxes(k, -2, -1) + q @ k.transpose(0, 2, 1)
""",
    "nothing is known": """
def scores(q, k):
    return q @ k.T
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
    assert full_text(HEAD + WRONG["keys"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD603] reversed-axes: `.T` of k (H, T, d) reverses all its axes: (d, T, H)
 --> model.py:9:16
  |
9 |     return q @ k.T / np.sqrt(d)  # <- SD603
  |                ^^^ k is (d, T, H), should be (H, d, T)
  = why: of a matrix it exchanges rows and columns; of more axes it turns the whole order round, the batch goes last
  = help: k.transpose(-2, -1)
  = more: shapedoc explain SD603
"""
