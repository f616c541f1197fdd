"""Functions that state nothing: read as if they were given what attention mostly is, and recorded elsewhere."""

import math
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import shapedoc
from shapedoc.integrations import watched


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    watched._told.clear()
    yield
    watched._told.clear()


@shapedoc.check
class Heads(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = self.split(self.q(query)), self.split(self.k(key)), self.split(self.v(value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        context = (torch.softmax(scores, dim=-1) @ v).transpose(1, 2)
        joined: Tensor = self.out(context.flatten(2))
        return joined

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.size(0), x.size(1), self.n_heads, self.d_head).transpose(1, 2)


@shapedoc.check
def attend(q: Any, k: Any, v: Any) -> Any:
    return F.softmax(q @ k.transpose(1, 2) / math.sqrt(q.size(-1)), dim=-1) @ v


@shapedoc.check
def over_queries(q: Any, k: Any, v: Any) -> Any:
    return F.softmax(q @ k.transpose(1, 2) / math.sqrt(q.size(-1)), dim=1) @ v


@shapedoc.check
def paired(x: Any, y: Any) -> Any:
    return x * y


def watch_of(function: Any) -> watched.Watch:
    state = function.__dict__["__shapedoc__"].watch
    assert isinstance(state, watched.Watch)
    return state


def test_calls_with_three_axes_are_not_recorded() -> None:
    model = Heads(12, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batch, queries, keys in ((2, 3, 5), (4, 4, 4), (1, 3, 5)):
            memory = torch.randn(batch, keys, 12)
            assert model(torch.randn(batch, queries, 12), memory, memory).shape == (batch, queries, 12)
            attend(torch.randn(batch, queries, 7), torch.randn(batch, keys, 7), torch.randn(batch, keys, 7))
    assert watch_of(Heads.forward).foreseen
    assert watch_of(Heads.forward).recordings == watch_of(Heads.split).recordings == watch_of(attend).recordings == 0


def test_other_calls_are_recorded() -> None:
    memory = torch.randn(2, 5, 12)
    Heads(12, 3)(torch.randn(2, 3, 12), memory, memory, torch.ones(2, 1, 1, 5))
    assert watch_of(Heads.forward).recordings == 1, "with a mask"
    before = watch_of(attend).recordings
    attend(torch.randn(2, 3, 7), torch.randn(2, 5, 7), torch.randn(2, 5, 9))
    attend(torch.randn(2, 1, 7), torch.randn(2, 5, 7), torch.randn(2, 5, 7))
    assert watch_of(attend).recordings == before + 2, "values that are wider; a single query"
    paired(torch.randn(2, 3, 7), torch.randn(2, 1, 7))
    assert watch_of(paired).recordings == 1, "a step that is broadcast"


def test_what_reading_finds_or_leaves_open_is_recorded() -> None:
    assert not watch_of(over_queries).foreseen
    with pytest.warns(shapedoc.ShapeWarning, match="SD401"):
        over_queries(torch.randn(2, 3, 7), torch.randn(2, 5, 7), torch.randn(2, 5, 7))
