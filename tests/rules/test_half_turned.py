"""The two halves of a state, of which only one is turned on the way that both go."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn

class Bridge(nn.Module):
    def __init__(self, d_in, d_h, n_layers, d_out, n_out):
        super().__init__()
        self.rnn = nn.LSTM(d_in, d_h, num_layers=n_layers, bidirectional=True, batch_first=True)
        self.for_h = nn.Linear(2 * n_layers * d_h, n_out * d_out)
        self.for_c = nn.Linear(2 * n_layers * d_h, n_out * d_out)
        self.d_out, self.n_out = d_out, n_out

    def forward(self, x, encoder):
        B, T, _ = x.shape
"""

WRONG = {
    "a cell state that stays as it was made": """
        _, (h, c) = self.rnn(x)
        h = torch.tanh(self.for_h(h.permute(1, 0, 2).reshape(B, -1))).reshape(B, self.n_out, self.d_out)
        c = torch.tanh(self.for_c(c.permute(1, 0, 2).reshape(B, -1))).reshape(B, self.n_out, self.d_out)  # <- SD602
        return h.permute(1, 0, 2), c
""",
    "states of an encoder that is not seen": """
        states = encoder(x)["states"]
        h = states[0].transpose(0, 1).reshape(B, -1)
        c = states[1].reshape(B, -1)  # <- SD602
        h, c = torch.tanh(self.for_h(h)), torch.tanh(self.for_c(c))
        return h.reshape(B, self.n_out, self.d_out), c.reshape(B, self.n_out, self.d_out)
""",
    "states that are given": """
        return None

    def carried(self, states):
        B = states[0].shape[1]
        h = torch.tanh(self.for_h(states[0].permute(1, 0, 2).reshape(B, -1)))
        c = torch.tanh(self.for_c(states[1].permute(1, 0, 2).reshape(B, -1)))
        h, c = h.reshape(B, self.n_out, self.d_out), c.reshape(B, self.n_out, self.d_out)  # <- SD602
        return h, c.permute(1, 0, 2)
""",
}

RIGHT = {
    "both turned": """
        _, (h, c) = self.rnn(x)
        h = torch.tanh(self.for_h(h.permute(1, 0, 2).reshape(B, -1))).reshape(B, self.n_out, self.d_out)
        c = torch.tanh(self.for_c(c.transpose(0, 1).reshape(B, -1))).reshape(B, self.n_out, self.d_out)
        return h.permute(1, 0, 2).contiguous(), c.permute(1, 0, 2)
""",
    "one that is a query besides": """
        _, (h, c) = self.rnn(x)
        h = torch.tanh(self.for_h(h.permute(1, 0, 2).reshape(B, -1))).reshape(self.n_out, B, self.d_out)
        c = torch.tanh(self.for_c(c.permute(1, 0, 2).reshape(B, -1))).reshape(self.n_out, B, self.d_out)
        return encoder((h, c), h.transpose(0, 1))
""",
    "queries and keys of one thing that is not seen": """
        pair = encoder(x)
        q = self.for_h(pair[0]).view(B, T, self.n_out, self.d_out).transpose(1, 2)
        k = self.for_c(pair[1]).view(B, T, self.n_out, self.d_out)
        return torch.einsum("bhqd,bkhd->bhqk", q, k)
""",
    "a state of which only the hidden half is used": """
        _, (h, c) = self.rnn(x)
        return torch.tanh(self.for_h(h.permute(1, 0, 2).reshape(B, -1)))
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_one_of_two_is_found(name: str) -> None:
    text = HEAD + WRONG[name].lstrip("\n")
    assert found(text, "SD602") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert not found(HEAD + RIGHT[name].lstrip("\n"), "SD602")
