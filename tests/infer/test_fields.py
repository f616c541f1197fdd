"""Fields of a config or a dict that a function assigns: they are what has been assigned, in every branch."""

from __future__ import annotations

import pytest

from tests.rules.expectations import found

DECODER = """\
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, words, width, config, flag):
        super().__init__()
        self.config = config
        %s
        self.embed = nn.Embedding(words, width)
        self.value = nn.Linear(config%s, config%s)
        self.rnn = nn.GRU(%s + self.config%s, width, batch_first=True)

    def forward(self, words, context):
        return self.rnn(torch.cat((self.embed(words), self.value(context)), dim=-1))
"""


@pytest.mark.parametrize(
    ("assigned", "state", "memory"),
    [
        ("self.config['state'] = width", "self.config['state']", "['memory']"),
        ("self.config.state = width", "self.config.state", ".memory"),
        ("if flag:\n            config.memory = 8", "width", ".memory"),
    ],
)
def test_a_field_is_what_has_been_assigned_to_it(assigned: str, state: str, memory: str) -> None:
    assert found(DECODER % (assigned, memory, memory, state, memory), "SD106") == []


def test_what_one_branch_assigns_to_a_field_leaves_the_others_known() -> None:
    text = """\
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.bias is None:
            config.bias = True
        self.up = nn.Linear(config.width, config.inner)
        self.down = nn.Linear(config.width, config.width)

    def forward(self, x):
        return self.down(self.up(x))
"""
    assert [f.line for f in found(text, "SD106")] == [10]
