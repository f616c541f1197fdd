"""What annotations of ops mean to a type checker, and the default of a value that is not used.

`shapedoc.ops.registry` says what each annotation accepts.
"""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.value import Int, NoneValue, Tensor

__all__ = ["LAST", "NONE", "Dims", "Ints", "Tensors"]

NONE = NoneValue()
# The number of the last axis.
LAST = Int(Dim.of(-1))

Dims = tuple[Dim, ...]
Ints = tuple[int, ...]
Tensors = tuple[Tensor, ...]
