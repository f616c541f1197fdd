"""What `scipy.special` gives, after its reference, so that SciPy need not be installed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

__all__ = ["special"]

Array = NDArray[np.float64]


def logsumexp(a: Array, axis: int | None = None, b: None = None, keepdims: bool = False) -> Array:
    return np.asarray(np.log(np.sum(np.exp(a), axis=axis, keepdims=keepdims)))


def softmax(x: Array, axis: int | None = None) -> Array:
    return np.asarray(np.exp(x - logsumexp(x, axis=axis, keepdims=True)))


def log_softmax(x: Array, axis: int | None = None) -> Array:
    return np.asarray(x - logsumexp(x, axis=axis, keepdims=True))


def expit(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def xlogy(x: Array, y: Array) -> Array:
    return np.asarray(x * np.log(y))


special = SimpleNamespace(expit=expit, log_softmax=log_softmax, logsumexp=logsumexp, softmax=softmax, xlogy=xlogy)
