"""What branches that meet agree on."""

from __future__ import annotations

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis, Run

__all__ = ["agreed", "same_run"]


def agreed(ours: dict[Sym, Dim], theirs: dict[Sym, Dim]) -> dict[Sym, Dim]:
    """The bindings that two branches share."""
    return {s: d for s, d in ours.items() if (o := theirs.get(s)) is d or o == d}


def same_run(a: tuple[Axis | Run, ...] | None, b: tuple[Axis | Run, ...]) -> bool:
    """Whether two branches know the same axes of a run."""
    if a is b:
        return True
    if a is None or len(a) != len(b):
        return False
    return all(
        x is y or (isinstance(x, Axis) and isinstance(y, Axis) and x.dim == y.dim) for x, y in zip(a, b, strict=True)
    )
