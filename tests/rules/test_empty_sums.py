"""SD303 on sums: a decoder that adds the zeros of before its loop in every step hands nothing on."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = "import torch\nfrom torch import nn\n\n\n"

DECODER = """\
class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.cell = nn.GRUCell(2 * d, d)
        self.v = nn.Linear(d, 1)
        self.place = nn.Conv1d(2, d, 5, padding=2)
{init}
    def start(self, memory):
        B, T, d = memory.shape
        self.h, self.context = memory.new_zeros(B, d), memory.new_zeros(B, d)
        self.weights = {first}
        self.weights_sum = memory.new_zeros(B, T)

    def forward(self, inputs, memory):
        self.start(memory)
        outs = []
        for t in range(inputs.size(0)):
            seen = torch.stack((self.weights, self.weights_sum), dim=1)
            self.h = self.cell(torch.cat((inputs[t], self.context), -1), self.h)
            keys = self.h.unsqueeze(1) + memory + self.place(seen).transpose(1, 2)
            w = torch.softmax(self.v(torch.tanh(keys)).squeeze(-1), dim=1)
            self.context = torch.bmm(w.unsqueeze(1), memory).squeeze(1)
{step}
            outs.append(self.context)
        return torch.stack(outs)
"""


def found(*, step: str, first: str = "memory.new_zeros(B, T)", init: str = "") -> list[tuple[str, str]]:
    text = HEAD + DECODER.format(step=f"            {step}", first=first, init=init)
    findings = analyse("model.py", text, Settings(roots=())).findings
    lines = text.splitlines()
    return [(f.code, lines[f.span.line - 1].strip()) for f in findings if f.severity != "note"]


@pytest.mark.parametrize(
    "step", ["self.weights_sum += self.weights", "self.weights_sum = self.weights + self.weights_sum"]
)
@pytest.mark.parametrize("first", ["memory.new_zeros(B, T)", "memory.data.new(B, T).zero_()"])
def test_zeros_that_are_added_in_every_step(step: str, first: str) -> None:
    assert found(step=step, first=first) == [("SD303", step)]


@pytest.mark.parametrize(
    "step",
    [
        "self.weights, self.weights_sum = w, self.weights_sum + self.weights",
        "self.weights[:] = w; self.weights_sum = self.weights_sum + self.weights",
        "self.weights_sum = self.weights_sum + w",
        "self.weights_sum = w + self.weights",
    ],
)
def test_weights_that_are_handed_on(step: str) -> None:
    assert found(step=step) == []


def test_what_is_learnt_may_begin_at_zero() -> None:
    init = "        self.bias = nn.Parameter(torch.zeros(1, 7))\n"
    assert found(step="self.weights_sum = self.weights_sum + self.bias", init=init) == []
