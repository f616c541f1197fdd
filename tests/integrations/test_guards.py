"""A call like the last one is let through by a guard; whatever differs in what a signature holds is verified."""

from typing import Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

import shapedoc
from shapedoc.integrations import checked as checked_module
from shapedoc.integrations import guards


@shapedoc.check
def follows(x: Float[Tensor, "B d"]) -> Float[Tensor, "B d"]:
    return x * 2


@shapedoc.check
def depends(x: Float[Tensor, "B d"]) -> Float[Tensor, "B d"]:
    return x * 2 if x.sum() > 0 else x[:, :1]


def verified(function: Any) -> int:
    """How many calls went the slow way and were good."""
    state = function.__dict__["__shapedoc__"]
    assert isinstance(state, checked_module.Checked)
    return state.good


def test_what_a_signature_holds_is_never_let_through() -> None:
    @shapedoc.check
    class Layer(nn.Module):
        def forward(
            self, x: Tensor, mask: Tensor | None = None, steps: int = 1, name: str = "a", *rest: Tensor, **more: Any
        ) -> Tensor:
            # x: (B, T, d)
            return x + 1 if mask is None else x * mask

    layer, other = Layer(), Layer()
    x, mask = torch.randn(2, 5, 3), torch.ones(2, 5, 1)
    layer(x)
    calls = 1
    for one, given, named in (
        (layer, (x,), {}),
        (layer, (torch.randn(2, 6, 3),), {}),
        (layer, (x.double(),), {}),
        (layer, (x, mask), {}),
        (layer, (x, mask[:, :1]), {}),
        (layer, (x, mask.bool()), {}),
        (layer, (x, None, 2), {}),
        (layer, (x, None, True), {}),
        (layer, (x, None, 1, "b"), {}),
        (layer, (x, None, 1, "a", x), {}),
        (layer, (x,), {"scale": 2}),
        (other, (x,), {}),
    ):
        for _ in range(3):
            one(*given, **named)
        calls += 1
        assert verified(Layer.forward) == calls, (given, named)
    layer.eval()
    layer(x)
    assert verified(Layer.forward) == calls + 1
    with torch.autocast("cpu"):
        layer(x)
    assert verified(Layer.forward) == calls + 2
    with torch.no_grad():
        layer(x)
    assert verified(Layer.forward) == calls + 2, "a mode that a signature does not hold is looked up"


def test_one_tensor_given_three_times_is_guarded_too() -> None:
    @shapedoc.check
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return torch.softmax(q @ k.transpose(1, 2), dim=-1) @ v

    x = torch.randn(2, 5, 3)
    for _ in range(3):
        attend(x, x, x)
    state = attend.__dict__["__shapedoc__"]
    assert not state.plan.joined
    assert len(state.last) == 4, "the entry and three guards"
    attend(x, torch.randn(2, 4, 3), torch.randn(2, 4, 3))
    assert state.good == 3


def test_without_guards_signatures_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "guard_of", lambda tensors: None)

    @shapedoc.check
    def double(x: Tensor) -> Tensor:
        return x * 2

    for steps in (3, 3, 4, 3, 4):
        double(torch.randn(2, steps))
    assert verified(double) == 3


def test_containers_are_looked_up() -> None:
    @shapedoc.check
    def total(x: Tensor, state: tuple[Tensor, Tensor]) -> Tensor:
        return x + state[0] + state[1]

    for size in (3, 3, 4, 3):
        total(torch.randn(2, size), (torch.randn(2, size), torch.randn(2, size)))
    assert verified(total) == 3
    assert total.__dict__["__shapedoc__"].plan.forms is None


def test_results_that_follow_are_compared_at_times_and_others_always() -> None:
    assert follows.__dict__["__shapedoc__"].follows
    assert not depends.__dict__["__shapedoc__"].follows
    for _ in range(40):
        follows(torch.ones(2, 3))
    assert verified(follows) == 4, "the first two, the sixteenth and the thirty-second of the signature"
    for _ in range(3):
        depends(torch.ones(2, 3))
    with pytest.raises(shapedoc.ShapeError):
        depends(-torch.ones(2, 3))


def test_an_object_that_goes_is_not_taken_for_the_next_one() -> None:
    @shapedoc.check
    class Scale(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * 2

    for _ in range(3):
        Scale()(torch.randn(2, 3))
    assert Scale.forward.__dict__["__shapedoc__"].last == []
