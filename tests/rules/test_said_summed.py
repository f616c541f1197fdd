"""SD701 on products: a comment that gives the result the size of the axis that was summed."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

TEXT = '''\
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, d_a, d_s, d_h):
        super().__init__()
        self.w_q, self.w_k, self.v = nn.Linear(d_s, d_a), nn.Linear(d_h, d_a), nn.Linear(d_a, 1)

    def forward(self, query, values):
        """Attend.

        Args:
            query: [N, D], decoder state
            values: [N, T, H], encoder states
        """
        scores = self.v(torch.tanh(self.w_q(query.unsqueeze(1)) + self.w_k(values)))
        weights = torch.softmax(scores.squeeze(-1), dim=1)
        {line}
        return context
'''


def found(line: str) -> list[tuple[str, str]]:
    text = TEXT.format(line=line)
    findings = analyse("model.py", text, Settings(roots=())).findings
    lines = text.splitlines()
    return [(f.code, lines[f.span.line - 1].strip()) for f in findings if f.severity != "note"]


@pytest.mark.parametrize(
    "made", ["torch.bmm(weights.unsqueeze(1), values).squeeze(1)", "(weights.unsqueeze(2) * values).sum(dim=1)"]
)
def test_the_size_of_what_was_summed(made: str) -> None:
    line = f"context = {made}  # [N, T]"
    assert found(line) == [("SD701", line)]


@pytest.mark.parametrize("said", ["[N, H]", "[N, E]", ""])
def test_other_names_are_none_of_its_sizes(said: str) -> None:
    assert found(f"context = torch.bmm(weights.unsqueeze(1), values).squeeze(1)  # {said}") == []
