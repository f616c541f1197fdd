"""The counterfactual finds the weights of anybody's model, replaces them, and says how far the prediction moves."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import shapedoc
from fixtures.exhibit import load_right
from shapedoc.runtime.counterfactual import Counterfactual, CounterfactualError, counterfactual

B, T_ENC, T_DEC, D = 3, 7, 5, 12
SOURCE = torch.tensor([[3, 4, 5, 6, 7, 8, 9], [5, 3, 8, 0, 0, 0, 0], [9, 9, 4, 4, 3, 0, 0]])
TARGET = torch.randint(1, 11, (B, T_DEC), generator=torch.Generator().manual_seed(1))
QUERY, MEMORY = (torch.randn(B, size, D, generator=torch.Generator().manual_seed(size)) for size in (T_DEC, T_ENC))


def by_function(q: Tensor, h: Tensor) -> Tensor:
    return F.softmax(q @ h.transpose(-2, -1), dim=-1) @ h


def by_method_and_einsum(q: Tensor, h: Tensor) -> Tensor:
    return torch.einsum("btk,bkd->btd", torch.einsum("btd,bkd->btk", q, h).softmax(2), h)


def by_product_and_sum(q: Tensor, h: Tensor) -> Tensor:
    weights = torch.softmax(h @ q.transpose(-2, -1), dim=1).transpose(1, 2)
    return (weights.unsqueeze(-1) * h.unsqueeze(1)).sum(2)


def by_layer(q: Tensor, h: Tensor) -> Tensor:
    return torch.bmm(nn.Softmax(-1)(torch.bmm(q, h.mT)), h)


def by_kernel(q: Tensor, h: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, h, h, scale=1.0)


SPELLINGS: list[Callable[[Tensor, Tensor], Tensor]] = [
    by_function,
    by_method_and_einsum,
    by_product_and_sum,
    by_layer,
    by_kernel,
]


@pytest.mark.parametrize("attend", SPELLINGS)
def test_every_spelling_gives_the_same_movements(attend: Callable[[Tensor, Tensor], Tensor]) -> None:
    expected = counterfactual(by_function, (QUERY, MEMORY), kind="numbers", changes=["permuted", "uniform"])
    found = counterfactual(attend, (QUERY, MEMORY), kind="numbers", changes=["uniform"])
    assert found.keys == (T_ENC,)
    torch.testing.assert_close(found["uniform"].prediction, expected["uniform"].prediction)
    assert found["uniform"].mean > 0.1


def test_uniform_weights_give_the_mean() -> None:
    moved = counterfactual(by_function, (QUERY, MEMORY), kind="numbers", changes=["uniform"])["uniform"].prediction
    own = by_function(QUERY, MEMORY)
    mean = MEMORY.mean(1, keepdim=True).expand_as(own)
    torch.testing.assert_close(moved, (own - mean).norm(dim=-1) / own.norm(dim=-1))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_multihead_attention_moves_as_its_formula(need_weights: bool, training: bool) -> None:
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(D, 2, batch_first=True).train(training)

    def formula(q: Tensor, h: Tensor) -> Tensor:
        q, k, v = (
            F.linear(x, w, b).unflatten(-1, (2, D // 2)).transpose(1, 2)
            for x, w, b in zip(
                (q, h, h), attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3), strict=True
            )
        )
        heads = torch.softmax(q @ k.mT / math.sqrt(D // 2), -1) @ v
        merged: Tensor = attention.out_proj(heads.transpose(1, 2).flatten(2))
        return merged

    def module(q: Tensor, h: Tensor) -> Any:
        return attention(q, h, h, need_weights=need_weights)

    both = [counterfactual(f, (QUERY, MEMORY), kind="numbers", changes=["uniform"]) for f in (module, formula)]
    torch.testing.assert_close(both[0]["uniform"].prediction, both[1]["uniform"].prediction)
    assert attention.training is training


def test_torch_is_left_as_it_was() -> None:
    before = F.softmax, F.scaled_dot_product_attention
    attention = nn.MultiheadAttention(D, 2, batch_first=True)
    counterfactual(lambda q, h: attention(q, h, h), (QUERY, MEMORY), kind="numbers", changes=["uniform"])
    with pytest.raises(RuntimeError, match="attn_mask"):
        counterfactual(lambda q, h: attention(q, h, h, attn_mask=torch.zeros(2, 2)), (QUERY, MEMORY))
    assert (F.softmax, F.scaled_dot_product_attention) == before


def test_transformer_layer_is_not_taken_past_its_python_code() -> None:
    layer = nn.TransformerEncoderLayer(D, 2, batch_first=True).eval()
    assert counterfactual(layer, MEMORY, kind="numbers", changes=["uniform"])["uniform"].mean > 0.01


MODELS: dict[str, tuple[Callable[[], nn.Module], Any, int]] = {
    "bahdanau": (lambda: load_right("plain/bahdanau").Seq2Seq(11, 4, 6, 8, 9), (SOURCE, TARGET), T_DEC),
    "pointer generator": (
        lambda: load_right("plain/pointer_generator").PointerGenerator(11, 4, 8, D, 9),
        (SOURCE, TARGET, MEMORY, torch.zeros(B, 8), SOURCE != 0),
        T_DEC,
    ),
    "language model": (lambda: load_right("plain/transformer_block").LanguageModel(11, D, 2, 2), SOURCE, 2),
    "transformer": (lambda: load_right("student/transformer_mha").Transformer(11, 13, D, 2, 20), (SOURCE, TARGET), 3),
    "kernel": (
        lambda: load_right("plain/fused_attention").FusedAttention(D, 2),
        {"query": QUERY, "memory": MEMORY, "keep": SOURCE != 0},
        1,
    ),
}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_models_of_the_fixtures(name: str) -> None:
    make, batch, softmaxes = MODELS[name]
    torch.manual_seed(0)
    model = make().train()
    outcome = counterfactual(model, batch, steps=3)
    assert all(part.training for part in model.modules())
    assert outcome.softmaxes == softmaxes
    for movement in outcome.movements.values():
        assert movement.prediction.shape == outcome.shape[:-1]
        assert movement.prediction.isfinite().all()
    assert outcome["uniform"].mean > 0
    assert outcome["adversarial"].mean <= outcome.tolerance


def test_a_vocabulary_softmax_is_no_attention() -> None:
    make, batch, _ = MODELS["pointer generator"]
    assert counterfactual(make(), batch, changes=["uniform"]).keys == (T_ENC,)


def test_padding_and_future_stay_without_weight() -> None:
    seen: list[Tensor] = []

    def attend(q: Tensor, h: Tensor, keep: Tensor) -> Tensor:
        weights = torch.softmax((q @ h.mT).masked_fill(~keep[:, None], float("-inf")), -1)
        seen.append(weights)
        return weights @ h

    counterfactual(attend, (QUERY, MEMORY, SOURCE != 0), kind="numbers", steps=2)
    assert len(seen) == 1 + 5 + 1 + 2 + 1
    for weights in seen[1:]:
        assert (weights.masked_select((SOURCE == 0)[:, None]) == 0).all()
        torch.testing.assert_close(weights.sum(-1), torch.ones(B, T_DEC))
    permuted = seen[1]
    torch.testing.assert_close(permuted.sort(-1).values, seen[0].sort(-1).values)
    assert not torch.allclose(permuted, seen[0])


def test_a_row_without_keys_stays_as_it_is() -> None:
    masked = load_right("plain/masked_softmax")

    def attend(h: Tensor) -> Tensor:
        weights: Tensor = masked.masked_softmax(h[:, :, 0], masked.length_mask(torch.tensor([7, 2, 0]), T_ENC))
        return torch.bmm(weights.unsqueeze(1), h).squeeze(1)

    moved = counterfactual(attend, MEMORY, kind="numbers", changes=["uniform", "permuted"])["uniform"].prediction
    assert moved[2] == 0
    assert moved[0] > 0


def test_weights_that_decide_and_weights_that_do_not() -> None:
    values = torch.eye(T_ENC).expand(B, T_ENC, T_ENC)
    scores = 8 * torch.eye(T_DEC, T_ENC).expand(B, T_DEC, T_ENC)

    def deciding(scores: Tensor) -> Tensor:
        return torch.softmax(scores, -1) @ values

    def ignoring(scores: Tensor) -> Tensor:
        return values[:, :T_DEC] + 1e-3 * torch.softmax(scores, -1) @ values

    decides, ignores = (counterfactual(f, scores, seed=1) for f in (deciding, ignoring))
    assert decides["permuted"].mean > 0.7
    assert decides["permuted"].answers_changed is not None
    assert decides["permuted"].answers_changed > 0.7
    assert "depend on where these weights are" in decides.verdict
    assert ignores["permuted"].mean < 0.05
    assert "explain nothing" in ignores.verdict
    assert ignores["adversarial"].weights_mean > 0.3


def test_adversarial_weights_keep_the_prediction() -> None:
    """Two keys with one value: weight can go from one to the other, and nothing is seen of it."""
    values = torch.tensor([[9.0, 0.0], [9.0, 0.0], [0.0, 9.0]]).expand(B, 3, 2)
    scores = torch.tensor([9.0, 0.0, 0.0]).expand(B, 1, 3)
    outcome = counterfactual(lambda s: torch.softmax(s, -1) @ values, scores, changes=["adversarial"], steps=60)
    assert outcome["adversarial"].mean <= 0.05
    assert outcome["adversarial"].weights_mean > 0.2


def test_padding_of_the_prediction_is_left_out() -> None:
    counted = torch.arange(T_DEC) < torch.tensor([[5], [2], [1]])
    outcome = counterfactual(by_function, (QUERY, MEMORY), kind="numbers", counted=counted, changes=["uniform"])
    assert outcome["uniform"].prediction.shape == (8,)


def test_place_by_name_module_and_function() -> None:
    make, batch, _ = MODELS["transformer"]
    model: Any = make()
    cross = model.decoder_layer.cross_attn
    for at in ("decoder_layer.cross_attn", cross, type(cross).scaled_dot_product_attention):
        outcome = counterfactual(model, batch, at=at, changes=["uniform"])
        assert outcome.softmaxes == (1 if at != type(cross).scaled_dot_product_attention else 3)
    assert not cross._forward_hooks
    assert not cross._forward_pre_hooks


def test_errors_say_what_to_do() -> None:
    def by_hand(q: Tensor, h: Tensor) -> Tensor:
        scores = (q @ h.mT).exp()
        return scores / scores.sum(-1, keepdim=True) @ h

    with pytest.raises(CounterfactualError, match=r"no softmax was met .* make them with `torch.softmax`"):
        counterfactual(by_hand, (QUERY, MEMORY))
    with pytest.raises(CounterfactualError, match=r"nothing is contracted .* at="):
        counterfactual(lambda q: torch.softmax(q, -1), QUERY)
    with pytest.raises(CounterfactualError, match=r"no submodule 'atention'; there are .*decoder\.attention"):
        counterfactual(MODELS["bahdanau"][0](), (SOURCE, TARGET), at="atention")
    with pytest.raises(CounterfactualError, match="no softmax was met inside"):
        counterfactual(MODELS["bahdanau"][0](), (SOURCE, TARGET), at="decoder.cell")
    with pytest.raises(CounterfactualError, match=r"without a float tensor; .* output="):
        counterfactual(lambda q: (torch.softmax(q, -1) @ q.mT).argmax(-1), QUERY)
    with pytest.raises(CounterfactualError, match="no change is called 'random'"):
        counterfactual(by_function, (QUERY, MEMORY), changes=["random"])


def test_another_path_the_second_time_is_an_error() -> None:
    runs: list[int] = []

    def restless(q: Tensor, h: Tensor) -> Tensor:
        runs.append(1)
        return by_function(q[:, len(runs) - 1 :], h)

    with pytest.raises(CounterfactualError, match="does not take the same path twice"):
        counterfactual(restless, (QUERY, MEMORY), kind="numbers")


def test_same_seed_same_numbers_and_a_readable_repr() -> None:
    torch.manual_seed(0)
    first, second = (counterfactual(MODELS["bahdanau"][0](), (SOURCE, TARGET), steps=2) for _ in range(2))
    assert isinstance(first, Counterfactual)
    outcome = shapedoc.counterfactual(by_function, (QUERY, MEMORY), kind="numbers", changes=["uniform"])
    lines = repr(outcome).splitlines()
    assert lines[0] == "by_function: one softmax over 7 keys, predictions (3, 5, 12)"
    assert lines[2].split()[0] == "uniform"
    assert repr(outcome) == repr(
        shapedoc.counterfactual(by_function, (QUERY, MEMORY), kind="numbers", changes=["uniform"])
    )
    assert second.softmaxes == first.softmaxes


def test_importing_it_loads_no_torch() -> None:
    program = "import sys, shapedoc.runtime.counterfactual; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
