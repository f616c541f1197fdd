"""The trace of a run: names, places, rounds and layers, and the rules on it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from shapedoc.core.trace import Event
from shapedoc.core.value import Int, Layer
from shapedoc.rules import all_rules
from shapedoc.runtime.recorder import RunRecorder
from shapedoc.runtime.recording import record
from tests.runtime.recorded import found, recorded


def shown(event: Event) -> str:
    assert event.shape is not None
    assert event.sizes is not None
    return event.sizes.show_shape(event.shape)


def test_sizes_have_the_names_that_the_program_gives_them(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        """\
import torch

class Heads(torch.nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads

    def split(self, x):
        batch, steps, d_model = x.shape
        return x.view(batch, steps, self.n_heads, self.d_head).transpose(1, 2)

T = 5
Heads(12, 3).split(torch.randn(2, T, 12))
""",
    )
    made, viewed, turned = recording.trace.events
    assert (made.op, shown(made)) == ("torch.randn", "(batch, T, d_model)")
    assert (viewed.op, viewed.function) == ("torch.Tensor.view", "Heads.split")
    assert shown(viewed) == "(batch, T, n_heads, d_head)"
    assert shown(turned) == "(batch, n_heads, T, d_head)"
    assert viewed.calls[0].function == "Heads.split"
    assert viewed.calls[0].span.line == 14


def test_a_stated_shape_names_the_axes_of_an_argument(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        """\
import torch

def scores(query, keys):
    # query: (B, d), keys: (B, T, d)
    return (keys @ query.unsqueeze(-1)).squeeze(-1)

scores(torch.randn(3, 4), torch.randn(3, 6, 4))
""",
    )
    assert shown(recording.trace.events[-1]) == "(B, T)"


def test_a_layer_knows_what_it_was_built_with_and_where(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        """\
import torch

class Model(torch.nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.project = torch.nn.Linear(d_in, 2 * d_out)

    def forward(self, x):
        return self.project(x)

Model(6, 4)(torch.randn(5, 6))
""",
    )
    built, made, called = recording.trace.events
    layer = built.result
    assert isinstance(layer, Layer)
    assert (built.op, built.span.line, built.target) == ("torch.nn.Linear", 6, "self.project")
    assert called.op == "torch.nn.Linear.forward"
    assert called.value("self") is layer
    out = layer.config["out_features"]
    assert isinstance(out, Int)
    assert str(out.dim) == "2*d_out"
    assert shown(called) == "(5, 2*d_out)"
    assert made.op == "torch.randn"


def test_rounds_of_a_loop_are_told_apart(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        """\
import torch

state = torch.zeros(2, 3)
for step in range(2):
    for layer in range(3):
        state = torch.tanh(state)
    state = state + 1
""",
    )
    rounds = [tuple(n for _, n in event.loops) for event in recording.trace.events]
    assert rounds == [(), (0, 0), (0, 1), (0, 2), (0,), (1, 0), (1, 1), (1, 2), (1,)]
    loops = {event.loops[1][0] for event in recording.trace.events if len(event.loops) == 2}
    assert len(loops) == 2, "the inner loop is another one in each round of the outer"


def test_a_loop_without_end_is_recorded_for_some_rounds(tmp_path: Path) -> None:
    recording = recorded(tmp_path, "import torch\nx = torch.zeros(3)\nfor i in range(500):\n    x = x + 1\ny = x * 2\n")
    events = recording.trace.events
    assert len(events) < 20
    assert events[-1].op == "operator.mul"


def test_what_the_table_gets_wrong_gives_way_to_the_real_shape(tmp_path: Path) -> None:
    recording = recorded(tmp_path, "import torch\nx = torch.arange(7)\ny = x[x > 3]\nz = y * 2\n")
    assert [e.shape.axes[0].dim.value for e in recording.trace.events if e.shape is not None] == [7, 7, 3, 3]


def test_a_silent_fault_is_found_in_what_ran(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        """\
import torch

def attend(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=1)
    return weights @ value

attend(torch.randn(3, 5, 8), torch.randn(3, 6, 8), torch.randn(3, 6, 8))
""",
    )
    assert ("SD401", 4) in found(recording)


def test_a_right_program_has_no_findings_and_loses_nothing(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        """\
import math
import torch

def attend(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return torch.softmax(scores, dim=-1) @ value

attend(torch.randn(3, 5, 8), torch.randn(3, 6, 8), torch.randn(3, 6, 8))
""",
    )
    assert found(recording) == []
    assert recording.trace.unknown == {}
    assert recording.recorder.faults == 0


def test_a_suppressed_finding_is_not_told(tmp_path: Path) -> None:
    program = """\
import torch

x = torch.randn(3, 5, 8)
weights = torch.softmax(x @ x.transpose(-2, -1), dim=1)  # shapedoc: ignore[SD401]
y = weights @ x
"""
    assert found(recorded(tmp_path, program)) == []
    assert found(recorded(tmp_path, program.replace("  # shapedoc: ignore[SD401]", ""))) == [("SD401", 4)]


def test_the_same_sizes_do_not_hide_a_missing_transpose(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        """\
import torch

def attend(q, k, v):
    # q: (B, T_dec, d_k), k: (B, T_enc, d_k), v: (B, T_enc, d_k)
    return torch.softmax(q @ k, dim=-1) @ v

attend(torch.randn(2, 8, 8), torch.randn(2, 8, 8), torch.randn(2, 8, 8))
""",
    )
    assert ("SD101", 5) in found(recording)


def test_an_exception_is_explained_at_its_sub_expression(tmp_path: Path) -> None:
    rule = next(rule for rule in all_rules() if rule.code == "SD903")
    recording = recorded(tmp_path, rule.bad[0].code)
    explanation = recording.explanation()
    assert explanation is not None
    assert explanation.span.line == 4
    assert explanation.message.startswith("`torch.nn.utils.rnn.pack_padded_sequence(torch.randn(3, 7, 4), lengths, ")
    assert recorded(tmp_path, rule.good[0].code).explanation() is None


def test_a_fault_of_the_recorder_is_not_the_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHAPEDOC_DEBUG", raising=False)

    def broken(*given: object) -> None:
        raise ZeroDivisionError

    program = "import torch\nx = torch.randn(2, 3)\ny = torch.nn.Linear(3, 4)(x)\nb, d = y.shape\nz = y.view(b * d)\n"
    for name in ("locate", "evaluated", "settle"):
        with monkeypatch.context() as changed:
            changed.setattr(RunRecorder, name, broken)
            recording = recorded(tmp_path, program)
        assert recording.error is None
        assert recording.recorder.faults > 0


def test_another_thread_is_left_alone(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        """\
import threading
import torch

layer = torch.nn.Linear(3, 4)
results = []
thread = threading.Thread(target=lambda: results.append(layer(torch.randn(2, 3))))
thread.start()
thread.join()
assert results[0].shape == (2, 4)
y = layer(torch.randn(5, 3))
""",
    )
    assert recording.error is None
    assert [e.short for e in recording.trace.events] == ["Linear", "randn", "Linear.forward"]


def test_sizes_that_know_their_names_are_numbers_to_everybody_else(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        """\
import copy, json, pickle
import torch

b, d = torch.randn(2, 3).shape
assert (b, d) == (2, 3) and isinstance(b, int) and f"{b:02d}" == "02"
assert json.dumps([b, d]) == "[2, 3]" and type(pickle.loads(pickle.dumps(b))) is int
assert type(copy.deepcopy(d)) is int and list(range(b)) == [0, 1] and [7, 8][b - 1] == 8
assert str(torch.randn(b, d).shape) == "torch.Size([2, 3])" and torch.zeros(d)[b] == 0
""",
    )
    assert recording.error is None


def test_what_the_program_deals_with_is_no_fault(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        "import torch\n"
        "q, k = torch.randn(2, 3), torch.randn(4, 5)\n"
        "try:\n"
        "    scores = q @ k\n"
        "except RuntimeError:\n"
        "    scores = q @ torch.randn(3, 5)\n"
        "scores.relu()\n",
    )
    assert recording.error is None
    assert found(recording) == []
    assert {line for _, line in recording.handled} == {4}


def test_an_exception_that_another_one_came_of_is_no_less_a_fault(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        "import torch\n"
        "q, k = torch.randn(2, 3), torch.randn(4, 5)\n"
        "try:\n"
        "    scores = q @ k\n"
        "except RuntimeError as problem:\n"
        "    raise ValueError('no scores') from problem\n",
    )
    assert isinstance(recording.error, ValueError)
    assert ("SD101", 4) in found(recording)


def test_a_result_that_nobody_takes_is_seen(tmp_path: Path) -> None:
    recording = recorded(
        tmp_path,
        """\
import contextlib
import torch
from torch import nn

drop = nn.Dropout(0.1)

def attend(scores, hidden, out):
    scores.masked_fill(hidden, -1e9)
    drop(scores)
    scores.clamp_(max=50.0)
    torch.clamp(scores, max=50.0, out=out)
    try:
        scores.view(-1, 7)
    except RuntimeError:
        pass
    with contextlib.suppress(RuntimeError):
        scores.permute(0, 1)
    weights = scores.softmax(-1)
    return weights

scores = torch.randn(2, 7)
scores.transpose(0, 1)
attend(scores, scores > 0, torch.empty(2, 7))
""",
    )
    assert recording.error is None
    assert [line for code, line in found(recording) if code == "SD607"] == [8, 9]


def test_directions_before_layers_are_told_by_what_the_author_wrote(tmp_path: Path) -> None:
    text = """\
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self, d_in, d_h, layers):
        super().__init__()
        self.layers, self.d_h = layers, d_h
        self.lstm = nn.LSTM(d_in, d_h, layers, bidirectional=True)

    def forward(self, x):
        _, (state, _) = self.lstm(x)
        return state.view({}, x.size(1), self.d_h)

Encoder(5, 6, 2)(torch.randn(4, 3, 5))
"""
    wrong = recorded(tmp_path, text.format("2, self.layers"))
    right = recorded(tmp_path, text.format("self.layers, 2"))
    assert [code for code, _ in found(wrong)] == ["SD305"]
    assert found(right) == []


class Gate(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.act: torch.nn.Module = torch.nn.Tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.act(x)
        return out


def test_a_layer_that_was_exchanged_is_not_said_to_be_built_where_the_first_one_was() -> None:
    model = Gate()
    lines = []
    for act in (model.act, torch.nn.Sigmoid()):
        model.act = act
        with record(lambda path: path == __file__) as recording:
            model(torch.randn(2, 3))
        layer = recording.trace.events[-1].operands[0].value
        assert isinstance(layer, Layer)
        lines.append(layer.span.line)
    assert lines[0] > 0
    assert lines[1] == 0
