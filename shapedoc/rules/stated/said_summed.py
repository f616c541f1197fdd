"""Comments that give a tensor the size of an axis which was summed to make it: ``weights @ values  # [N, T]``."""

from __future__ import annotations

from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event, Stated, Trace
from shapedoc.rules.reading.contractions import PRODUCTS, contraction, names, reduced_axes, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, graph, shape_at

__all__ = ["says_what_was_summed"]

_SUMS = names("sum mean")


def says_what_was_summed(trace: Trace, stated: Stated) -> bool:
    """Whether the one size that disagrees is by name that of an axis which the product, or the sum, has done with."""
    others = [(a, b) for a, b in zip(stated.said, stated.had, strict=False) if a != b]
    if stated.form != "comment" or len(stated.said) != len(stated.had) or len(others) != 1 or not stated.verdict.wrong:
        return False
    if not 0 <= stated.event < len(trace.events):
        return False
    event = trace.events[stated.event]
    made = graph(trace).origin(event, SHAPING)
    said, have = others[0]
    shown = {made.sizes.show(axis.dim) for axis in _summed(made)} if made.sizes is not None else set()
    return made.function == event.function and said.isidentifier() and said in shown and have not in shown


def _summed(event: Event) -> tuple[Axis, ...]:
    operands = tensor_operands(event)
    if event.short in PRODUCTS and operands:
        pair = contraction(event, operands[0])
        return (*pair.summed, *pair.other_summed) if pair is not None else ()
    if event.short in _SUMS and operands:
        shape = shape_at(event, operands[0])
        return (reduced_axes(event, shape) or ()) if shape is not None else ()
    return ()
