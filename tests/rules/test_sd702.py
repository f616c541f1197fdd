"""SD702: shapes that cannot be read."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "a line that does not close": """
def scores(q, k):
    out = q @ k.transpose(-2, -1)
    # shapedoc: out (n, t, s  # <- SD702
    return out
""",
    "a line about a name that is not there": """
def scores(q, k):
    out = q @ k.transpose(-2, -1)
    # shapedoc: weights (n, t, s)  # <- SD702
    return out
""",
}

RIGHT = {
    "lines and annotations that are read": """
from jaxtyping import Float
from torch import Tensor

def scores(q: Float[Tensor, "*batch t d"], k: Float[Tensor, "*batch s d"]) -> Float[Tensor, "*batch t s"]:
    out = q @ k.transpose(-2, -1)
    # shapedoc: out (*batch, t, s)
    return out
""",
    "comments that only look like shapes": """
x = 3  # (see the paper, section 3
y = torch.zeros(3, 4)  # shapes: see below
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD702", "SD701") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD702", "SD701") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a line that does not close"], "SD702") + "\n" == MESSAGE


MESSAGE = """\
warning[SD702] unreadable-shape: this shape cannot be read: no list of sizes in brackets is in it, as in `x (B, T, d)`
 --> model.py:9:5
  |
9 |     # shapedoc: out (n, t, s  # <- SD702
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = why: it stands where a shape is stated, so that it looks as if it were checked, and nothing reads it
  = help: write it as jaxtyping or `# shapedoc:` has it: names and numbers, `*` before several axes
  = more: shapedoc explain SD702
"""
