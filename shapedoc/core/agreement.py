"""What branches that meet agree on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis, Run

__all__ = ["agreed", "same_run", "ways"]


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


class _Resolves(Protocol):
    def resolve(self, dim: Dim) -> Dim: ...


def ways(sizes: _Resolves, either: Mapping[Sym, tuple[Dim, ...]], dim: Dim) -> list[Dim]:
    """What a size may be that branches gave: each of their sizes, or itself where no branch gave it."""
    found: list[Dim] = []
    seen: set[Sym] = set()
    waiting = [dim]
    while waiting:
        dim = sizes.resolve(waiting.pop())
        several = either.get(dim.sym, ()) if dim.sym is not None else ()
        if several and dim.sym not in seen:
            seen.update(dim.syms)
            waiting.extend(several)
        elif not several:
            found.append(dim)
    return found
