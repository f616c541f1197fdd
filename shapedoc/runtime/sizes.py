"""A size that knows what it is called: the whole number that ``x.shape`` gives while a recorder watches."""

from __future__ import annotations

from shapedoc.core.dim import Dim

__all__ = ["AxisSize"]


class AxisSize(int):
    """A whole number that also carries the `Dim` of its axis; arithmetic with it gives plain numbers."""

    dim: Dim

    def __new__(cls, value: int, dim: Dim) -> AxisSize:
        made = super().__new__(cls, value)
        made.dim = dim
        return made

    def __reduce_ex__(self, protocol: object) -> tuple[type[int], tuple[int]]:
        """Pickle and copy as the number."""
        return int, (int(self),)
