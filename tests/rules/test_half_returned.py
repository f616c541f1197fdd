"""Tensors that were filled side by side, of which a function gives back one turned."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch

def decode(step, batch_size, length):
    tokens = torch.zeros(length, batch_size).long()
    scores = torch.zeros(length, batch_size)
    for k in range(batch_size):
        found = step(k)
        tokens[:, k] = found["tokens"]
        scores[:, k] = found["scores"]
"""

WRONG = {
    "the first as it is": """
    return tokens, scores.transpose(0, 1)  # <- SD602
""",
    "the second as it is": """
    return tokens.t(), scores  # <- SD602
""",
}

RIGHT = {
    "both turned": """
    return tokens.transpose(0, 1), scores.transpose(0, 1)
""",
    "none of them turned": """
    return tokens, scores
""",
    "the other is filled otherwise": """
    lengths = torch.zeros(length, batch_size)
    for t in range(length):
        lengths[t] = step(t)
    return tokens.t(), lengths
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_one_of_two_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert found(text, "SD602") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_fits_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD602") == []
