"""What a function or class keeps of a scale that its scores do not get: a size that nothing reads, a scale of 1."""

from __future__ import annotations

import re

from shapedoc.core.trace import Event, Trace
from shapedoc.rules.reading.claims import prose_of, scope_text
from shapedoc.rules.reading.scales import Scaled
from shapedoc.rules.reading.written import place_of_scale

__all__ = ["is_width_left_over", "says_how", "scale_left_over"]

_SCALING = re.compile(r"scal|norm|factor|root|sqrt", re.IGNORECASE)
_ONE = re.compile(r"1(\.0*)?")
# ``query.size(-1)``: the width of the features, by itself.
_WIDTH = re.compile(r"[\w.]+\.(?:size\(\s*-1\s*\)|shape\[\s*-1\s*\])")
_SCALE = re.compile(r"self\.(?:\w*_)?(?:scal(?:e|ing)|norm_factor|sqrt)\w*|(?:\w*_)?scal(?:e|ing)\w*")
# ``softmax(Q K^T / sqrt(d_k)) V`` in a comment or a docstring.
_FORMULA = re.compile(r"softmax\s*[({\[][^\n]{1,40}(?:/|\*|frac)[^\n]{0,24}(?:sqrt|√)", re.IGNORECASE)


def scale_left_over(trace: Trace, event: Event, scaled: Scaled) -> bool:
    """Whether scores are multiplied with a scale that is written as 1, or a size or a scale was made and is not read.

    event: the product that makes the scores.
    """
    if any(_is_one(trace, scaled, i) for i in range(len(scaled.factors))):
        return True
    return not event.span.path and _is_left(trace, event)


def says_how(trace: Trace, event: Event) -> bool:
    """Whether the comments or docstrings of the function or class write the formula with its root."""
    text = scope_text(trace, event.function)
    return any(_FORMULA.search(said) for said in prose_of(text))


def _is_one(trace: Trace, scaled: Scaled, index: int) -> bool:
    factor = scaled.factors[index]
    operand = factor.operand
    if operand is None or operand.span is None or operand.span.path or factor.coefficient != 1.0:
        return False
    if factor.number is None or factor.number.powers or not _SCALING.search(trace.source(operand.span)):
        return False
    place = place_of_scale(trace, factor)
    return place != operand.span and _ONE.fullmatch(trace.source(place)) is not None


def is_width_left_over(trace: Trace, event: Event) -> bool:
    """Whether the function that makes scores of what it is given reads a width of the features for nothing."""
    if event.span.path:
        return False
    left = (one for function in trace.written.named(event.function) for one in function.contents.left)
    return any(_WIDTH.fullmatch(trace.source(one.value)) for one in left)


def _is_left(trace: Trace, event: Event) -> bool:
    """Whether a width or a scale is made that the function names nowhere else, or a scale that its class never does."""
    for function in trace.written.named(event.function):
        for left in function.contents.left:
            if _is_scale(left.name) or _WIDTH.fullmatch(trace.source(left.value)):
                return True
    return any(
        left.name.startswith("self.") and _is_scale(left.name) for left in trace.written.scope(event.function).left
    )


def _is_scale(name: str) -> bool:
    return _SCALE.fullmatch(name) is not None
