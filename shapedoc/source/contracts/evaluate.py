"""A stated size to a `Dim`, once somebody knows what its names stand for."""

from __future__ import annotations

from collections.abc import Callable

from shapedoc.core.dim import Dim
from shapedoc.source.contracts.stated import (
    Anonymous,
    Difference,
    DimExpr,
    Named,
    Number,
    Product,
    Quotient,
    Rest,
    Sum,
)

__all__ = ["to_dim"]


def to_dim(size: DimExpr, name: Callable[[Named], Dim | None], divide: Callable[[Dim, Dim], Dim | None]) -> Dim | None:
    """The size as a `Dim`; None where it has no name (`Anonymous`, `Rest`) or one that `name` does not know.

    name: the size that a name stands for. divide: ``a // b``, as `Sizes.floordiv`. A size that may also be 1
    (``#n``) is None.
    """
    match size:
        case Number(value=value):
            return Dim.of(value)
        case Named():
            return None if size.broadcasts else name(size)
        case Sum(terms=terms):
            return _fold(terms, name, divide, lambda a, b: a + b)
        case Product(factors=factors):
            return _fold(factors, name, divide, lambda a, b: a * b)
        case Difference(left=left, right=right):
            return _fold((left, right), name, divide, lambda a, b: a - b)
        case Quotient(left=left, right=right):
            return _fold((left, right), name, divide, divide)
        case Anonymous() | Rest():
            return None


def _fold(
    parts: tuple[DimExpr, ...],
    name: Callable[[Named], Dim | None],
    divide: Callable[[Dim, Dim], Dim | None],
    join: Callable[[Dim, Dim], Dim | None],
) -> Dim | None:
    total: Dim | None = None
    for i, part in enumerate(parts):
        dim = to_dim(part, name, divide)
        if dim is None:
            return None
        total = dim if i == 0 or total is None else join(total, dim)
        if total is None:
            return None
    return total
