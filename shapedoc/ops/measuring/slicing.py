"""The sizes that slices leave."""

from __future__ import annotations

from shapedoc.core.dim import ONE, ZERO, Dim
from shapedoc.core.sameness import never_positive
from shapedoc.core.shape import Axis
from shapedoc.core.value import NoneValue, SliceValue, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.measuring.extents import surpasses, whole

__all__ = ["sliced", "strided"]


# A literal that counts elements: so many there are.
_FEW = 9


def sliced(at: OpContext, axis: Axis, part: SliceValue) -> Axis:
    """The axis that a slice leaves: the same where it takes all, a part that answers to its name otherwise.

    A bound that is no known number leaves a size that is not known. Bounds are taken to lie within the axis where
    sizes are symbols: ``pe[:T]`` has T rows.
    """
    if all(isinstance(v, NoneValue) for v in (part.lower, part.upper, part.step)):
        return axis
    size = _length(at, axis.dim, part)
    if size is None:
        return Axis(at.sizes.fresh(line=at.line), axis.ids)
    at.sizes.cut(size, axis.dim)
    return axis if size == axis.dim and _forward(at, part) else Axis(size, axis.ids)


def strided(at: OpContext, size: Dim, step: Dim, first: int = 0) -> Dim:
    """How many there are of every `step`-th of `size` elements, from one of the first `step` on.

    Where it is not known whether the step divides the size, it is taken to, so that every phase has as many, as for
    rotary halves.
    """
    exact = size.divide(step)
    if exact is not None:
        return exact
    left, right = size.value, step.value
    if left is not None and right and first < left % right:
        size = size + (step - 1)
    return at.sizes.floordiv(size, step, line=at.line)


def _forward(at: OpContext, part: SliceValue) -> bool:
    step = _bound(at, part.step)
    return step is None or step.const == 1


def _bound(at: OpContext, value: Value) -> Dim | None:
    return None if isinstance(value, NoneValue) else whole(at, value)


def _length(at: OpContext, size: Dim, part: SliceValue) -> Dim | None:
    step = ONE if isinstance(part.step, NoneValue) else whole(at, part.step)
    if step is None or step.const == 0:
        return None
    lower = ZERO if isinstance(part.lower, NoneValue) else _inside(at, size, part.lower)
    upper = size if isinstance(part.upper, NoneValue) else _inside(at, size, part.upper)
    if step.const is not None and step.const < 0:
        return _backward(size, lower, upper, step.const, part)
    if lower is None or upper is None or _crops(at, size, part.lower):
        return None
    length = upper - lower
    if lower.const is None and upper.const is not None:
        return None  # from the end to a place near the start: whether anything is left is not known
    if surpasses(ZERO, length) or length == ZERO:
        return ZERO
    if step == ONE:
        return length
    if length.const is not None and step.const is not None:
        return Dim.of(-(-length.const // step.const))
    first = lower.const if isinstance(part.upper, NoneValue) else None
    if first is not None and step.const is not None and first < step.const:
        return strided(at, size, step, first)
    return strided(at, length, step)


def _from_the_end(bound: Dim) -> bool:
    """Whether a bound counts from the end: ``-n``, and ``-(n - 1)``."""
    return bool(bound.terms) and never_positive(bound)


def _crops(at: OpContext, size: Dim, value: Value) -> bool:
    """``tokens[:, -block_size:]`` leaves at most so many: all of them where there are not more."""
    bound = whole(at, value)
    if bound is None or (bound.const is not None and bound.const > -_FEW):
        return False
    bound = at.sizes.resolve(bound)
    if not _from_the_end(bound):
        return False
    return size + bound != ZERO and not surpasses(size, -bound)


def _inside(at: OpContext, size: Dim, value: Value) -> Dim | None:
    """A bound counted from the start, and not beyond the end."""
    bound = whole(at, value)
    if bound is None:
        return None
    bound = at.sizes.resolve(bound)
    if _from_the_end(bound):
        bound = size + bound
        return ZERO if bound.value is not None and bound.value < 0 else bound
    if bound.value is not None and size.value is not None:
        return bound if bound.value <= size.value else size
    beyond = bound - size
    if beyond.terms and all(c > 0 for _, c in beyond.terms):
        return size
    return bound


def _backward(size: Dim, lower: Dim | None, upper: Dim | None, step: int, part: SliceValue) -> Dim | None:
    """A slice that goes backward, as NumPy allows."""
    if isinstance(part.lower, NoneValue) and isinstance(part.upper, NoneValue):
        return size if step == -1 else (Dim.of(-(-size.const // -step)) if size.const is not None else None)
    if size.const is None or (lower is not None and lower.const is None) or (upper is not None and upper.const is None):
        return None
    start = _number(part.lower)
    stop = _number(part.upper)
    if (start is None) != isinstance(part.lower, NoneValue) or (stop is None) != isinstance(part.upper, NoneValue):
        return None
    return Dim.of(len(range(size.const)[start:stop:step]))


def _number(value: Value) -> int | None:
    return getattr(value, "value", None)
