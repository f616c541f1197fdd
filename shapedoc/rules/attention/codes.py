"""Shares of learned codes, of which every position has some: what is summed over the positions are the codes' parts."""

from __future__ import annotations

from shapedoc.core.shape import Axis
from shapedoc.core.trace import Operand
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.flow import Graph
from shapedoc.rules.reading.softmaxes import Softmax
from shapedoc.rules.reading.weights import Use

__all__ = ["are_of_codes"]


def are_of_codes(g: Graph, softmax: Softmax, use: Use) -> bool:
    """Whether the normalised axis is that of learned codes, and the values differ along it, too.

    Source: Zhang et al. 2017, deep TEN; Arandjelovic et al. 2016, NetVLAD: residuals to each code, by their shares.
    """
    axis, shape = softmax.axis, use.values.shape
    if axis is None or shape is None or not any(a.same(axis) for a in shape.axes):
        return False
    return any(_comes_of_learned(g, operand, axis) for operand in (use.values, softmax.scores))


def _comes_of_learned(g: Graph, operand: Operand, axis: Axis) -> bool:
    made = g.producer(operand.value)
    return made is not None and any(
        isinstance(o.value, Tensor)
        and o.value.learned
        and o.shape is not None
        and any(a.same(axis) for a in o.shape.axes)
        for event in g.back(made, lambda _: True)
        for o in event.operands
    )
