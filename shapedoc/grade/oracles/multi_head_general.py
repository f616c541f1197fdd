"""Luong's general attention on several heads, whose sizes are those of the assignment multi-head-general.

decoder_states (B, T_dec, d_s), encoder_states (B, T_enc, d_h), W (d_s, d_h), n_heads
-> context (B, T_dec, d_h), weights (B, n_heads, T_dec, T_enc). Source: Luong et al. 2015, section 3.1, for each head.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shapedoc.grade.draws import Array
from shapedoc.grade.oracles.oracle import Answer, Given, Mistake, Oracle, softmax

__all__ = ["ORACLE"]

Split = Literal["right", "view", "interleaved", "first", "whole"]


@dataclass(frozen=True, slots=True)
class _Switches:
    """One computation; the defaults are the right one."""

    query_split: Split = "right"
    key_split: Split = "right"
    value_split: Split = "right"
    merge: Literal["right", "view", "interleaved", "mean", "sum", "first", "last", "stacked"] = "right"
    scale: Callable[[int, int], float] = lambda d_head, d_h: 1.0
    axis: int = -1
    normalise: Callable[[Array], Array] | None = None
    project: Literal["W", "none", "transposed", "tanh"] = "W"
    values: Literal["keys", "queries", "turned"] = "keys"
    scores: Callable[[Array], Array] = lambda scores: scores
    after: Callable[[Array], Array] = lambda context: context
    weights: Literal["heads", "mean", "first"] = "heads"
    shared: bool = False


def _split(x: Array, n_heads: int, how: Split) -> Array:
    """(B, T, d_h) -> (B, n_heads, T, d_head)."""
    batch, length, width = x.shape
    head = width // n_heads
    match how:
        case "right":
            return x.reshape(batch, length, n_heads, head).transpose(0, 2, 1, 3)
        case "view":
            return x.reshape(batch, n_heads, length, head)
        case "interleaved":
            return x.reshape(batch, length, head, n_heads).transpose(0, 3, 1, 2)
        case "first":
            return np.repeat(x[:, None, :, :head], n_heads, axis=1)
        case "whole":
            return np.repeat(x[:, None], n_heads, axis=1)


def _merge(x: Array, how: str) -> Array:
    """(B, n_heads, T, d_head) -> (B, T, d_h)."""
    batch, n_heads, length, head = x.shape
    match how:
        case "view":
            return x.reshape(batch, length, n_heads * head)
        case "interleaved":
            return x.transpose(0, 2, 3, 1).reshape(batch, length, n_heads * head)
        case "mean":
            return np.asarray(x.mean(axis=1))
        case "sum":
            return np.asarray(x.sum(axis=1))
        case "first" | "last":
            return x[:, 0 if how == "first" else -1]
        case "stacked":
            return x
    return x.transpose(0, 2, 1, 3).reshape(batch, length, n_heads * head)


def _projected(given: Given, s: _Switches) -> Array:
    queries, weight = np.asarray(given["decoder_states"], dtype=np.float64), np.asarray(given["W"], dtype=np.float64)
    if s.project == "none":
        if queries.shape[-1] != weight.shape[1]:
            raise ValueError("without W the sizes do not meet")
        return queries
    if s.project == "transposed":
        return queries @ weight.T
    projected: Array = queries @ weight
    return np.tanh(projected) if s.project == "tanh" else projected


def _compute(given: Given, s: _Switches) -> Answer:
    n_heads = int(given["n_heads"])
    memory = np.asarray(given["encoder_states"], dtype=np.float64)
    queries = _projected(given, s)
    d_h = memory.shape[-1]
    q, k = _split(queries, n_heads, s.query_split), _split(memory, n_heads, s.key_split)
    v = _split(queries if s.values == "queries" else memory, n_heads, s.value_split)
    if s.values == "turned":
        v = np.roll(v, 1, axis=1)
    scores = s.scores(q @ k.swapaxes(-1, -2)) * s.scale(d_h // n_heads, d_h)
    if s.shared:
        scores = np.repeat(scores.mean(axis=1, keepdims=True), n_heads, axis=1)
    if s.weights == "first":
        scores = np.repeat(scores[:, :1], n_heads, axis=1)
    weights = s.normalise(scores) if s.normalise else softmax(scores, s.axis)
    context = s.after(_merge(weights @ v, s.merge))
    return context, np.asarray(weights.mean(axis=1)) if s.weights == "mean" else weights


_RIGHT = _Switches()


def _right(given: Given) -> Answer:
    return _compute(given, _RIGHT)


def _with(**changes: object) -> Callable[[Given], Answer]:
    changed = replace(_RIGHT, **changes)  # type: ignore[arg-type]
    return lambda given: _compute(given, changed)


def _swapped(given: Given) -> Answer:
    context, weights = _right(given)
    return weights, context


def _truncated(given: Given) -> Answer:
    """Heads that do not divide, and features that are left over: dropped."""
    n_heads, width = int(given["n_heads"]), np.shape(given["encoder_states"])[-1]
    kept = width // n_heads * n_heads
    if not kept:
        raise ValueError("no features left")
    cut = {**given, "encoder_states": given["encoder_states"][..., :kept], "W": given["W"][:, :kept]}
    return _right(cut)


def _uniform(scores: Array) -> Array:
    return np.full(scores.shape, 1 / scores.shape[-1])


def _total(scores: Array) -> Array:
    return np.asarray(scores / scores.sum(axis=-1, keepdims=True))


_LIKELY: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("heads-split-by-view", "SD601", {"query_split": "view", "key_split": "view", "value_split": "view"}),
    ("heads-split-by-view", "SD601", {"key_split": "view", "value_split": "view"}),
    ("heads-split-by-view", "SD601", {"query_split": "view"}),
    ("heads-split-by-view", "SD601", {"key_split": "view"}),
    ("heads-split-by-view", "SD601", {"value_split": "view"}),
    (
        "heads-split-by-view",
        "SD601",
        {"query_split": "view", "key_split": "view", "value_split": "view", "merge": "view"},
    ),
    ("heads-merged-by-view", "SD601", {"merge": "view"}),
    ("heads-interleaved", "SD601", {"query_split": "interleaved", "key_split": "interleaved"}),
    (
        "heads-interleaved",
        "SD601",
        {"query_split": "interleaved", "key_split": "interleaved", "value_split": "interleaved"},
    ),
    (
        "heads-interleaved",
        "SD601",
        {
            "query_split": "interleaved",
            "key_split": "interleaved",
            "value_split": "interleaved",
            "merge": "interleaved",
        },
    ),
    ("heads-interleaved", "SD601", {"merge": "interleaved"}),
    ("heads-interleaved", "SD601", {"query_split": "interleaved"}),
    ("heads-interleaved", "SD601", {"key_split": "interleaved"}),
    ("heads-interleaved", "SD601", {"value_split": "interleaved"}),
    ("heads-interleaved", "SD601", {"key_split": "interleaved", "value_split": "interleaved"}),
    ("softmax-over-queries", "SD401", {"axis": -2}),
    ("softmax-over-heads", "SD401", {"axis": 1}),
    ("softmax-over-batch", "SD401", {"axis": 0}),
    ("scores-scaled", "SD405", {"scale": lambda d_head, d_h: d_head**-0.5}),
    ("scores-scaled", "SD405", {"scale": lambda d_head, d_h: d_h**-0.5}),
    ("scores-scaled", "SD405", {"scale": lambda d_head, d_h: d_head**0.5}),
    ("scores-scaled", "SD405", {"scale": lambda d_head, d_h: 1.0 / d_head}),
    ("projection-missing", "", {"project": "none"}),
    ("weight-transposed", "SD101", {"project": "transposed"}),
    ("extra-nonlinearity", "", {"project": "tanh"}),
    ("extra-nonlinearity", "", {"scores": np.tanh}),
    ("heads-all-alike", "", {"query_split": "first", "key_split": "first"}),
    ("heads-all-alike", "", {"query_split": "first"}),
    ("heads-all-alike", "", {"key_split": "first"}),
    ("heads-all-alike", "", {"value_split": "first"}),
    ("heads-all-alike", "", {"query_split": "whole", "key_split": "whole"}),
    ("heads-all-alike", "", {"query_split": "first", "key_split": "first", "value_split": "first"}),
    ("heads-all-alike", "", {"weights": "first"}),
    ("heads-all-alike", "", {"shared": True}),
    ("values-of-the-query", "SD408", {"values": "queries"}),
    ("values-of-another-head", "", {"values": "turned"}),
    ("heads-averaged", "", {"merge": "mean"}),
    ("heads-averaged", "", {"merge": "sum"}),
    ("heads-not-joined", "", {"merge": "last"}),
    ("heads-not-joined", "", {"merge": "first"}),
    ("heads-not-joined", "", {"merge": "stacked"}),
    ("weights-averaged", "", {"weights": "mean"}),
    ("not-normalised", "", {"normalise": np.exp}),
    ("not-normalised", "", {"normalise": lambda scores: scores}),
    ("no-exponential", "", {"normalise": _total}),
    ("sigmoid-for-softmax", "", {"normalise": lambda scores: 1 / (1 + np.exp(-scores))}),
    ("scores-ignored", "", {"normalise": _uniform}),
    ("softmax-twice", "SD406", {"normalise": lambda scores: softmax(softmax(scores))}),
    ("scores-negated", "", {"scores": np.negative}),
    ("extra-nonlinearity", "", {"after": np.tanh}),
)


def _averaged(given: Given) -> Answer:
    """The weighted states averaged over the keys, where they should be summed."""
    context, weights = _right(given)
    return context / np.shape(given["encoder_states"])[1], weights


ORACLE = Oracle(
    "multi-head-general",
    ("decoder_states", "encoder_states", "W", "n_heads"),
    ("context", "weights"),
    _right,
    (
        *(Mistake(name, _with(**changes), code) for name, code, changes in _LIKELY),
        Mistake("context-averaged", _averaged, "SD407"),
        Mistake("results-swapped", _swapped),
        Mistake("heads-do-not-divide", _truncated, "SD103"),
    ),
)
