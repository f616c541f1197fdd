"""SD408 and SD401: products of an attention the other way round, where nothing is known of the sizes."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from kernels import masked_softmax

"""

WRONG = {
    "the key, turned, before the query": """
def attend(query, key, value, mask=None):
    scores = torch.matmul(key.transpose(-2, -1), query) / math.sqrt(query.size(-1))  # <- SD408
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return torch.matmul(F.softmax(scores, dim=-1), value)
""",
    "the key under another name, with a score added, by a softmax of another file": """
def attend(q, k, v, bias, lengths):
    k_t = k.transpose(2, 3)
    logits = torch.log(bias.clamp(min=1e-6)) + torch.matmul(k_t, q)  # <- SD408
    return torch.matmul(masked_softmax(logits, lengths), v)
""",
    "weights behind the values": """
def attend(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    shares = F.softmax(scores, dim=-1)
    return torch.matmul(value, shares)  # <- SD401
""",
}

RIGHT = {
    "query, key and value": """
def attend(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    return torch.matmul(F.softmax(scores, dim=-1), value)
""",
    "features first": """
def attend(query, key, value):
    scores = torch.matmul(query.transpose(-2, -1), key) / math.sqrt(query.size(-2))
    return torch.matmul(value, F.softmax(scores, dim=-1).transpose(-2, -1))
""",
    "features first, the keys in the rows": """
def attend(query, key, value):
    scores = torch.matmul(key.transpose(-2, -1), query)
    return torch.matmul(value, F.softmax(scores, dim=-2))
""",
    "a key for one query": """
def attend(query, keys, values):
    scores = torch.bmm(keys, query.unsqueeze(2)).squeeze(2)
    return torch.bmm(F.softmax(scores, dim=1).unsqueeze(1), values)
""",
    "features that attend to features": """
def attend(query, key, value):
    shares = F.softmax(torch.matmul(key.transpose(-2, -1), query), dim=-1)
    return torch.matmul(shares, value.transpose(-2, -1)).transpose(-2, -1)
""",
    "points by their embeddings": """
def match(source, target, places):
    scores = torch.matmul(source.transpose(2, 1), target)
    return torch.matmul(F.softmax(scores, dim=2), places)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert found(text, "SD101", "SD401", "SD408") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD101", "SD401", "SD408") == []
