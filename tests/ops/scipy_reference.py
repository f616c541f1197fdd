"""What `scipy.special` gives, after its reference, so that SciPy need not be installed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

__all__ = ["special"]


def logsumexp(a: np.ndarray, axis: int | None = None, b: None = None, keepdims: bool = False) -> np.ndarray:
    return np.log(np.sum(np.exp(a), axis=axis, keepdims=keepdims))


def softmax(x: np.ndarray, axis: int | None = None) -> np.ndarray:
    return np.exp(x - logsumexp(x, axis=axis, keepdims=True))


def log_softmax(x: np.ndarray, axis: int | None = None) -> np.ndarray:
    return x - logsumexp(x, axis=axis, keepdims=True)


def expit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def xlogy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x * np.log(y)


special = SimpleNamespace(expit=expit, log_softmax=log_softmax, logsumexp=logsumexp, softmax=softmax, xlogy=xlogy)
