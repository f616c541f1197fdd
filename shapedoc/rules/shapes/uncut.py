"""What a constructor made for the longest sequence, used whole beside a shorter one.

Whoever calls the module with a short sequence is not at fault: the mask or the table has to be cut where it is used.
"""

from __future__ import annotations

from shapedoc.core.trace import Operand, Trace
from shapedoc.rules.reading.elementwise import Meeting
from shapedoc.rules.reading.masks import masks
from shapedoc.rules.reading.scores import is_learned, source_of

__all__ = ["uncut"]


def uncut(trace: Trace, m: Meeting) -> tuple[Operand, str] | None:
    """The operand to cut and the index that does it: a causal mask, or a table of positions longer than the other."""
    for operand, axis, other in ((m.low, m.axis, m.other), (m.high, m.other, m.axis)):
        meaning = masks(trace).of(operand.value)
        if meaning is not None and meaning.kind == "causal" and meaning.made.function.endswith("__init__"):
            return operand, "[..., :T, :T]"
        made = source_of(trace, operand)
        built = is_learned(operand) or (made is not None and made.function.endswith("__init__"))
        longest, length = axis.dim.value, other.dim.value
        if built and m.back == -2 and longest is not None and length is not None and 1 < length < longest:
            return operand, "[:T]" if m.low is operand and m.low_shape.rank == 2 else "[..., :T, :]"
    return None
