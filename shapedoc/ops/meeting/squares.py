"""Grids with as many rows as columns, as the table of their positions says."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis
from shapedoc.ops.calling.context import OpContext

__all__ = ["learn_square"]


def learn_square(at: OpContext, table: Sequence[Axis], grid: Sequence[Axis]) -> None:
    """Learn that rows and columns are one number where a learned table has one size for both, features behind them.

    A table (1, n + 1, n, d) is the author's word that the (B, rows + 1, columns, d) which it is added to is a square.
    """
    for place in range(-min(len(table), len(grid)), -2):
        first, second = (at.sizes.resolve(axis.dim) for axis in table[place : place + 2])
        size = _one_size(first)
        if size is None or size.flexible or _one_size(second) is not size:
            continue
        rows, columns = (at.sizes.resolve(axis.dim) for axis in grid[place : place + 2])
        if all(known == met or _is_open(met) for known, met in ((first, rows), (second, columns))):
            for known, met in ((first, rows), (second, columns)):
                unknown = _one_size(met)
                if known != met and unknown is not None:
                    at.sizes.bind(unknown, known - (met - Dim.of(unknown)))


def _one_size(dim: Dim) -> Sym | None:
    """The size that a dim is, but for a number: ``n`` of ``n + 1``."""
    sym = next(iter(dim.syms), None)
    return sym if sym is not None and (dim - Dim.of(sym)).const is not None else None


def _is_open(dim: Dim) -> bool:
    sym = _one_size(dim)
    return sym is not None and sym.flexible and sym.value is None
