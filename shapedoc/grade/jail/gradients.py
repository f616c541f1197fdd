"""Gradients that a call is asked for; checked by finite differences outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

__all__ = ["gradients_of"]

_grad = torch.autograd.grad
_tensor = torch.from_numpy


def gradients_of(result: Any, inputs: Sequence[torch.Tensor], cotangent: Any) -> list[torch.Tensor | None]:
    """The gradients of `sum(first * cotangent)` with respect to `inputs`, None where it does not depend on one.

    first: the result, or the first tensor in it. Raises TypeError where there is no tensor, and what torch raises.
    """
    first = _first(result)
    if first is None:
        raise TypeError("the result holds no tensor to differentiate")
    if not first.requires_grad:
        return [None] * len(inputs)
    weight = torch.ones_like(first) if cotangent is None else _tensor(cotangent.copy()).to(first.dtype)
    return list(_grad(first, list(inputs), weight, allow_unused=True))


def _first(result: Any) -> torch.Tensor | None:
    if isinstance(result, torch.Tensor):
        return result
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, tuple | list):
        for each in result:
            if (found := _first(each)) is not None:
                return found
    return None
