"""What a module that is not read makes of a turned tensor, added to the tensor itself."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn
from elsewhere import Postnet

class Frames(nn.Module):
    def __init__(self, d, n_mels):
        super().__init__()
        self.out = nn.Linear(d, n_mels)
        self.postnet = Postnet(n_mels)

    def forward(self, x):
        before = self.out(x)
        after = before + self.postnet(
            before.transpose(1, 2)
        ).transpose(1, 2)
        return before, after

    def inference(self, x):
        before = self.out(x)
"""

WRONG = {
    "turned, and not turned back": """\
        return before + self.postnet(before.transpose(1, 2))  # <- SD102
""",
}

RIGHT = {
    "turned back": """\
        return before + self.postnet(before.transpose(1, 2)).transpose(1, 2)
""",
    "not turned at all": """\
        return before + self.postnet(before)
""",
    "added to something else": """\
        return x.sum(-1, keepdim=True) + self.postnet(before.transpose(1, 2))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_one_that_is_not_turned_back_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert found(text, "SD102") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_fits_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD102") == []
