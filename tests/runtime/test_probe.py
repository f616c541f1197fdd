"""`probe`: every name another size, and the trace of what came of it."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

import shapedoc
from shapedoc.core.trace import Trace
from shapedoc.rules import all_rules


def shown(trace: Trace) -> list[str]:
    return [e.sizes.show_shape(e.shape) for e in trace.events if e.shape is not None and e.sizes is not None]


def codes(trace: Trace) -> set[str]:
    return {f.code for rule in all_rules() for f in rule.check(trace) if f.severity != "note"}


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1) @ v


def untransposed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k, dim=-1) @ v


def wrong_axis(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-2, -1), dim=1) @ v


ARGUMENTS = "q: B T_dec d, k: B T_enc d, v: B T_enc d"


def test_shapes_are_told_by_name() -> None:
    trace = shapedoc.probe(attend, ARGUMENTS)
    assert shown(trace) == [
        "(B, d, T_enc)",
        "(B, T_dec, T_enc)",
        "(B, T_dec, T_enc)",
        "(B, T_dec, T_enc)",
        "(B, T_dec, d)",
    ]
    assert codes(trace) == set()


def test_a_silent_fault_shows() -> None:
    assert "SD401" in codes(shapedoc.probe(wrong_axis, ARGUMENTS))


def test_what_needs_equal_sizes_raises() -> None:
    with pytest.raises(RuntimeError, match="Expected size"):
        shapedoc.probe(untransposed, ARGUMENTS)


def split(x: Tensor, n_heads: int) -> Tensor:
    batch, steps, d_model = x.shape
    return x.view(batch, steps, n_heads, d_model // n_heads).transpose(1, 2)


def test_sizes_divide_where_they_must_and_stay_apart() -> None:
    trace = shapedoc.probe(split, {"x": "B T d_model", "n_heads": "4"})
    last = trace.events[-1]
    assert last.shape is not None
    numbers = [axis.dim.value for axis in last.shape.axes]
    assert numbers[1] == 4
    assert len(set(numbers)) == 4


class Model(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.d_model, self.n_heads = d_model, n_heads
        self.project = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return split(self.project(x), self.n_heads)


def test_a_module_has_the_sizes_that_it_was_built_with() -> None:
    trace = shapedoc.probe(Model(24, 3), {"x": "B T d_model"})
    assert [e.short for e in trace.events] == ["Linear.forward", "view", "transpose"]
    assert shown(trace)[0] == "(B, T, d_model)"


def test_tokens_and_masks_are_drawn_by_their_kind() -> None:
    def look_up(table: Tensor, tokens: Tensor, keep: Tensor) -> Tensor:
        return table[tokens] * keep.unsqueeze(-1)

    trace = shapedoc.probe(look_up, "table: V d, tokens: int<V B T, keep: keep B T")
    assert shown(trace)[-1] == "(B, T, d)"


class Widths(nn.Module):
    """It keeps no width by name: only its layers have one."""

    def __init__(self, d_model: int, d_memory: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(d_model, d_memory), nn.Linear(d_memory, d_memory)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(memory).transpose(1, 2)
        return torch.softmax(scores, dim=-1) @ memory


def test_widths_are_those_that_layers_take() -> None:
    trace = shapedoc.probe(Widths(32, 24), {"x": "B T d", "memory": "B S e"})
    last = trace.events[-1]
    assert last.sizes is not None
    assert last.shape is not None
    assert last.sizes.show_shape(last.shape) == "(B, T, e)"


def test_what_was_tried_is_said_where_nothing_fits() -> None:
    def narrow(x: Tensor) -> Tensor:
        return x.view(-1, 1000)

    with pytest.raises(RuntimeError) as raised:
        shapedoc.probe(narrow, "x: B T")
    (note,) = raised.value.__notes__
    assert note.startswith("probed with B=3, T=")
