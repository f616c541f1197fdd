"""The four scorers of the papers: state (B, d_s) and memory (B, T_enc, d_h) -> scores (B, T_enc).

Sources: Bahdanau et al. 2015, appendix A.1.2 (additive); Luong et al. 2015, section 3.1 (dot, general, concat).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from shapedoc.grade.draws import Array
from shapedoc.grade.oracles.oracle import Answer, Given, Mistake, Oracle, softmax

__all__ = ["ORACLES"]

_Compute = Callable[[Given], Array]


def _get(given: Given, *names: str) -> list[Array]:
    return [np.asarray(given[name], dtype=np.float64) for name in names]


def _of(compute: _Compute) -> Callable[[Given], Answer]:
    return lambda given: (compute(given),)


def _dot(given: Given) -> Array:
    state, memory = _get(given, "state", "memory")
    scores: Array = np.einsum("bd,btd->bt", state, memory)
    return scores


def _general(given: Given) -> Array:
    state, memory, weight = _get(given, "state", "memory", "W")
    scores: Array = np.einsum("bs,sh,bth->bt", state, weight, memory)
    return scores


def _general_transposed(given: Given) -> Array:
    state, memory, weight = _get(given, "state", "memory", "W")
    scores: Array = np.einsum("bs,hs,bth->bt", state, weight, memory)
    return scores


def _concat_sum(given: Given) -> Array:
    """(B, T_enc, d_attn): W [state; memory]."""
    state, memory, weight = _get(given, "state", "memory", "W")
    d_s = state.shape[-1]
    total: Array = (state @ weight[:, :d_s].T)[:, None] + memory @ weight[:, d_s:].T
    return total


def _concat_swapped(given: Given) -> Array:
    state, memory, weight, v = _get(given, "state", "memory", "W", "v")
    d_h = memory.shape[-1]
    scores: Array = np.tanh((state @ weight[:, d_h:].T)[:, None] + memory @ weight[:, :d_h].T) @ v
    return scores


def _additive_sum(given: Given) -> Array:
    """(B, T_enc, d_attn): W_a state + U_a memory."""
    state, memory, w_a, u_a = _get(given, "state", "memory", "W_a", "U_a")
    total: Array = (state @ w_a.T)[:, None] + memory @ u_a.T
    return total


def _additive_pieces(combine: Callable[[Array, Array], Array]) -> _Compute:
    def compute(given: Given) -> Array:
        state, memory, w_a, u_a, v = _get(given, "state", "memory", "W_a", "U_a", "v_a")
        scores: Array = combine((state @ w_a.T)[:, None], memory @ u_a.T) @ v
        return scores

    return compute


def _swapped_weights(given: Given) -> Array:
    state, memory, w_a, u_a, v = _get(given, "state", "memory", "W_a", "U_a", "v_a")
    scores: Array = np.tanh((state @ u_a.T)[:, None] + memory @ w_a.T) @ v
    return scores


def _neural(total: _Compute, vector: str) -> tuple[_Compute, list[Mistake]]:
    """A scorer v . tanh(total), and its mistakes."""

    def with_(inner: Callable[[Array], Array], outer: Callable[[Array], Array] = lambda x: x) -> _Compute:
        return lambda given: outer(inner(total(given)) @ np.asarray(given[vector], dtype=np.float64))

    def relu(x: Array) -> Array:
        return np.maximum(x, 0.0)

    def sigmoid(x: Array) -> Array:
        return np.asarray(1 / (1 + np.exp(-x)))

    mistakes = [
        Mistake("tanh-missing", _of(with_(lambda x: x)), "SD304"),
        Mistake("tanh-too-late", _of(with_(lambda x: x, np.tanh)), "SD304"),
        Mistake("tanh-twice", _of(with_(np.tanh, np.tanh))),
        Mistake("another-nonlinearity", _of(with_(relu))),
        Mistake("another-nonlinearity", _of(with_(sigmoid))),
        Mistake("another-nonlinearity", _of(with_(np.sin))),
        Mistake("vector-ignored", _of(lambda given: np.tanh(total(given)).sum(axis=-1))),
        Mistake("vector-ignored", _of(lambda given: np.tanh(total(given)).mean(axis=-1))),
        Mistake("softmax-inside", _of(with_(softmax))),
    ]
    return with_(np.tanh), mistakes


def _shared(right: _Compute, sizes: Sequence[Callable[[Given], int]]) -> list[Mistake]:
    """The mistakes that every scorer knows."""

    def scaled(size: Callable[[Given], int], power: float) -> Callable[[Given], Answer]:
        return _of(lambda given: right(given) * float(size(given)) ** power)

    def first(name: str) -> Callable[[Given], Answer]:
        """One example's tensor for the whole batch."""
        return _of(lambda given: right({**given, name: np.repeat(given[name][:1], len(given[name]), axis=0)}))

    def zero(name: str) -> Callable[[Given], Answer]:
        return _of(lambda given: right({**given, name: np.zeros_like(given[name])}))

    def reversed_(given: Given) -> Array:
        return right(given)[:, ::-1]

    return [
        *(Mistake("scores-scaled", scaled(size, -0.5), "SD405") for size in sizes),
        *(Mistake("mean-for-sum", scaled(size, -1.0)) for size in sizes),
        Mistake("returns-weights", _of(lambda given: softmax(right(given)))),
        Mistake("returns-weights", _of(lambda given: softmax(right(given), 0))),
        Mistake("state-ignored", zero("state")),
        Mistake("memory-ignored", zero("memory")),
        Mistake("one-state-for-all", first("state"), "SD201"),
        Mistake("scores-negated", _of(lambda given: -right(given))),
        Mistake("keys-reversed", _of(reversed_)),
        Mistake("scores-transposed", _of(lambda given: right(given).T)),
        Mistake("axis-kept", _of(lambda given: right(given)[:, :, None])),
        Mistake("axis-kept", _of(lambda given: right(given)[:, None, :])),
        Mistake("score-of-last-key", _of(lambda given: right(given)[:, -1])),
        Mistake("squared", _of(lambda given: right(given) ** 2)),
        Mistake("scores-made-positive", _of(lambda given: np.abs(right(given)))),
    ]


def _unit(given: Given) -> Array:
    state, memory = _get(given, "state", "memory")
    state = state / np.linalg.norm(state, axis=-1, keepdims=True)
    return _dot({"state": state, "memory": memory / np.linalg.norm(memory, axis=-1, keepdims=True)})


def _memory_only(given: Given) -> Array:
    (memory,) = _get(given, "memory")
    scores: Array = memory.sum(axis=-1)
    return scores


def _added(given: Given) -> Array:
    state, memory = _get(given, "state", "memory")
    scores: Array = (state[:, None] + memory).sum(axis=-1)
    return scores


def _distance(given: Given) -> Array:
    state, memory = _get(given, "state", "memory")
    scores: Array = -((state[:, None] - memory) ** 2).sum(axis=-1)
    return scores


def _no_projection(given: Given) -> Array:
    state, memory = _get(given, "state", "memory")
    if state.shape[-1] != memory.shape[-1]:
        raise ValueError("without W the sizes do not meet")
    return _dot(given)


def _tanh_projection(given: Given) -> Array:
    state, memory, weight = _get(given, "state", "memory", "W")
    return _dot({"state": np.tanh(state @ weight), "memory": memory})


def _last(name: str) -> Callable[[Given], int]:
    return lambda given: int(np.shape(given[name])[-1])


_concat, _concat_mistakes = _neural(_concat_sum, "v")
_additive, _additive_mistakes = _neural(_additive_sum, "v_a")

ORACLES = (
    Oracle(
        "dot-score",
        ("state", "memory"),
        ("scores",),
        _of(_dot),
        (
            Mistake("cosine-for-dot", _of(_unit)),
            Mistake("sum-for-product", _of(_added)),
            Mistake("distance-for-product", _of(_distance)),
            Mistake("state-ignored", _of(_memory_only)),
            Mistake("extra-nonlinearity", _of(lambda given: np.tanh(_dot(given)))),
            *_shared(_dot, [_last("state")]),
        ),
    ),
    Oracle(
        "general-score",
        ("state", "memory", "W"),
        ("scores",),
        _of(_general),
        (
            Mistake("projection-missing", _of(_no_projection)),
            Mistake("weight-transposed", _of(_general_transposed), "SD101"),
            Mistake("extra-nonlinearity", _of(_tanh_projection)),
            Mistake("extra-nonlinearity", _of(lambda given: np.tanh(_general(given)))),
            *_shared(_general, [_last("state"), _last("memory")]),
        ),
    ),
    Oracle(
        "concat-score",
        ("state", "memory", "W", "v"),
        ("scores",),
        _of(_concat),
        (
            Mistake("concat-order-swapped", _of(_concat_swapped)),
            *_concat_mistakes,
            *_shared(_concat, [_last("v")]),
        ),
    ),
    Oracle(
        "additive-score",
        ("state", "memory", "W_a", "U_a", "v_a"),
        ("scores",),
        _of(_additive),
        (
            Mistake("weights-exchanged", _of(_swapped_weights)),
            Mistake("product-for-sum", _of(_additive_pieces(lambda q, k: np.tanh(q * k)))),
            Mistake("difference-for-sum", _of(_additive_pieces(lambda q, k: np.tanh(q - k)))),
            Mistake("difference-for-sum", _of(_additive_pieces(lambda q, k: np.tanh(k - q)))),
            Mistake("tanh-before-sum", _of(_additive_pieces(lambda q, k: np.tanh(q) + np.tanh(k)))),
            Mistake("tanh-before-sum", _of(_additive_pieces(lambda q, k: np.tanh(q) + k))),
            Mistake("tanh-before-sum", _of(_additive_pieces(lambda q, k: q + np.tanh(k)))),
            *_additive_mistakes,
            *_shared(_additive, [_last("v_a")]),
        ),
    ),
)
