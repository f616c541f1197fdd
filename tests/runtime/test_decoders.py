"""Which state a decoder's attention queries, with every kind of cell: right ones are silent, broken ones are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedoc.runtime.recording import Recording
from tests.runtime.recorded import recorded

MODEL = '''\
import torch
from torch import nn

B, T_ENC, T_DEC, D_H, D_S, D_ATTN, D_EMB, V = 3, 7, 4, 6, 5, 8, 9, 11


class Gates(nn.Module):
    """A GRU cell written by hand."""

    def __init__(self, d_in, d_s):
        super().__init__()
        self.reset, self.update = nn.Linear(d_in + d_s, d_s), nn.Linear(d_in + d_s, d_s)
        self.new = nn.Linear(d_in + d_s, d_s)

    def forward(self, x, s):
        r = torch.sigmoid(self.reset(torch.cat([x, s], dim=-1)))
        z = torch.sigmoid(self.update(torch.cat([x, s], dim=-1)))
        n = torch.tanh(self.new(torch.cat([x, r * s], dim=-1)))
        return (1 - z) * n + z * s


class LongGates(nn.Module):
    """An LSTM cell written by hand, its four gates made at once."""

    def __init__(self, d_in, d_s):
        super().__init__()
        self.gates = nn.Linear(d_in + d_s, 4 * d_s)

    def forward(self, x, state):
        h, c = state
        i, f, o, g = self.gates(torch.cat([x, h], dim=-1)).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class {name}(nn.Module):
    """{claim}"""

    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(D_EMB, D_H, batch_first=True)
        self.bridge = nn.Linear(D_H, D_S)
        self.embed = nn.Embedding(V, D_EMB)
        self.w_a = nn.Linear(D_S, D_ATTN, bias=False)
        self.u_a = nn.Linear(D_H, D_ATTN, bias=False)
        self.v_a = nn.Linear(D_ATTN, 1, bias=False)
        self.general = nn.Linear(D_H, D_S, bias=False)
        self.cell = {cell}
        self.out = nn.Linear(D_S + D_H, V)

    def additive(self, query, memory):
        scores = self.v_a(torch.tanh(self.w_a(query).unsqueeze(1) + self.u_a(memory))).squeeze(-1)
        weights = torch.softmax(scores, dim=-1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)

    def multiplicative(self, query, memory):
        scores = torch.bmm(self.general(memory), query.unsqueeze(2)).squeeze(2)
        weights = torch.softmax(scores, dim=-1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)

    def forward(self, source, target):
        memory, last = self.encoder(self.embed(source))
        start = torch.tanh(self.bridge(last[-1]))
        state = {start}
        context = torch.zeros(source.shape[0], D_H)
        logits = []
        for t in range(target.shape[1]):
            y = self.embed(target[:, t])
{body}
            logits.append(self.out(torch.cat([{query}, context], dim=-1)))
        return torch.stack(logits, dim=1)


{name}()(torch.randint(0, V, (B, T_ENC)), torch.randint(0, V, (B, T_DEC)))
'''

# How each cell is built from the width of its input, its first state, one step, and the state as (B, d_s).
CELLS = {
    "GRUCell": ("nn.GRUCell({d}, D_S)", "start", "self.cell({x}, state)", "{s}"),
    "LSTMCell": ("nn.LSTMCell({d}, D_S)", "(start, torch.zeros_like(start))", "self.cell({x}, state)", "{s}[0]"),
    "GRU": (
        "nn.GRU({d}, D_S, batch_first=True)",
        "start.unsqueeze(0)",
        "self.cell({x}.unsqueeze(1), state)[1]",
        "{s}[-1]",
    ),
    "LSTM": (
        "nn.LSTM({d}, D_S, batch_first=True)",
        "(start.unsqueeze(0), torch.zeros_like(start).unsqueeze(0))",
        "self.cell({x}.unsqueeze(1), state)[1]",
        "{s}[0][-1]",
    ),
    "gates of a GRU": ("Gates({d}, D_S)", "start", "self.cell({x}, state)", "{s}"),
    "gates of an LSTM": (
        "LongGates({d}, D_S)",
        "(start, torch.zeros_like(start))",
        "self.cell({x}, state)",
        "{s}[0]",
    ),
}
# Name, claim, whether the context feeds the cell, the lines of a step, and the rule that is broken.
DECODERS = {
    "bahdanau": (
        "Bahdanau",
        "Bahdanau attention, https://arxiv.org/abs/1409.0473",
        True,
        ["context = self.additive({q}, memory)", "state = {step}"],
        "",
    ),
    "bahdanau broken": (
        "Bahdanau",
        "Bahdanau attention: additive scores with the state s_(t-1), https://arxiv.org/abs/1409.0473",
        False,
        ["state = {step}", "context = self.additive({q}, memory)"],
        "SD301",
    ),
    "luong": (
        "Luong",
        "Luong attention, https://arxiv.org/abs/1508.04025",
        False,
        ["state = {step}", "context = self.multiplicative({q}, memory)"],
        "",
    ),
    "luong broken": (
        "Luong",
        "Luong attention, https://arxiv.org/abs/1508.04025",
        False,
        ["new = {step}", "context = self.multiplicative({q}, memory)", "state = new"],
        "SD302",
    ),
    "input feeding": (
        "Luong",
        "Luong attention with input feeding, https://arxiv.org/abs/1508.04025",
        True,
        ["state = {step}", "context = self.multiplicative({q}, memory)"],
        "",
    ),
}


def program(decoder: str, cell: str) -> str:
    name, claim, feeds, lines, _ = DECODERS[decoder]
    build, start, step, query = CELLS[cell]
    x = "torch.cat([y, context], dim=-1)" if feeds else "y"
    width = "D_EMB + D_H" if feeds else "D_EMB"
    state = query.format(s="state")
    body = "\n".join(f"            {line.format(q=state, step=step.format(x=x))}" for line in lines)
    return MODEL.format(name=name, claim=claim, cell=build.format(d=width), start=start, body=body, query=state)


@pytest.mark.parametrize(("decoder", "cell"), [(d, c) for d in DECODERS for c in CELLS])
def test_the_state_that_is_queried(decoder: str, cell: str, tmp_path: Path) -> None:
    judge(recorded(tmp_path, program(decoder, cell)), DECODERS[decoder][4])


def judge(recording: Recording, wanted: str) -> None:
    """One finding of this rule and no other, with the lines of the cell and of the attention; or none."""
    assert recording.error is None
    findings = [f for f in recording.findings() if f.severity != "note"]
    if not wanted:
        assert [(f.code, f.span.line, f.message) for f in findings] == []
        return
    (finding,) = findings
    assert finding.code == wanted
    lines = recording.trace.text.splitlines()
    places = {finding.span.line, *(label.span.line for label in finding.labels)}
    told = [lines[n - 1] for n in places]
    assert any("self.cell(" in line for line in told), "the call of the cell is named"
    assert any("memory)" in line or "softmax" in line for line in told), "and the attention"


# All steps in one call of the cell, where the context can go into no cell: Luong's decoder, the same with the states
# of the steps before, and one that claims to be Bahdanau's. Its name, its lines, and the rule that is broken.
WHOLE = {
    "luong": ("luong", ["context = self.multiplicative(states, memory)"], ""),
    "luong broken": (
        "luong broken",
        [
            "before = torch.cat([start.unsqueeze(1), states[:, :-1]], dim=1)",
            "context = self.multiplicative(before, memory)",
        ],
        "SD302",
    ),
    "bahdanau broken": ("bahdanau broken", ["context = self.additive(states, memory)"], "SD301"),
}
STEP, OF_ALL = "weights.unsqueeze(1), memory).squeeze(1)", "weights, memory)"


def whole_program(decoder: str, cell: str) -> str:
    """The same model with no loop over the steps."""
    key, lines, _ = WHOLE[decoder]
    name, claim, *_ = DECODERS[key]
    build, start, *_ = CELLS[cell]
    head, rest = MODEL.split("        context = torch.zeros", 1)
    tail = rest.split("return torch.stack(logits, dim=1)\n", 1)[1]
    steps = ["states, _ = self.cell(self.embed(target), state)", *lines]
    steps.append("return self.out(torch.cat([states, context], dim=-1))")
    body = "".join(f"        {line}\n" for line in steps)
    for old, new in (
        (STEP, OF_ALL),
        (
            "self.w_a(query).unsqueeze(1) + self.u_a(memory)",
            "self.w_a(query).unsqueeze(2) + self.u_a(memory).unsqueeze(1)",
        ),
        (
            "torch.bmm(self.general(memory), query.unsqueeze(2)).squeeze(2)",
            "query @ self.general(memory).transpose(1, 2)",
        ),
    ):
        assert old in head
        head = head.replace(old, new)
    return (
        head.format(name=name, claim=claim, cell=build.format(d="D_EMB"), start=start) + body + tail.format(name=name)
    )


@pytest.mark.parametrize(("decoder", "cell"), [(d, c) for d in WHOLE for c in ("GRU", "LSTM")])
def test_the_state_that_is_queried_at_all_steps_at_once(decoder: str, cell: str, tmp_path: Path) -> None:
    judge(recorded(tmp_path, whole_program(decoder, cell)), WHOLE[decoder][2])
