"""Masked softmax: scores (B, T_enc) or (B, T_dec, T_enc), lengths (B,) -> weights, with zeros on padding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shapedoc.grade.draws import Array
from shapedoc.grade.oracles.oracle import Answer, Given, Mistake, Oracle, softmax

__all__ = ["ORACLE"]


def _keep(given: Given, offset: int = 0) -> Array:
    """(B, 1, T_enc) or (B, T_enc): whether a key is real."""
    scores, lengths = np.asarray(given["scores"]), np.asarray(given["lengths"])
    keep: Array = np.arange(scores.shape[-1]) < lengths[:, None] + offset
    return keep[:, None, :] if scores.ndim == 3 else keep


def _scores(given: Given) -> Array:
    return np.asarray(given["scores"], dtype=np.float64)


def _right(given: Given) -> Answer:
    return (softmax(_scores(given), -1, _keep(given)),)


def _plain(change: Callable[[Array], Array]) -> Callable[[Given], Answer]:
    """Masked softmax of changed scores."""
    return lambda given: (softmax(change(_scores(given)), -1, _keep(given)),)


def _none(given: Given) -> Answer:
    return (softmax(_scores(given)),)


def _after(given: Given) -> Answer:
    return (np.where(_keep(given), softmax(_scores(given)), 0.0),)


def _filled(scores: Array, keep: Array, fill: float) -> Array:
    """Softmax after filling with a finite number, with what that gives on rows without any key."""
    return softmax(np.where(keep, scores, fill))


def _masked(name: str, keep_of: Callable[[Given], Array], code: str = "", first: int = 0) -> list[Mistake]:
    """Another mask, with each of the things that happen to a row that it leaves without keys."""

    def zeros(given: Given) -> Answer:
        return (softmax(_scores(given), -1, keep_of(given)),)

    def nan(given: Given) -> Answer:
        weights = softmax(_scores(given), -1, keep_of(given))
        some = np.broadcast_to(keep_of(given), weights.shape).any(axis=-1, keepdims=True)
        return (np.where(some, weights, np.nan),)

    def filled(given: Given) -> Answer:
        return (_filled(_scores(given), keep_of(given), -1e9),)

    def added(given: Given) -> Answer:
        """A large number taken off in the precision of the scores: in float64 the scores themselves are left."""
        scores = np.asarray(given["scores"])
        return (softmax(scores + np.where(keep_of(given), 0.0, -1e9).astype(scores.dtype)),)

    return [Mistake(name, compute, code) for compute in (zeros, nan, filled, added)[first:]]


def _fill(value: float) -> Callable[[Given], Answer]:
    return lambda given: (_filled(_scores(given), _keep(given), value),)


def _fill_then_zero(value: float) -> Callable[[Given], Answer]:
    """Filled with a number that leaves padding its share of the sum, which is then thrown away."""
    return lambda given: (np.where(_keep(given), _filled(_scores(given), _keep(given), value), 0.0),)


def _add_then_zero(value: float) -> Callable[[Given], Answer]:
    """The same, with the number added to the scores of padding."""

    def compute(given: Given) -> Answer:
        keep = np.broadcast_to(_keep(given), _scores(given).shape)
        return (np.where(keep, softmax(_scores(given) + np.where(keep, 0.0, value)), 0.0),)

    return compute


def _times(given: Given) -> Answer:
    return (softmax(_scores(given) * _keep(given)),)


def _added(sign: float) -> Callable[[Given], Answer]:
    return lambda given: (softmax(_scores(given) + sign * np.broadcast_to(_keep(given), _scores(given).shape)),)


def _axis(axis: int) -> Callable[[Given], Answer]:
    """The right mask, and the softmax over another axis."""

    def compute(given: Given) -> Answer:
        scores = _scores(given)
        if axis == -2 and scores.ndim == 2:
            raise ValueError("no axis of queries")
        return (softmax(scores, axis, _keep(given)),)

    return compute


def _axis_nan(axis: int) -> Callable[[Given], Answer]:
    """The same, with infinity filled in, and NaN where the axis has no key that counts."""

    def compute(given: Given) -> Answer:
        (weights,) = _axis(axis)(given)
        full = np.broadcast_to(_keep(given), weights.shape)
        return (np.where(full.any(axis=axis, keepdims=True), weights, np.nan),)

    return compute


def _everything(given: Given) -> Answer:
    scores = _scores(given)
    flat = softmax(np.where(_keep(given), scores, -np.inf).reshape(-1))
    return (flat.reshape(scores.shape),)


def _each_everything(given: Given) -> Answer:
    """One softmax over queries and keys together."""
    scores = _scores(given)
    if scores.ndim == 2:
        raise ValueError("no axis of queries")
    keep = np.broadcast_to(_keep(given), scores.shape).reshape(len(scores), -1)
    return (softmax(scores.reshape(len(scores), -1), -1, keep).reshape(scores.shape),)


def _one_length(choose: Callable[[Array], Array]) -> Callable[[Given], Array]:
    """The mask of one length for all rows."""

    def keep(given: Given) -> Array:
        lengths = np.asarray(given["lengths"])
        return _keep({**given, "lengths": np.full_like(lengths, choose(lengths))})

    return keep


def _along_queries(given: Given) -> Array:
    scores, lengths = _scores(given), np.asarray(given["lengths"])
    if scores.ndim == 2:
        raise ValueError("no axis of queries")
    return np.asarray(np.arange(scores.shape[1])[None, :, None] < lengths[:, None, None])


def _sorted(given: Given) -> Array:
    return _keep({**given, "lengths": np.sort(np.asarray(given["lengths"]))[::-1]})


def _log(given: Given) -> Answer:
    (weights,) = _right(given)
    with np.errstate(divide="ignore"):
        return (np.log(weights),)


def _log_of_real(instead: float) -> Callable[[Given], Answer]:
    """The logarithm on real keys, and what a mask makes of minus infinity on padding."""

    def compute(given: Given) -> Answer:
        (logarithms,) = _log(given)
        keep = np.broadcast_to(_keep(given), logarithms.shape)
        return (np.where(keep, logarithms, instead),)

    return compute


def _unnormalised(given: Given) -> Answer:
    with np.errstate(over="ignore"):
        return (np.where(_keep(given), np.exp(_scores(given)), 0.0),)


def _shifted_unnormalised(given: Given) -> Answer:
    (weights,) = _right(given)
    largest = weights.max(axis=-1, keepdims=True)
    return (weights / np.where(largest > 0, largest, 1.0),)


def _linear(given: Given) -> Answer:
    scores = np.where(_keep(given), _scores(given), 0.0)
    total = scores.sum(axis=-1, keepdims=True)
    return (scores / np.where(total == 0, 1.0, total),)


def _sigmoid(given: Given) -> Answer:
    return (np.where(_keep(given), 1 / (1 + np.exp(-np.clip(_scores(given), -700, 700))), 0.0),)


def _twice(given: Given) -> Answer:
    (weights,) = _right(given)
    return (softmax(weights, -1, _keep(given)),)


def _hard(given: Given) -> Answer:
    scores = np.where(_keep(given), _scores(given), -np.inf)
    chosen = np.arange(scores.shape[-1]) == scores.argmax(axis=-1)[..., None]
    return (np.where(_keep(given) & chosen, 1.0, 0.0),)


def _uniform(given: Given) -> Answer:
    return (softmax(np.zeros_like(_scores(given)), -1, _keep(given)),)


def _overflow(given: Given) -> Answer:
    """Exponentials without the largest score taken off, in the precision of the scores."""
    scores = np.asarray(given["scores"])
    with np.errstate(over="ignore", invalid="ignore"):
        exponentials = np.where(_keep(given), np.exp(scores), 0.0).astype(scores.dtype)
        weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return (np.where(_keep(given).any(axis=-1, keepdims=True), weights, 0.0),)


def _overflow_times(given: Given) -> Answer:
    """The same, with padding multiplied by zero, which makes NaN of infinity."""
    scores = np.asarray(given["scores"])
    exponentials = (np.exp(scores) * _keep(given)).astype(scores.dtype)
    total = exponentials.sum(axis=-1, keepdims=True)
    return (exponentials / np.where(total == 0, 1, total),)


def _root(scores: Array) -> Array:
    return np.asarray(scores / np.sqrt(scores.shape[-1]))


def _plus_one(given: Given) -> Answer:
    """Softmax with one more in the sum, as of a key that is not there."""
    scores = np.where(_keep(given), _scores(given), -np.inf)
    weights = softmax(np.concatenate([scores, np.zeros((*scores.shape[:-1], 1))], axis=-1))
    return (weights[..., :-1],)


ORACLE = Oracle(
    "masked-softmax",
    ("scores", "lengths"),
    ("weights",),
    _right,
    (
        Mistake("mask-after-softmax", _after, "SD404"),
        Mistake("mask-never-used", _none, "SD503"),
        *_masked("mask-inverted", lambda given: ~_keep(given), "SD501"),
        Mistake("softmax-over-queries", _axis(-2), "SD401"),
        Mistake("softmax-over-queries", _axis_nan(-2), "SD401"),
        Mistake("softmax-over-batch", _axis(0), "SD401"),
        Mistake("softmax-over-batch", _axis_nan(0), "SD401"),
        Mistake("softmax-over-everything", _everything, "SD401"),
        Mistake("softmax-over-everything", _each_everything, "SD401"),
        *_masked("length-one-too-long", lambda given: _keep(given, 1)),
        *_masked("length-one-too-short", lambda given: _keep(given, -1)),
        *_masked("padding-at-wrong-end", lambda given: _keep(given)[..., ::-1]),
        *_masked("one-length-for-all", _one_length(np.max)),
        *_masked("one-length-for-all", _one_length(np.min)),
        *_masked("one-length-for-all", _one_length(lambda lengths: lengths[0])),
        *_masked("one-length-for-all", _one_length(lambda lengths: lengths[-1])),
        *_masked("lengths-reordered", _sorted),
        *_masked("mask-along-queries", _along_queries, "SD205"),
        _masked("empty-row-nan", _keep, "SD504", 1)[0],
        *_masked("empty-row-uniform", _keep, "", 2),
        Mistake("mask-fills-too-little", _fill(0.0)),
        Mistake("mask-fills-too-little", _fill(-1.0)),
        Mistake("mask-fills-too-little", _fill(-10.0)),
        Mistake("mask-fills-too-little", _times),
        *(Mistake("mask-fills-too-little", _fill_then_zero(value)) for value in (0.0, -1.0, -10.0)),
        *(Mistake("mask-fills-too-little", _add_then_zero(value)) for value in (-1.0, -10.0)),
        Mistake("mask-fills-too-much", _fill(1e9)),
        Mistake("mask-fills-too-much", _fill_then_zero(1e9)),
        Mistake("mask-added", _added(1.0), "SD505"),
        Mistake("mask-added", _added(-1.0), "SD505"),
        Mistake("softmax-overflows", _overflow),
        Mistake("softmax-overflows", _overflow_times),
        Mistake("log-softmax-returned", _log),
        Mistake("log-softmax-returned", _log_of_real(0.0)),
        Mistake("log-softmax-returned", _log_of_real(np.nan)),
        Mistake("not-normalised", _unnormalised),
        Mistake("not-normalised", _shifted_unnormalised),
        Mistake("no-exponential", _linear),
        Mistake("sigmoid-for-softmax", _sigmoid),
        Mistake("softmax-twice", _twice, "SD406"),
        Mistake("scores-negated", _plain(lambda scores: -scores)),
        Mistake("keys-reversed", _plain(lambda scores: scores[..., ::-1])),
        Mistake("scores-scaled", _plain(_root), "SD405"),
        Mistake("scores-made-positive", _plain(np.abs)),
        Mistake("hard-maximum", _hard),
        Mistake("scores-ignored", _uniform),
        Mistake("one-more-in-sum", _plus_one),
    ),
)
