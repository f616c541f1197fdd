"""SD505: masks that are added as they are."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD505", "SD501")
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "truth values": """
def attend(scores, tokens, pad):
    mask = tokens == pad
    return (scores + mask).softmax(-1)  # <- SD505
""",
    "ones and zeros": """
def attend(q, k, v):
    T = q.size(1)
    causal = torch.tril(torch.ones(T, T))
    return (q @ k.transpose(1, 2) + causal).softmax(-1) @ v  # <- SD505
""",
    "the fused function": """
def attend(q, k, v, tokens):
    keep = (tokens != 0).float()
    embed = nn.Embedding(9, 4)(tokens)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])  # <- SD505
""",
    "an array": """
def attend(scores, lengths):
    B, T = scores.shape
    keep = np.arange(T) < lengths.reshape(B, 1)
    scores = scores + keep  # <- SD505
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True)
""",
}

RIGHT = {
    "scaled": """
def attend(scores, tokens, pad):
    mask = (tokens == pad).float()
    return (scores + mask * -1e9).softmax(-1)
""",
    "filled zeros": """
def attend(q, k, v):
    T = q.size(1)
    mask = torch.zeros(T, T).masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf"))
    return (q @ k.transpose(1, 2) + mask).softmax(-1) @ v
""",
    "a bias": """
def attend(scores, bias):
    return (scores + bias).softmax(-1)
""",
    "a boolean mask for the fused function": """
def attend(q, k, v):
    T = q.size(-2)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(T, T).tril().bool())
""",
    "joined additive masks": """
def attend(scores, tokens, pad):
    B, T = tokens.shape
    padding = (tokens == pad).float()[:, None, :] * -1e9
    causal = torch.triu(torch.full((T, T), float("-inf")), 1)
    return (scores + (padding + causal)).softmax(-1)
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
    assert full_text(HEAD + WRONG["truth values"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD505] additive-boolean-mask: `+` adds mask to scores as it is: the ones and zeros of a mask hide nothing
 --> model.py:9:13
  |
8 |     mask = tokens == pad
  |            ------------- made of ones and zeros here
9 |     return (scores + mask).softmax(-1)  # <- SD505
  |             ^^^^^^^^^^^^^ mask is 0 or 1, should be 0 where something is to be seen, -inf where not
  = why: a score that is larger by 1 is e times as likely: what is to be hidden still gets its share
  = help: scores.masked_fill(mask, float("-inf"))
  = more: shapedoc explain SD505
"""
