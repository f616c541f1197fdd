"""What annotations of ops mean to a type checker; `shapedoc.ops.registry` says what each accepts."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.value import Tensor

__all__ = ["Dims", "Ints", "Tensors"]

Dims = tuple[Dim, ...]
Ints = tuple[int, ...]
Tensors = tuple[Tensor, ...]
