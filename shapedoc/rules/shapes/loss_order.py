"""Predictions and targets of a loss that are flattened in another order: time by batch, and batch by time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import axis_at, events_of, shape_at

__all__ = ["Crossed", "crossed"]

_LOSSES = names("cross_entropy CrossEntropyLoss.forward nll_loss NLLLoss.forward")


@dataclass(frozen=True, slots=True)
class Crossed:
    """ours, theirs: the sizes that the rows of prediction and target were joined of, the outer one first."""

    event: Event
    input: Operand
    target: Operand
    ours: tuple[str, str]
    theirs: tuple[str, str]


def crossed(trace: Trace) -> Iterator[Crossed]:
    """Every such loss, one for each place."""
    seen = set()
    for event in events_of(trace, _LOSSES):
        input, target = event.operand("input"), event.operand("target")
        if event.span in seen or input is None or target is None:
            continue
        ours, theirs = _joined(event, input), _joined(event, target)
        if ours is not None and theirs is not None and ours == theirs[::-1] and ours[0] != ours[1]:
            seen.add(event.span)
            yield Crossed(event, input, target, ours, theirs)


def _joined(event: Event, operand: Operand) -> tuple[str, str] | None:
    """The two sizes that the first axis was joined of."""
    shape, sizes = shape_at(event, operand), event.sizes
    axis = axis_at(shape, 0)
    if axis is None or sizes is None or len(axis.factors) != 2 or any(f.factors for f in axis.factors):
        return None
    first, second = (sizes.show(f.dim) for f in axis.factors)
    return None if "?" in first + second else (first, second)
