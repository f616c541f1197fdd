"""Where a finding stands: in the code that raises, or in the call that brought in what does not fit."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, lint

HEAD = """\
import torch
import torch.nn as nn


"""

PROGRAMS = {
    "one of two calls of a helper passes the mask of the other sequence": """
def weigh(q, k, hidden):
    return (q @ k.transpose(-2, -1)).masked_fill(hidden, -1e9).softmax(-1)


class Layer(nn.Module):
    def forward(self, x, memory, hidden_x, hidden_memory):
        own = weigh(x, x, hidden_x)

        cross = weigh(x, memory, hidden_x)  # <- SD102

        return own, cross


x, memory = torch.randn(2, 5, 8), torch.randn(2, 7, 8)
hidden_x = torch.zeros(2, 5, 5, dtype=torch.bool)
Layer()(x, memory, hidden_x, torch.zeros(2, 5, 7, dtype=torch.bool))
""",
    "a helper that is wrong for whoever calls it": """
def weigh(q, k):
    n, t, d = q.shape
    n, s, d = k.shape
    return (q @ k).softmax(-1)  # <- SD101


class Layer(nn.Module):
    def forward(self, x, memory):
        return weigh(x, x) + weigh(x, memory)
""",
    "a class that is built with the wrong number": """
class Head(nn.Module):
    def __init__(self, size, classes):
        super().__init__()
        self.out = nn.Linear(size, classes)

    def forward(self, x):
        return self.out(x)


class Model(nn.Module):
    def __init__(self, width, hidden, classes):
        super().__init__()
        self.rnn = nn.GRU(width, hidden, batch_first=True, bidirectional=True)

        self.head = Head(hidden, classes)  # <- SD106

    def forward(self, x):
        return self.head(self.rnn(x)[0])


Model(8, 6, 3)(torch.randn(2, 5, 8))
""",
    "a class that gives its module the other of two sizes": """
class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.up = nn.Linear(width, hidden)

        self.down = nn.Linear(width, 2)  # <- SD106

    def forward(self, x):
        return self.down(self.up(x))


Model(8, 6)(torch.randn(2, 5, 8))
""",
    "a later round of a loop": """
class Loop(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.cell = nn.GRUCell(width, hidden)
        self.out = nn.Linear(hidden, width)

    def forward(self, x, state):
        step = x[:, 0]
        for _ in range(3):
            state = self.cell(step, state)  # <- SD106
            step = state
        return self.out(step)


Loop(8, 6)(torch.randn(2, 5, 8), torch.zeros(2, 6))
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_finding_stands_on_the_fault(name: str) -> None:
    text = HEAD + PROGRAMS[name]
    assert found(text, "SD101", "SD102", "SD105", "SD106", "SD109", "SD201") == expected(text)


def test_the_line_that_raises_is_a_label() -> None:
    text = HEAD + PROGRAMS["a class that is built with the wrong number"]
    (finding,) = lint(text, "SD106")
    lines = text.splitlines()
    assert any("self.out(x)" in lines[label.span.line - 1] for label in finding.labels)
    assert any("nn.Linear(size" in lines[label.span.line - 1] for label in finding.labels)
