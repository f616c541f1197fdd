"""What an oracle is: the right computation in NumPy, and the wrong ones that students write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from shapedoc.grade.draws import Array

__all__ = ["Answer", "Given", "Mistake", "Oracle", "softmax"]

Given: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong computation, under the name that the catalogue of messages explains.

    compute: its results for an input; it raises ValueError where the mistake itself would raise. code: the linter's
    rule for the same mistake, where it has one.
    """

    name: str
    compute: Callable[[Given], Answer]
    code: str = ""


@dataclass(frozen=True, slots=True)
class Oracle:
    """The right results for an input, in float64, and the mistakes, the likeliest first.

    arguments: the names that it reads. results: the names of what it gives.
    """

    name: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    right: Callable[[Given], Answer]
    mistakes: tuple[Mistake, ...]


def softmax(scores: Array, axis: int = -1, keep: Array | None = None) -> Array:
    """Softmax over an axis, over the places that `keep` lets count; zeros where it lets none."""
    scores = np.asarray(scores, dtype=np.float64)
    keep = np.ones(scores.shape, dtype=bool) if keep is None else np.broadcast_to(keep, scores.shape)
    masked = np.where(keep, scores, -np.inf)
    largest = masked.max(axis=axis, keepdims=True)
    exponentials = np.exp(masked - np.where(np.isfinite(largest), largest, 0.0))
    total = exponentials.sum(axis=axis, keepdims=True)
    weights: Array = exponentials / np.where(total > 0, total, 1.0)
    return weights
