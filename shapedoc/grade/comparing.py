"""Comparing what a submission gives with what is right: raw arrays, in the parent, with a tolerance for rounding."""

from __future__ import annotations

import numpy as np

from shapedoc.grade.draws import Array

__all__ = ["close", "distance", "furthest", "tolerance_of"]

_TOLERANCE = {"float16": 2e-2, "float32": 2e-4, "float64": 1e-8}


def tolerance_of(dtype: str) -> float:
    """How far rounding may carry a result of this precision, relative to the size of its numbers."""
    return _TOLERANCE.get(dtype, 1e-8)


def numeric(array: Array) -> bool:
    """Whether an array holds real numbers; the child may return anything that NumPy can name."""
    return array.dtype.kind in "fiub"


def distance(got: Array, right: Array) -> Array:
    """Elementwise distance of two arrays of one shape: zero where both are not finite alike, infinite where one is."""
    a, b = np.asarray(got, dtype=np.float64), np.asarray(right, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(a - b)
    alike = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.asarray(np.where(alike, 0.0, np.where(np.isnan(gap), np.inf, gap)))


def limit(right: Array, tolerance: float) -> float:
    """The distance that is still rounding, for numbers of this size."""
    finite = np.abs(np.asarray(right, dtype=np.float64))
    finite = finite[np.isfinite(finite)]
    return tolerance * max(1.0, float(finite.max(initial=0.0)))


def close(got: Array, right: Array, tolerance: float) -> bool:
    """Whether two arrays have one shape and agree but for rounding."""
    if got.shape != right.shape or not numeric(got):
        return False
    return bool((distance(got, right) <= limit(right, tolerance)).all())


def furthest(got: Array, right: Array) -> tuple[int, ...]:
    """The place where two arrays of one shape are furthest apart, the first where several are."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(distance(got, right))), got.shape))
