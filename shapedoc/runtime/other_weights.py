"""Other weights in place of a softmax's own: uniform, permuted, adversarial; and how different they are.

Weights of exactly zero, as a mask makes them, stay zero; a row without any key keeps what it had.
Source: Jain and Wallace (2019), sections 4.2.1 and 4.2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from shapedoc.runtime.softmaxes import Softmax

__all__ = ["adversarial", "divergence", "permuted", "uniform"]


def uniform(one: Softmax) -> Tensor:
    """The same weight for every key that has some."""
    kept = one.weights > 0
    return _or_own(kept / kept.sum(one.axis, keepdim=True).clamp_min(1), kept, one)


def permuted(one: Softmax, generator: torch.Generator) -> Tensor:
    """The weights of every row in another order, among the keys that have some."""
    kept = one.weights > 0
    noise = torch.rand(one.weights.shape, generator=generator).to(one.weights.device)
    drawn = noise.masked_fill(~kept, 2.0).argsort(one.axis)
    places = (~kept).to(torch.int8).argsort(dim=one.axis, stable=True)
    moved = torch.zeros_like(one.weights)
    moved.scatter_(one.axis, places, one.weights.gather(one.axis, drawn))
    return _or_own(moved, kept, one)


def _or_own(other: Tensor, kept: Tensor, one: Softmax) -> Tensor:
    """Rows without any key keep what they had, zeros or NaN."""
    return torch.where(kept.any(one.axis, keepdim=True), other, one.weights)


def _normalised(free: Tensor, one: Softmax) -> Tensor:
    """A softmax over the keys that have weight."""
    kept = one.weights > 0
    exponent = (free - free.detach().amax(one.axis, keepdim=True)).exp() * kept
    return _or_own(exponent / exponent.sum(one.axis, keepdim=True).clamp_min(1e-12), kept, one)


def divergence(some: Tensor, other: Tensor, axis: int) -> Tensor:
    """Jensen-Shannon divergence along an axis, in nats: 0 for equal weights, log 2 for weights on different keys."""
    middle = (some + other) / 2
    parts = [torch.special.xlogy(one, one.clamp_min(1e-12) / middle.clamp_min(1e-12)) for one in (some, other)]
    return ((parts[0] + parts[1]).sum(axis) / 2).clamp_min(0)


def adversarial(
    found: Mapping[int, Softmax],
    moved_by: Callable[[dict[int, Tensor]], Tensor],
    generator: torch.Generator,
    tolerance: float,
    steps: int,
) -> dict[int, Tensor]:
    """Weights as far from their own as can be found while the prediction moves by at most `tolerance`, on average.

    moved_by: the distance of every prediction under these weights, differentiable. Gradient ascent (Adam) on the
    divergence of all weights at once, from their own logarithms and a little noise; of the steps that keep the
    tolerance, the one that goes farthest. Where nothing better is found, their own.
    """
    free = {}
    for number, one in found.items():
        noise = torch.randn(one.weights.shape, generator=generator).to(one.weights)
        free[number] = (one.weights.clamp_min(1e-6).log() + 0.1 * noise).requires_grad_()
    best, farthest = {number: one.weights for number, one in found.items()}, 0.0
    optimizer = torch.optim.Adam(list(free.values()))
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 0.3 * (1 - step / steps)
        with torch.enable_grad():
            weights = {number: _normalised(free[number], one) for number, one in found.items()}
            moved = moved_by(weights)
            apart = [divergence(one.weights, weights[number], one.axis).mean() for number, one in found.items()]
            far = torch.stack(apart).mean()
            excess = (moved - tolerance).clamp_min(0).mean()
            optimizer.zero_grad()
            gradients = torch.autograd.grad(10 * excess - far, list(free.values()), allow_unused=True)
        reached = float(far.detach())
        if float(moved.detach().mean()) <= tolerance and reached > farthest:
            best, farthest = {number: value.detach() for number, value in weights.items()}, reached
        for place, gradient in zip(free.values(), gradients, strict=True):
            place.grad = gradient
        optimizer.step()
    return best
