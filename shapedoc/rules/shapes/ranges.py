"""Two ranges that count different things, multiplied place by place: an outer product without its column.

Positions times frequencies, as in Vaswani et al. 2017, section 3.5: ``arange(n) * exp(arange(0, d, 2) * c)``.
"""

from __future__ import annotations

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Shape
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import Graph, graph, shape_at
from shapedoc.rules.reading.wording import text_of

__all__ = ["column"]

_RANGES = names("arange range linspace")
_ONE_BY_ONE = names("mul div pow exp neg float double to type_as half astype add sub log reciprocal cuda cpu type rsub")
_WITHIN = _ONE_BY_ONE | names("cat concat unsqueeze expand_dims")
_OUTER = names("mul div")


def column(trace: Trace, event: Event) -> str:
    """What to write where both sides of a product are ranges of different lengths, and nothing else; "" elsewhere."""
    operands = tensor_operands(event)
    if event.short not in _OUTER or len(operands) != 2 or event.sizes is None:
        return ""
    shapes = [shape_at(event, operand) for operand in operands]
    if not all(_is_row(s) for s in shapes):
        return ""
    g = graph(trace)
    if not all(_is_range(g, operand) for operand in operands):
        return ""
    return f"every one of the one with every one of the other: `{text_of(trace, operands[0])}[:, None]`"


def _is_row(shape: Shape | None) -> bool:
    """Whether a shape is (n,) or (1, n), of a size that has a name."""
    return (
        shape is not None
        and shape.rank is not None
        and shape.rank > 0
        and shape.axes[-1].dim.named
        and all(a.dim == ONE for a in shape.axes[:-1])
    )


def _is_range(g: Graph, operand: Operand) -> bool:
    event = g.producer(operand.value) if isinstance(operand.value, Tensor) else None
    if event is None:
        return False
    made = [e for e in g.back(event, lambda e: e.short in _WITHIN) if e.short not in _WITHIN]
    return bool(made) and all(e.short in _RANGES for e in made)
