"""Masks of attention weights: what is called one, and whether it differs along the keys."""

from __future__ import annotations

import re

from shapedoc.core.dim import ONE
from shapedoc.core.trace import Event, Operand
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import Graph, shape_at
from shapedoc.rules.reading.softmaxes import Softmax
from shapedoc.rules.reading.weights import is_mask
from shapedoc.rules.reading.wording import text_of

__all__ = ["is_called_mask", "runs_along_keys"]

# What learnt weights and gates come out of.
_SHARES = names("softmax Softmax.forward sigmoid Sigmoid.forward")
_REPEATS = names("expand expand_as repeat broadcast_to tile")
_MASKS = re.compile(r"mask|(?<![a-z])(?:keep|pad|padding|valid)(?![a-z])")


def is_called_mask(g: Graph, operand: Operand) -> bool:
    """A factor of truth values, or one that is called a mask; no dropout, no choice of heads, no weights or gates."""
    made = g.producer(operand.value)
    if made is not None and made.short == "mul" and len(tensor_operands(made)) == 2:
        return all(is_called_mask(g, o) for o in tensor_operands(made))
    if made is not None and g.origin(made).short in _SHARES:
        return False
    text = f"{text_of(g.trace, operand)} {operand.value.name if isinstance(operand.value, Tensor) else ''}".lower()
    if "drop" in text or "head" in text or "prob" in text:
        return False
    return is_mask(g, operand) or _MASKS.search(text) is not None


def runs_along_keys(g: Graph, softmax: Softmax, user: Event, mask: Operand) -> bool:
    """Whether a mask is known to differ along the normalised axis: one of padded queries does not."""
    shape, result = shape_at(user, mask), user.shape
    if shape is None or result is None or shape.rank is None or softmax.axis is None:
        return False
    axes = result.axes
    place = next((i - len(axes) for i, a in enumerate(axes) if softmax.axis.ids <= a.ids), None)
    if place is None or -place > len(shape.axes) or shape.axes[place].dim == ONE:
        return False
    made = g.producer(mask.value)
    while made is not None and made.short in _REPEATS:
        source = made.operand("input")
        before = shape_at(made, source) if source is not None else None
        if before is None or source is None or -place > len(before.suffix):
            break
        if before.suffix[place].dim == ONE:
            return False
        made = g.producer(source.value)
    return True
