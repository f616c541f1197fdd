"""`behave` finds what raises nothing, by perturbation alone, and is silent on the right twins."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from shapedoc.runtime.behave import ContractError, behave

SELF = "q: B T d, k: B T d, v: B T d, pad: drop B T -> B T d"
CROSS = "q: B T_dec d, k: B T_enc d, v: B T_enc e -> B T_dec e, weights: B T_dec T_enc"
HEADS = "q: B H T_dec d, k: B H T_enc d, v: B H T_enc d -> B T_dec H*d"
STEP = "s: B d_s, h: B T d_h, W: d_s d_a, U: d_h d_a, v: d_a 1 -> context: B d_h, weights: B T"


def mask_on_queries(q: Tensor, k: Tensor, v: Tensor, pad: Tensor) -> Tensor:
    scores = (q @ k.transpose(-2, -1)).masked_fill(pad.unsqueeze(-1), -1e9)
    return torch.softmax(scores, -1) @ v


def mask_on_keys(q: Tensor, k: Tensor, v: Tensor, pad: Tensor) -> Tensor:
    scores = (q @ k.transpose(-2, -1)).masked_fill(pad.unsqueeze(1), -1e9)
    return torch.softmax(scores, -1) @ v


def unused_mask(q: Tensor, k: Tensor, v: Tensor, pad: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-2, -1), -1) @ v


def softmax_over_queries(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = torch.softmax(q @ k.transpose(-2, -1), 1)
    return weights @ v, weights


def softmax_over_keys(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = torch.softmax(q @ k.transpose(-2, -1), -1)
    return weights @ v, weights


def scores_from_values(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = torch.softmax(q @ v.transpose(-2, -1), -1)
    return weights @ v, weights


def merged_by_reshape(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    context = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v
    b, h, t, d = context.shape
    return context.reshape(b, t, h * d)


def merged_by_transpose(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    context = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v
    b, h, t, d = context.shape
    return context.transpose(1, 2).reshape(b, t, h * d)


def softmax_over_one(s: Tensor, h: Tensor, W: Tensor, U: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = torch.softmax(torch.tanh((s @ W).unsqueeze(1) + h @ U) @ v, -1)
    return (weights * h).sum(1), weights.squeeze(-1)


def softmax_over_time(s: Tensor, h: Tensor, W: Tensor, U: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = torch.softmax(torch.tanh((s @ W).unsqueeze(1) + h @ U) @ v, 1)
    return (weights * h).sum(1), weights.squeeze(-1)


def query_cancels(s: Tensor, h: Tensor, W: Tensor, U: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = torch.softmax(((s @ W).unsqueeze(1) + h @ U) @ v, 1)
    return (weights * h).sum(1), weights.squeeze(-1)


def no_keepdim(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    w = torch.exp(q @ k.transpose(-2, -1))
    return (w / w.sum(-1)) @ v


def with_keepdim(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    w = torch.exp(q @ k.transpose(-2, -1))
    return (w / w.sum(-1, keepdim=True)) @ v


def broadcast_loss(prediction: Tensor, target: Tensor) -> Tensor:
    return ((prediction - target) ** 2).mean()


def paired_loss(prediction: Tensor, target: Tensor) -> Tensor:
    return ((prediction.squeeze(1) - target) ** 2).mean()


def over_the_batch(x: Tensor) -> Tensor:
    return torch.softmax(x @ x.transpose(0, 1), -1) @ x


def squeezed(x: Tensor) -> Tensor:
    return x.sum(1).squeeze()


def numpy_weights_masked_late(scores: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    return np.asarray(weights * (np.arange(scores.shape[-1]) < lengths[:, None]))


def numpy_masked_softmax(scores: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    hidden = np.arange(scores.shape[-1]) >= lengths[:, None]
    weights = np.exp(np.where(hidden, -np.inf, scores))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


@pytest.mark.parametrize(
    ("fn", "contract", "fails"),
    [
        (mask_on_queries, SELF, "masked-keys-change-nothing"),
        (unused_mask, SELF, "every-input-matters"),
        (softmax_over_queries, CROSS, "weights-sum-to-one"),
        (scores_from_values, CROSS, "runs-at-any-size"),
        (scores_from_values, CROSS, "every-input-matters"),
        (merged_by_reshape, HEADS, "queries-are-independent"),
        (softmax_over_one, STEP, "weights-sum-to-one"),
        (query_cancels, STEP, "every-input-matters"),
        (no_keepdim, "q: B T d, k: B T d, v: B T d -> B T d; equivariant T; same B T", "order-follows-input"),
        (broadcast_loss, "prediction: B 1, target: B -> loss:", "loss-is-least-at-target"),
        (over_the_batch, "x: B d -> B d", "rows-do-not-mix"),
        (squeezed, "x: B T d -> B d", "alone-as-in-batch"),
        (numpy_weights_masked_late, "scores: B T, lengths: lengths<T B -> weights: B T", "weights-sum-to-one"),
    ],
)
def test_a_silent_bug_fails_its_property(fn: Callable[..., Any], contract: str, fails: str) -> None:
    outcome = behave(fn, contract)
    assert fails in [failure.property for failure in outcome.failures], str(outcome)


@pytest.mark.parametrize(
    ("fn", "contract"),
    [
        (mask_on_keys, SELF),
        (softmax_over_keys, CROSS),
        (merged_by_transpose, HEADS),
        (softmax_over_time, STEP),
        (with_keepdim, "q: B T d, k: B T d, v: B T d -> B T d; equivariant T; same B T"),
        (paired_loss, "prediction: B 1, target: B -> loss:"),
        (numpy_masked_softmax, "scores: B T, lengths: lengths<T B -> weights: B T"),
    ],
)
def test_the_right_twin_is_silent(fn: Callable[..., Any], contract: str) -> None:
    outcome = behave(fn, contract)
    assert outcome, str(outcome)


def weighted_in_place(s: Tensor, h: Tensor) -> Tensor:
    weights = torch.softmax(torch.einsum("bd,btd->bt", s, h), 1)
    return h.mul_(weights.unsqueeze(2)).sum(1)


def weighted_in_place_numpy(s: Any, h: Any) -> Any:
    scores = np.einsum("bd,btd->bt", s, h)
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    h *= weights[:, :, None]
    return h.sum(1)


@pytest.mark.parametrize("fn", [weighted_in_place, weighted_in_place_numpy])
def test_an_argument_that_is_written_into(fn: Callable[..., Any]) -> None:
    outcome = behave(fn, "s: B d, h: B T d -> B d")
    assert [failure.property for failure in outcome.failures] == ["inputs-are-kept"]
    assert outcome.failures[0].says.startswith("`h` holds other numbers after the call")
    scope: dict[str, Any] = {}
    exec(outcome.test().replace(f"from {__name__} import {fn.__name__}", ""), scope | {fn.__name__: fn})
    assert "np.allclose(np.asarray(h, dtype=float), [[[" in outcome.test()


class Causal(nn.Module):
    def __init__(self, diagonal: int) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.diagonal = diagonal

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), self.diagonal)
        scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(8)
        return torch.softmax(scores.masked_fill(hidden, -math.inf), -1) @ self.v(x)


@pytest.mark.parametrize(("diagonal", "fails"), [(1, []), (2, ["no-future-leaks"]), (0, ["results-are-finite"])])
def test_the_triangle(diagonal: int, fails: list[str]) -> None:
    outcome = behave(Causal(diagonal), "x: B T d -> B T d; causal T", sizes={"d": 8})
    assert [failure.property for failure in outcome.failures] == fails, str(outcome)


class Decoder(nn.Module):
    """Attention over given memory; `late` queries the new state."""

    def __init__(self, late: bool) -> None:
        super().__init__()
        self.embed, self.cell, self.late = nn.Embedding(11, 4), nn.GRUCell(10, 6), late

    def forward(self, tokens: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        s, rows, states = torch.zeros(len(tokens), 6), [], []
        for t in range(tokens.shape[1]):
            if self.late:
                s = self.cell(torch.cat([self.embed(tokens[:, t]), memory.mean(1)], 1), s)
            weights = torch.softmax(torch.bmm(memory, s[:, :, None])[:, :, 0] + memory.sum(2), -1)
            if not self.late:
                context = torch.bmm(weights[:, None], memory)[:, 0]
                s = self.cell(torch.cat([self.embed(tokens[:, t]), context], 1), s)
            rows.append(weights)
            states.append(s)
        return torch.stack(states, 1), torch.stack(rows, 1)


@pytest.mark.parametrize(("late", "paper", "right"), [(False, "bahdanau", True), (True, "bahdanau", False),
                                                      (True, "luong", True), (False, "luong", False)])  # fmt: skip
def test_the_flip_test_knows_the_state(late: bool, paper: str, right: bool) -> None:
    torch.manual_seed(0)
    contract = f"tokens: int<V B T_dec, memory: B T_enc d -> B T_dec d, weights: B T_dec T_enc; {paper}"
    outcome = behave(Decoder(late), contract, sizes={"V": 11, "d": 6}, skip=["keys-in-any-order"])
    assert ("queries-the-right-state" not in [f.property for f in outcome.failures]) == right, str(outcome)


def test_a_dead_parameter_is_named() -> None:
    class Dead(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.forgotten = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x: Tensor) -> Tensor:
            return self.used(x)

    outcome = behave(Dead(), "x: B d -> B d", sizes={"d": 8})
    assert [f.says for f in outcome.failures] == ["no result depends on `forgotten.weight`: the gradient is zero"]


def test_padding_must_change_nothing() -> None:
    class Mean(nn.Module):
        def __init__(self, masked: bool) -> None:
            super().__init__()
            self.embed, self.masked = nn.Embedding(9, 4, padding_idx=0), masked

        def forward(self, tokens: Tensor) -> Tensor:
            summed = self.embed(tokens).sum(1)
            return summed / ((tokens != 0).sum(1, keepdim=True) if self.masked else tokens.shape[1])

    contract = "tokens: int<V pad=0 B T -> B d"
    assert behave(Mean(masked=True), contract, sizes={"V": 9, "d": 4})
    outcome = behave(Mean(masked=False), contract, sizes={"V": 9, "d": 4})
    assert [f.property for f in outcome.failures] == ["padding-changes-nothing"]


def test_a_reference_is_compared() -> None:
    outcome = behave(scores_from_values, CROSS, reference=softmax_over_keys, only=["equals-reference"])
    assert not outcome
    assert behave(softmax_over_keys, CROSS, reference=softmax_over_keys, only=["equals-reference"])


def test_every_regression_test_fails_now_and_passes_on_the_right_twin() -> None:
    found = [*behave(mask_on_queries, SELF).failures, *behave(unused_mask, SELF).failures]
    assert found
    for failure in found:
        body = failure.test.partition("\n\n\n")[2]
        broken, right = {"np": np, "torch": torch}, {"np": np, "torch": torch}
        name = body.split("(")[0].removeprefix("def ")
        exec(body, broken | dict.fromkeys(("mask_on_queries", "unused_mask"), mask_on_queries), broken)
        exec(body, right | dict.fromkeys(("mask_on_queries", "unused_mask"), mask_on_keys), right)
        scope = {"np": np, "torch": torch, "mask_on_queries": mask_on_keys, "unused_mask": mask_on_keys}
        exec(body, scope)
        scope[name]()


def test_the_message_shows_the_smallest_failing_input() -> None:
    failure = behave(mask_on_queries, SELF).failures[0]
    assert failure.sizes == {"B": 1, "T": 2, "d": 1}
    assert str(failure).splitlines()[:6] == dedent(
        """\
        masked-keys-change-nothing: key 1 of example 0 is masked, yet changing it moves `output` by 1.08
          right: a key that the mask hides changes nothing
          smallest failing input, with B = 1, T = 2, d = 1:
            q = [[[ 0.126],  [-0.132]]]
            k = [[[0.64 ],  [0.105]]]
            v = [[[-0.536],  [ 0.362]]]"""
    ).splitlines()  # fmt: skip


def test_a_module_is_left_as_it_was() -> None:
    module = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)).train()
    module[0].weight.grad = torch.ones(8, 8)
    state = torch.get_rng_state()
    assert behave(module, "x: B d -> B d", sizes={"d": 8})
    assert module.training
    assert module[1].training
    assert bool((module[0].weight.grad == 1).all())
    assert torch.equal(torch.get_rng_state(), state)


def test_refused_inputs_say_which_sizes_were_drawn() -> None:
    with pytest.raises(ContractError, match=r"Linear refuses .* drawn with B=3, d=5: RuntimeError.* give the sizes"):
        behave(nn.Linear(8, 8), "x: B d -> B d")
    with pytest.raises(ContractError, match="no property is called 'sums'"):
        behave(nn.Linear(8, 8), "x: B d -> B d", sizes={"d": 8}, only=["sums"])


Kept = tuple[Tensor, Tensor]


class Cached(nn.Module):
    """Causal self-attention that returns its keys and values. offset_counts: whether positions go on."""

    def __init__(self, *, offset_counts: bool = True) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.qkv, self.position = nn.Linear(6, 18), nn.Embedding(64, 6)
        self.offset_counts = offset_counts

    def forward(
        self, x: Tensor, offset: int = 0, cache: Kept | None = None, *, masked: bool = True
    ) -> tuple[Tensor, Kept]:
        start = offset if self.offset_counts else 0
        q, k, v = self.qkv(x + self.position(torch.arange(start, start + x.shape[1]))).chunk(3, dim=-1)
        if cache is not None:
            k, v = torch.cat((cache[0], k), dim=1), torch.cat((cache[1], v), dim=1)
        steps, keys = q.shape[1], k.shape[1]
        scores = q @ k.transpose(1, 2)
        if masked:
            scores = scores.masked_fill(torch.ones(steps, keys, dtype=torch.bool).triu(keys - steps + 1), -math.inf)
        return torch.softmax(scores, dim=-1) @ v, (k, v)


class InPlace(nn.Module):
    """The same, which fills a dictionary. masked_prefill: whether it hides the future when it is given one."""

    def __init__(self, *, masked_prefill: bool = True) -> None:
        super().__init__()
        self.inner, self.masked_prefill = Cached(), masked_prefill

    def forward(self, x: Tensor, cache: dict[str, Kept] | None = None) -> Tensor:
        if cache is None:
            out: Tensor = self.inner(x)[0]
            return out
        offset = cache["kept"][0].shape[1] if cache else 0
        stepped: Tensor
        stepped, cache["kept"] = self.inner(x, offset, cache.get("kept"), masked=self.masked_prefill)
        return stepped


RETURNED = "x: B T 6, offset: offset<T, cache: cache<T -> out: B T 6, cache: ; mixes T; causal T"
KEPT = "x: B T 6, cache: cache<T -> out: B T 6; mixes T; causal T"


@pytest.mark.parametrize(
    ("module", "contract", "fails"),
    [
        (Cached(), RETURNED, []),
        (Cached(offset_counts=False), RETURNED, ["steps-equal-whole"]),
        (InPlace(), KEPT, []),
        (InPlace(masked_prefill=False), KEPT, ["steps-equal-whole"]),
    ],
)
def test_token_by_token_equals_all_at_once(module: nn.Module, contract: str, fails: list[str]) -> None:
    outcome = behave(module, contract)
    assert [failure.property for failure in outcome.failures] == fails
    if not fails:
        assert "steps-equal-whole" in outcome.held
        return
    (failure,) = outcome.failures
    assert "one by one" in failure.says
    scope: dict[str, Any] = {}
    exec(failure.test, scope)
    test = next(value for name, value in scope.items() if name.startswith("test_"))
    with pytest.raises(AssertionError):
        test(module)
    right: nn.Module = Cached() if isinstance(module, Cached) else InPlace()
    test(right)


def test_an_axis_of_several_for_each_example_is_cut_in_blocks() -> None:
    def score(model: nn.Module, features: Tensor, candidates: Tensor, *, times: bool) -> Tensor:
        spread = features.repeat(4, 1) if times else features.repeat_interleave(4, dim=0)
        scores: Tensor = model(spread * candidates).view(-1, 4)
        return scores

    contract = "features: B 5, candidates: B*4 5 -> scores: B 4"
    torch.manual_seed(0)
    model = nn.Linear(5, 1)
    assert behave(functools.partial(score, model, times=False), contract)
    wrong = behave(functools.partial(score, model, times=True), contract)
    assert [f.property for f in wrong.failures] == ["rows-do-not-mix", "alone-as-in-batch"]
    assert wrong.name == "score"


class Forecast(nn.Module):
    """Predicts steps from those before. late: it is fed the very step that it predicts."""

    def __init__(self, *, late: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.out, self.late = nn.GRUCell(2, 4), nn.Linear(4, 2), late

    def forward(self, path: Tensor) -> Tensor:
        state, predictions = torch.zeros(path.shape[1], 4), []
        for t in range(3, path.shape[0]):
            state = self.cell(path[t if self.late else t - 1], state)
            predictions.append(self.out(state))
        return torch.stack(predictions)


@pytest.mark.parametrize("late", [False, True])
def test_what_is_predicted_is_not_given(late: bool) -> None:
    outcome = behave(Forecast(late=late), "path: P+F B 2 -> steps: F B 2; predicts F", sizes={"P": 3})
    assert [f.property for f in outcome.failures] == (["no-target-leaks"] if late else [])
    assert ("no-target-leaks" in outcome.held) is not late
    if late:
        assert "moves its own prediction in `steps`" in outcome.failures[0].says


def test_a_large_input_is_told_by_its_shape_and_what_is_changed_by_its_place() -> None:
    outcome = behave(Forecast(late=True), "path: P+F B 2 -> steps: F B 2; predicts F", sizes={"P": 3, "F": 12})
    text = str(outcome)
    assert "path = numbers of shape (15, 1, 2)" in text
    assert "then path[3, :, :] is drawn anew" in text
    assert "print(outcome.test())" in text
