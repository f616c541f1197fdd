"""The numbers that masks are made of and that scores are filled with."""

from __future__ import annotations

from shapedoc.core.value import Bool, Float, Int, Tensor, Value

__all__ = ["is_huge", "number_of", "truth_number"]


def number_of(value: Value | None) -> float | None:
    """A number that is known."""
    match value:
        case Float(powers=()):
            return float(value.value) if value.value is not None else None
        case Int(dim) if dim.value is not None:
            return float(dim.value)
        case Tensor(number=float(number)):
            return number
    return None


def truth_number(value: Value | None) -> float | None:
    """A number, or a truth value as one."""
    if isinstance(value, Bool) and value.value is not None:
        return float(value.value)
    return number_of(value)


def is_huge(value: float | None) -> bool:
    """Whether a number is far outside of scores, as what masks them out is."""
    return value is not None and abs(value) >= 1e3
