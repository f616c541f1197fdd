"""SD110: views of memory that is not contiguous."""

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
    "heads merged by a view": """
class Merge(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.out = nn.Linear(width, width)

    def forward(self, mixed):
        n, h, t, d = mixed.shape
        return self.out(mixed.transpose(1, 2).view(n, t, h * d))  # <- SD110
""",
    "after a permute": """
def flat(x):
    n, c, h, w = x.shape
    x = x.permute(0, 2, 3, 1)
    return x.view(n, h * w * c)  # <- SD110
""",
    "by numbers": """
x = torch.zeros(3, 4).t()
y = x.view(12)  # <- SD110
""",
}

RIGHT = {
    "made contiguous": """
def merge(mixed):
    n, h, t, d = mixed.shape
    a = mixed.transpose(1, 2).contiguous().view(n, t, h * d)
    b = mixed.transpose(1, 2).reshape(n, t, h * d)
    return a + b

merge(torch.randn(2, 4, 5, 8))
""",
    "a view that only splits": """
def split(x):
    n, t, d = x.shape
    return x.transpose(0, 1).view(t, n, 2, d // 2)

split(torch.randn(2, 5, 8))
""",
    "axes that stay side by side": """
def tail(x):
    n, t, h, d = x.shape
    return x.transpose(0, 1).view(t, n, h * d)

tail(torch.randn(2, 5, 4, 8))
""",
    "one step": """
def step(x):
    n, d = x.shape
    return x.unsqueeze(1).transpose(0, 1).view(n, d)

step(torch.randn(2, 8))
""",
    "NumPy copies where it must": """
def merge(mixed):
    n, h, t, d = mixed.shape
    return mixed.transpose(0, 2, 1, 3).reshape(n, t, h * d)

merge(np.zeros((2, 4, 5, 8)))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD110", "SD601") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD110", "SD601") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["heads merged by a view"], "SD110") + "\n" == MESSAGE


MESSAGE = """\
error[SD110] view-after-transpose: `view` joins `h` and `d`, which do not lie side by side in memory
  --> model.py:14:25
   |
14 |         return self.out(mixed.transpose(1, 2).view(n, t, h * d))  # <- SD110
   |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ mixed.transpose(1, 2) is (n, t, h, d)
   |                         --------------------- its axes are exchanged here, its memory is not
   = why: a transpose changes the order of the axes and leaves the elements where they are; `view` copies nothing
   = help: mixed.transpose(1, 2).reshape(n, t, h * d)
   = more: shapedoc explain SD110
"""
