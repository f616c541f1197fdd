"""What masks mean, read from how they are built."""

from __future__ import annotations

import pytest

from shapedoc.infer import analyse
from shapedoc.rules.reading.masks import Meaning, masks
from shapedoc.source.lower_ast import lower

HEAD = """\
import numpy as np
import torch
import torch.nn as nn

def f(tokens, lengths, T, pad):
    tokens = tokens.view(3, 5)
    words = nn.Embedding(9, 4)(tokens)
    result = """


def meaning(expression: str) -> Meaning | None:
    """What the mask that an expression builds means."""
    text = HEAD + expression + "\n    return result\n"
    trace = analyse(lower(text), text, "model.py")
    event = next(e for e in reversed(trace.events) if e.target == "result")
    return masks(trace).made(event)


@pytest.mark.parametrize(
    ("expression", "sign"),
    [
        ("tokens != 0", "keep"),
        ("tokens == 0", "drop"),
        ("0 == tokens", "drop"),
        ("tokens.ne(0)", "keep"),
        ("torch.eq(tokens, 0)", "drop"),
        ("tokens > 0", "keep"),
        ("~(tokens == 0)", "keep"),
        ("(tokens != 0) == 0", "drop"),
        ("(tokens != 0) == False", "drop"),
        ("1 - (tokens != 0).float()", "drop"),
        ("(tokens != 0).logical_not()", "drop"),
        ("(tokens != 0)[:, None, None, :]", "keep"),
        ("(tokens != 0).unsqueeze(1).expand(3, 5, 5)", "keep"),
        ("(tokens != 0).float() < 0.5", "drop"),
        ("torch.arange(5) < lengths.view(3, 1)", "keep"),
        ("torch.arange(5)[None, :] >= lengths.view(3, 1)", "drop"),
        ("lengths.view(3, 1) > torch.arange(5)", "keep"),
        ("torch.ones(5, 5).tril()", "keep"),
        ("torch.triu(torch.ones(5, 5), diagonal=1).bool()", "drop"),
        ("torch.triu(torch.ones(5, 5)).transpose(0, 1)", "keep"),
        ("np.tri(5)", "keep"),
        ("torch.arange(5)[:, None] >= torch.arange(5)", "keep"),
        ("torch.arange(5)[None, :] > torch.arange(5)[:, None]", "drop"),
        ("(tokens != 0)[:, None, :] & torch.ones(5, 5).tril().bool()", "keep"),
        ("(tokens == 0)[:, None, :] | torch.ones(5, 5).triu(1).bool()", "drop"),
    ],
)
def test_true_means(expression: str, sign: str) -> None:
    found = meaning(expression)
    assert found is not None
    assert (found.sign, found.additive) == (sign, False)


@pytest.mark.parametrize(
    "expression",
    [
        "torch.triu(torch.full((5, 5), float('-inf')), diagonal=1)",
        "(1.0 - (tokens != 0).float()) * -10000.0",
        "torch.zeros(5, 5).masked_fill(torch.ones(5, 5).triu(1).bool(), float('-inf'))",
        "torch.where(tokens == 0, -1e9, 0.0)",
    ],
)
def test_what_is_added_drops(expression: str) -> None:
    found = meaning(expression)
    assert found is not None
    assert (found.sign, found.additive) == ("drop", True)


@pytest.mark.parametrize(
    "expression",
    [
        "words == 0",
        "tokens == 7",
        "lengths > 0",
        "torch.ones(5, 5)",
        "(tokens != 0)[:, None, :] & torch.ones(5, 5).triu(1).bool()",
        "torch.ones(5, 5).tril(lengths)",
        "words.sum(-1) > 0",
    ],
)
def test_what_cannot_be_said(expression: str) -> None:
    assert meaning(expression) is None


@pytest.mark.parametrize(
    ("expression", "side", "offset"),
    [
        ("torch.ones(5, 5).tril()", "lower", 0),
        ("torch.ones(5, 5).tril() == 0", "upper", 1),
        ("~torch.ones(5, 5).bool().triu(1)", "lower", 0),
        ("torch.ones(5, 5).triu(2).transpose(0, 1)", "lower", -2),
        ("torch.arange(5)[:, None] < torch.arange(5)", "upper", 1),
    ],
)
def test_the_region_of_a_triangle(expression: str, side: str, offset: int) -> None:
    found = meaning(expression)
    assert found is not None
    assert found.triangle is not None
    assert (found.triangle.side, found.triangle.offset) == (side, offset)
