"""Parameters that hold several tensors: the one shape that is stated of such a parameter is that of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from shapedoc.source.ir import Assign, Expr, FunctionDef, Name, Stmt
from shapedoc.source.ir import Sequence as Display
from shapedoc.source.walk import blocks

__all__ = ["set_to_pairs"]


def set_to_pairs(function: FunctionDef, names: Collection[str]) -> set[str]:
    """Those of the parameters that the function sets to a tuple of others, as ``hidden = (h, c)`` in a loop of steps.

    ``hidden: size (B, d_s)`` in its docstring is then said of h, and of c.
    """
    return {target.id for target in _set(function.body) if isinstance(target, Name) and target.id in names}


def _set(body: Sequence[Stmt]) -> Iterator[Expr]:
    """What statements set to a tuple of two or more."""
    for statement in body:
        if isinstance(statement, Assign) and _is_pair(statement.value):
            yield from statement.targets
        for block in blocks(statement):
            yield from _set(block)


def _is_pair(value: Expr | None) -> bool:
    return isinstance(value, Display) and value.kind == "tuple" and len(value.items) > 1
