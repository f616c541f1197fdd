"""SD401: distributions that are made of probabilities, and draw along the last axis."""

from __future__ import annotations

from tests.rules.expectations import expected, found


def test_a_distribution_takes_its_probabilities_along_the_last_axis() -> None:
    program = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self, width, bits):
        super().__init__()
        self.head = nn.Linear(width, 2**bits)

    def wrong(self, states):
        batch_size, width = states.shape
        probs = F.softmax(self.head(states), dim=0)  # <- SD401
        return Categorical(probs).sample()

    def by_its_name(self, states):
        batch_size, width = states.shape
        probs = torch.softmax(self.head(states), dim=0)  # <- SD401
        return torch.distributions.Categorical(probs=probs.float()).sample()

    def right(self, states):
        batch_size, width = states.shape
        probs = F.softmax(self.head(states), dim=-1)
        return Categorical(probs).sample()

    def one_state(self, state):
        return Categorical(F.softmax(self.head(state.view(-1)), dim=0)).sample()

    def of_scores(self, states):
        rows, width = states.shape
        shares = F.softmax(self.head(states), dim=0)
        return shares, Categorical(logits=shares).sample()
"""
    assert found(program, "SD401") == expected(program)
