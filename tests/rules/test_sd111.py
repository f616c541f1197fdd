"""SD111: axes that are not there."""

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
    "softmax over the axis that was squeezed": """
def attend(state, memory):
    n, t, d = memory.shape
    n, d = state.shape
    logits = (memory * state.unsqueeze(1)).sum(-1)
    return F.softmax(logits, dim=2)  # <- SD111
""",
    "a sum in NumPy": """
x = np.zeros((3, 4))
y = x.sum(axis=2)  # <- SD111
""",
    "an axis that the call of a softmax by hand names": """
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

def attend(Q, K):
    T, d = Q.shape
    S, d = K.shape
    return softmax(Q @ K.T, axis=2)  # <- SD111
""",
    "an axis that is written where it is used": """
def softmax(x):
    axis = 2
    e = np.exp(x - x.max(axis=axis, keepdims=True))  # <- SD111
    return e

softmax(np.zeros((3, 4)))
""",
    "a transpose of two axes": """
def gram(x):
    t, d = x.shape
    return x @ x.transpose(1, 2)  # <- SD111
""",
    "a join of vectors along their second axis": """
x = torch.cat((torch.zeros(3), torch.zeros(3)), dim=1)  # <- SD111
""",
    "the size of an axis that was summed": """
def pooled_steps(memory):
    n, t, d = memory.shape
    pooled = memory.mean(dim=1)
    return pooled.new_zeros(pooled.size(0), pooled.size(2))  # <- SD111
""",
    "the shape of a step that has none": """
class Step(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)

    def step(self, token):
        n, t = token.shape[0], token.shape[1]  # <- SD111
        return self.embed(token).view(n, t, -1)

    def forward(self, tokens):
        n, t = tokens.shape
        return self.step(tokens[:, 0])
""",
}

RIGHT = {
    "room that is filled later": """
def search(words, beam):
    made = {}

    def buffer(name, like=words):
        if name not in made:
            made[name] = like.new()
        return made[name]

    kept = buffer("kept")
    places = buffer("places")
    torch.topk(words, k=beam, dim=1, out=(kept, places))
    return kept.gather(1, places)
""",
    "from the right": """
def attend(logits):
    return logits.softmax(-1).sum(-1)

attend(torch.zeros(2, 5))
attend(torch.zeros(2, 3, 5))
""",
    "a new axis at the end": """
def last(x):
    n, t = x.shape
    return x.unsqueeze(2), torch.stack((x, x), dim=2)

last(torch.zeros(2, 5))
""",
    "ranks that a branch decides": """
def pooled(x):
    if x.dim() == 3:
        return x.mean(dim=2)
    return x.mean(dim=1)

pooled(torch.zeros(2, 5))
pooled(torch.zeros(2, 5, 8))
""",
    "a size that is asked for where there is one": """
def steps(memory):
    n, t, d = memory.shape
    pooled = memory.mean(dim=1)
    k = pooled.size(2) if pooled.dim() > 2 else 1
    if len(pooled.shape) == 3 and pooled.shape[2] == 1:
        k = 2
    try:
        return pooled.size(2)
    except IndexError:
        return k
""",
    "a size of a step of unknown rank": """
def width(step):
    return step.size(2)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD111", "SD105") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD111", "SD105") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["softmax over the axis that was squeezed"], "SD111") + "\n" == MESSAGE


MESSAGE = """\
error[SD111] axis-out-of-range: `softmax` names axis 2 of `logits`, which has 2 axes
  --> model.py:11:34
   |
10 |     logits = (memory * state.unsqueeze(1)).sum(-1)
   |              ------------------------------------- logits is (n, t)
11 |     return F.softmax(logits, dim=2)  # <- SD111
   |                                  ^ logits is (n, t)
   |            ------------------------ logits is (n, t)
   |                      ------ logits is (n, t)
   = why: its axes are 0 to 1, or -1 to -2 from the right
   = help: dim=-1 for the last axis
   = more: shapedoc explain SD111
"""
