"""SD105 on pairs: what a recurrent layer or attention gives is taken apart before it is used as a tensor."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = "import torch\nfrom torch import nn\n\n\n"

WRONG = {
    "states into a product": """
class Decoder(nn.Module):
    def __init__(self, d, d_h):
        super().__init__()
        self.lstm = nn.LSTM(d, d_h, batch_first=True)

    def forward(self, x, memory):
        B, S, d_h = memory.shape
        states = self.lstm(x)  # <-
        return torch.einsum("bij,bkj->bik", (states, memory))
""",
    "a pair of which a comment says one shape": """
class Decoder(nn.Module):
    def __init__(self, d, d_h):
        super().__init__()
        self.lstm = nn.LSTM(d, d_h, batch_first=True, dropout_rate=0.1)

    def forward(self, x, memory, state):
        states = self.lstm(x, state)  # (batch_size, T_dec, d_h) <-
        return torch.einsum("bij,bkj->bik", states, memory)
""",
    "a layer into a layer": """
class Reader(nn.Module):
    def __init__(self, d, d_h, n_words):
        super().__init__()
        self.gru = nn.GRU(d, d_h, batch_first=True)
        self.out = nn.Linear(d_h, n_words)

    def forward(self, x):
        return self.out(self.gru(x))  # <-
""",
    "an entry": """
class Coverage(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gru = nn.GRU(d, d, batch_first=True)

    def forward(self, x, n):
        B, T, d = x.shape
        kept = torch.zeros(B, T, d)
        for i in range(n):
            kept[:, i : i + 1, :] = self.gru(x[:, i : i + 1])  # <-
        return kept
""",
    "a residual": """
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attend = nn.MultiheadAttention(d, 4)

    def forward(self, x):
        return x + self.attend(x, x, x)  # <-
""",
}

RIGHT = {
    "taken apart later": """
class Reader(nn.Module):
    def __init__(self, d, d_h, n_words):
        super().__init__()
        self.gru = nn.GRU(d, d_h, batch_first=True)
        self.out = nn.Linear(d_h, n_words)

    def forward(self, x):
        pair = self.gru(x)
        states, last = pair
        return self.out(pair[0]) + self.out(states)
""",
    "a cell gives one": """
class Reader(nn.Module):
    def __init__(self, d, n_words):
        super().__init__()
        self.cell = nn.GRUCell(d, d)
        self.out = nn.Linear(d, n_words)

    def forward(self, x, state):
        return self.out(self.cell(x, state))
""",
    "the states go on as a pair": """
class Reader(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.cell = nn.LSTMCell(d, d)

    def forward(self, xs, state):
        for x in xs:
            state = self.cell(x, state)
        return state[0]
""",
}


def found(text: str) -> list[tuple[str, int]]:
    findings = analyse("model.py", text, Settings(roots=())).findings
    return [(f.code, f.span.line) for f in findings if f.severity != "note"]


@pytest.mark.parametrize("name", WRONG)
def test_a_pair_is_no_tensor(name: str) -> None:
    text = HEAD + WRONG[name].lstrip("\n")
    line = next(i for i, said in enumerate(text.splitlines(), 1) if said.endswith("<-"))
    assert ("SD105", line) in found(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_taken_apart_is_right(name: str) -> None:
    assert found(HEAD + RIGHT[name].lstrip("\n")) == []
