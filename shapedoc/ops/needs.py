"""What annotations of ops mean to a type checker, and the default of a value that is not used.

`shapedoc.ops.registry` says what each annotation accepts.
"""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.value import NoneValue, Tensor

__all__ = ["NONE", "Dims", "Ints", "Tensors"]

NONE = NoneValue()

Dims = tuple[Dim, ...]
Ints = tuple[int, ...]
Tensors = tuple[Tensor, ...]
