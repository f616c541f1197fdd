"""Functions of which reading says all that a call does: only followed, and recorded where they go another way."""

import importlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

import shapedoc
from shapedoc.integrations import watched
from shapedoc.integrations.watched import Watch


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    watched._told.clear()
    yield
    watched._told.clear()


def watch_of(function: Any) -> Watch:
    watch = function.__dict__["__shapedoc__"].watch
    assert isinstance(watch, Watch)
    return watch


@shapedoc.check
def attend(q: Float[Tensor, "B T_dec d"], k: Float[Tensor, "B T_enc d"]) -> Float[Tensor, "B T_dec d"]:
    weights = torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, dim=-1)
    return weights @ k


@shapedoc.check
class Heads(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.project, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def split(self, x: Tensor) -> Tensor:
        B, T, d_model = x.shape
        return x.view(B, T, self.n_heads, d_model // self.n_heads).transpose(1, 2)

    def forward(self, x: Float[Tensor, "B T d_model"]) -> Float[Tensor, "B T d_model"]:
        B, T, d_model = x.shape
        heads = self.split(self.project(x))
        scores = heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        merged: Tensor = self.out((weights @ heads).transpose(1, 2).reshape(B, T, d_model))
        return merged


@shapedoc.check
class Gate(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.map, self.act = nn.Linear(d, d), nn.Tanh()

    def forward(self, x: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        out: Tensor = self.act(self.map(x)) * x
        return out


class OtherGate(Gate):
    def __init__(self, d: int) -> None:
        super().__init__(d)
        self.act = nn.Sequential(nn.Tanh(), nn.Tanh())


@shapedoc.check
def masked(
    q: Float[Tensor, "B T_dec d"], k: Float[Tensor, "B T_enc d"], keep: Bool[Tensor, "B T_enc"]
) -> Float[Tensor, "B T_dec d"]:
    scores = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).masked_fill(~keep.unsqueeze(1), float("-inf"))
    return torch.softmax(scores, dim=-1) @ k


@shapedoc.check
def maybe_masked(
    q: Float[Tensor, "B T_dec d"], k: Float[Tensor, "B T_enc d"], keep: Bool[Tensor, "B T_enc"] | None = None
) -> Float[Tensor, "B T_dec d"]:
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    if keep is not None:
        scores = scores.masked_fill(~keep.unsqueeze(1), float("-inf"))
    return torch.softmax(scores, dim=-1) @ k


@shapedoc.check
def maybe_over_queries(
    q: Float[Tensor, "B T_dec d"], k: Float[Tensor, "B T_enc d"], keep: Bool[Tensor, "B T_dec"] | None = None
) -> Float[Tensor, "B T_dec d"]:
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    if keep is None:
        return torch.softmax(scores, dim=-1) @ k
    else:
        return torch.softmax(scores.masked_fill(~keep.unsqueeze(-1), float("-inf")), dim=-1) @ k


@shapedoc.check
class Fused(nn.Module):
    def __init__(self, d: int, n_heads: int) -> None:
        super().__init__()
        self.project, self.n_heads = nn.Linear(d, 3 * d), n_heads

    def forward(self, x: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        B, T, d = x.shape
        parts = self.project(x).chunk(3, dim=-1)
        q, k, v = (p.view(B, T, self.n_heads, d // self.n_heads).transpose(1, 2) for p in parts)
        heads = nn.functional.scaled_dot_product_attention(q, k, v)
        return heads.transpose(1, 2).reshape(B, T, d)


@shapedoc.check
def over_queries(q: Float[Tensor, "B T_dec d"], k: Float[Tensor, "B T_enc d"]) -> Float[Tensor, "B T_dec d"]:
    weights = torch.softmax(q @ k.transpose(1, 2), dim=1)
    return weights @ k


@shapedoc.check
def branching(x: Float[Tensor, "B T d"], y: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
    if x.shape[1] > 3:
        return torch.tanh(x)
    return x + y


@shapedoc.check
def of_one(x: Float[Tensor, "B T 1"], y: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
    return x * y


@shapedoc.check
def squeezed(x: Float[Tensor, "B T d"]) -> Tensor:
    return x.squeeze() + 1


def test_what_was_foreseen_is_never_recorded() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batch, queries, keys, width in ((2, 3, 5, 7), (4, 4, 4, 4), (1, 3, 5, 7), (2, 1, 1, 2)):
            out = attend(torch.randn(batch, queries, width), torch.randn(batch, keys, width))
            assert out.shape == (batch, queries, width)
    assert watch_of(attend).foreseen
    assert watch_of(attend).recordings == 0


def test_functions_that_it_calls_are_foreseen_with_it() -> None:
    for d_model, n_heads, steps in ((12, 3, 5), (8, 2, 5), (12, 3, 12)):
        Heads(d_model, n_heads)(torch.randn(2, steps, d_model))
    assert watch_of(Heads.forward).foreseen
    assert watch_of(Heads.forward).recordings == watch_of(Heads.split).recordings == 0


def test_masks_and_comprehensions_are_foreseen() -> None:
    masked(torch.randn(2, 3, 7), torch.randn(2, 5, 7), torch.ones(2, 5, dtype=torch.bool))
    Fused(12, 3)(torch.randn(2, 5, 12))
    for function in (masked, Fused.forward):
        assert watch_of(function).foreseen
        assert watch_of(function).recordings == 0


def test_an_argument_that_may_be_none_is_foreseen_both_ways() -> None:
    q, k = torch.randn(2, 3, 7), torch.randn(2, 5, 7)
    for given in ((q, k), (q, k, torch.ones(2, 5, dtype=torch.bool)), (q, k, None)):
        maybe_masked(*given)
    assert set(watch_of(maybe_masked).foreseen) == {frozenset(), frozenset({"keep"})}
    assert watch_of(maybe_masked).recordings == 0


def test_a_fault_in_one_of_two_ways_is_told() -> None:
    assert not watch_of(maybe_over_queries).foreseen
    with pytest.warns(shapedoc.ShapeWarning, match="mask"):
        maybe_over_queries(torch.randn(2, 3, 7), torch.randn(2, 5, 7), torch.ones(2, 3, dtype=torch.bool))


def test_a_wrong_argument_is_told_before_anything_runs() -> None:
    with pytest.raises(shapedoc.ShapeError, match="do not agree on `d`"):
        attend(torch.randn(2, 3, 7), torch.randn(2, 5, 6))


@pytest.mark.parametrize("function", [over_queries, branching, of_one, squeezed], ids=lambda f: f.__name__)
def test_what_reading_leaves_open_or_finds_fault_with_is_recorded(function: Any) -> None:
    assert not watch_of(function).foreseen


def test_what_reading_finds_is_told_in_the_first_call() -> None:
    with pytest.warns(shapedoc.ShapeWarning, match="softmax over `T_dec`"):
        over_queries(torch.randn(2, 3, 7), torch.randn(2, 5, 7))


def test_a_part_that_was_exchanged_is_seen_and_the_next_call_recorded() -> None:
    model = Gate(7)
    model(torch.randn(2, 3, 7))
    watch = watch_of(Gate.forward)
    foreseen = dict(watch.foreseen)
    assert foreseen
    model.act = nn.Sigmoid()
    model(torch.randn(2, 4, 7))
    assert not watch.foreseen
    assert watch.recordings == 0
    model(torch.randn(2, 5, 7))
    assert watch.recordings == 1
    watch.foreseen = foreseen


def test_an_object_of_a_subclass_is_recorded() -> None:
    watch = watch_of(Gate.forward)
    before = watch.recordings
    OtherGate(6)(torch.randn(2, 3, 6))
    assert watch.foreseen
    assert watch.recordings == before + 1


def test_an_error_in_a_foreseen_call_is_explained() -> None:
    model = Heads(12, 3)
    model.out = nn.Linear(5, 12)
    with pytest.raises(RuntimeError) as raised:
        model(torch.randn(2, 4, 12))
    (note,) = raised.value.__notes__
    assert "self.out(" in note
    assert "in_features" in note


def test_names_that_are_defined_below_are_read_in_the_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "named_below.py").write_text(
        "from __future__ import annotations\n\n"
        "import shapedoc\nimport torch\n\n\n"
        "@shapedoc.check\n"
        'def product(a: Array[Tensor, "n m"], b: Array[Tensor, "m p"]) -> Array[Tensor, "n p"]:\n'
        "    return a @ b\n\n\n"
        "from torch import Tensor\nfrom jaxtyping import Float as Array\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    product = importlib.import_module("named_below").product
    product(torch.randn(2, 3), torch.randn(3, 4))
    with pytest.raises(shapedoc.ShapeError, match="b"):
        product(torch.randn(2, 3), torch.randn(5, 4))


def test_packages_that_are_hooked_are_not_read_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hooked_product.py").write_text(
        "from jaxtyping import Float\nfrom torch import Tensor\n\n\n"
        'def product(a: Float[Tensor, "n m"], b: Float[Tensor, "m p"]) -> Float[Tensor, "n p"]:\n'
        "    return a @ b\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with shapedoc.install_import_hook("hooked_product"):
        product = importlib.import_module("hooked_product").product
    assert not watch_of(product).foreseen
    product(torch.randn(2, 3), torch.randn(3, 4))
    assert watch_of(product).recordings == 1
