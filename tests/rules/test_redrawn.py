"""Weights that are taken out by name, and set up as all are."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import math
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, d, n_layers):
        super().__init__()
        self.mix = nn.Linear(d, d)
        self.n_layers = n_layers
        self.apply(self._draw)
"""
DRAW = """
    def _draw(self, module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
"""

WRONG = {
    "drawn as all are": """\
        for name, weight in self.named_parameters():
            if name.endswith("mix.weight"):
                nn.init.normal_(weight, mean=0.0, std=0.02)  # <- SD607
""",
    "multiplied with 1": """\
        scale = 1.0
        for name, weight in self.named_parameters():
            if name.endswith("mix.weight"):
                weight.data.mul_(scale)  # <- SD607
""",
}

RIGHT = {
    "divided by the root of their number": """\
        for name, weight in self.named_parameters():
            if name.endswith("mix.weight"):
                nn.init.normal_(weight, mean=0.0, std=0.02 / math.sqrt(2 * self.n_layers))
""",
    "another spread": """\
        for name, weight in self.named_parameters():
            if name.endswith("mix.weight"):
                nn.init.normal_(weight, mean=0.0, std=0.006)
""",
    "a factor": """\
        scale = 1.0 / math.sqrt(2 * self.n_layers)
        for name, weight in self.named_parameters():
            if name.endswith("mix.weight"):
                weight.data.mul_(scale)
""",
    "all of them": """\
        for name, weight in self.named_parameters():
            nn.init.normal_(weight, mean=0.0, std=0.02)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_changes_nothing_is_found(name: str) -> None:
    text = HEAD + WRONG[name] + DRAW
    assert found(text, "SD607") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_changes_something_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name] + DRAW, "SD607") == []
