"""Masks before a softmax that leave a score which the softmax still gives its share: filled with 0, multiplied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.fills import number_of
from shapedoc.rules.reading.flow import KEEPS, Graph, graph
from shapedoc.rules.reading.masks import masks
from shapedoc.rules.reading.sinks import is_lowest, mask_sinks
from shapedoc.rules.reading.softmaxes import Softmax, denominator, softmaxes
from shapedoc.rules.reading.weight_masks import is_called_mask, runs_along_keys
from shapedoc.rules.reading.weights import followed, is_mask, uses

__all__ = ["Weak", "is_tiny", "weak_masks"]

_FILLS = names("masked_fill where")
# What weights are masked by once more, or made to sum to one again.
_AFTER = names("masked_fill where masked_scatter normalize")


@dataclass(frozen=True, slots=True)
class Weak:
    """event: what masks. mask: the mask. softmax: what normalises the scores. fill: the number, None for a product."""

    event: Event
    mask: Operand
    softmax: Softmax
    fill: float | None


def weak_masks(trace: Trace) -> Iterator[Weak]:
    """Every such mask, one for each place."""
    g = graph(trace)
    seen = set()
    strong = {s.event.index for s in mask_sinks(trace) if s.how in ("fill", "where", "add")}
    for softmax in softmaxes(trace):
        made = g.producer(softmax.scores.value)
        if made is None or softmax.kind == "sum" or softmax.axis is None or not any(uses(g, softmax)):
            continue
        chain = list(g.back(made, lambda e: e.short in KEEPS))
        if any(_is_strong(g, e, strong) for e in chain) or _masked_after(g, softmax):
            continue
        for event in chain:
            found = _weak(trace, g, softmax, event) if event.span not in seen and not event.span.path else None
            if found is not None:
                seen.add(event.span)
                yield found


def _is_strong(g: Graph, event: Event, sinks: set[int]) -> bool:
    """Whether an event hides something: by a fill with a hugely negative number, or a sum with what may be one."""
    if event.short in ("add", "sub"):
        return True
    if event.short == "setitem":
        return is_lowest(g, event.operand("value"))
    return event.index in sinks


def _masked_after(g: Graph, softmax: Softmax) -> bool:
    """Whether the weights are masked too, or normalised once more."""
    for user, current in followed(g, softmax):
        if user.short in _AFTER or denominator(g, user) is not None:
            return True
        others = [o for o in tensor_operands(user) if g.producer(o.value) is not current]
        if user.short == "mul" and any(is_mask(g, o) or is_called_mask(g, o) for o in others):
            return True
    return False


def _weak(trace: Trace, g: Graph, softmax: Softmax, event: Event) -> Weak | None:
    if event.short in _FILLS:
        mask = event.operand("mask") or event.operand("condition")
        number = _fill(event)
        if mask is None or number is None:
            return None
        weak = is_tiny(number) or (number >= 0 and runs_along_keys(g, softmax, event, mask))
        return Weak(event, mask, softmax, number) if weak else None
    if event.short == "mul":
        for mask in tensor_operands(event)[event.in_place :]:
            if _hides(trace, g, mask) and runs_along_keys(g, softmax, event, mask):
                return Weak(event, mask, softmax, None)
    return None


def _hides(trace: Trace, g: Graph, factor: Operand) -> bool:
    """Whether a factor is a mask of ones and zeros, or of truth values."""
    meaning = masks(trace).of(factor.value)
    return is_mask(g, factor) if meaning is None else not meaning.additive


def _fill(event: Event) -> float | None:
    """The number that masked scores get."""
    if event.short == "masked_fill":
        return number_of(event.value("value"))
    found = [number_of(event.value(name)) for name in ("input", "other") if not isinstance(event.value(name), Tensor)]
    return found[0] if len(found) == 1 else None


def is_tiny(number: float) -> bool:
    """Whether a number stands where a hugely negative one is meant: 1e-9 for -1e9."""
    return 0 < abs(number) < 1e-3
