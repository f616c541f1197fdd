"""Axes and shapes.

An axis has an identity apart from its size: it keeps it through transposes, products and masks, so that a rule can
ask whether the axis that a softmax normalised is the one that a product sums. A shape is a tuple of axes, with at
most one *run*, an unknown number of axes, in it: ``(*batch, d)``; the shape of a tensor of which nothing is known is
one run alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from shapedoc.core.dim import ONE, Dim

__all__ = ["Axis", "Run", "Shape", "new_id"]

_ids = count(1)


def new_id() -> int:
    """A fresh identity for an axis."""
    return next(_ids)


@dataclass(slots=True, eq=False)
class Axis:
    """One axis of a tensor; never changed once built.

    dim: its size. ids: its identities; an axis that elementwise arithmetic made of two has both. visible: its size is
    1 because the author asked for it (``unsqueeze``, ``None``, ``keepdim=True``, a literal 1 in ``view``).
    factors: the axes that were joined into it by a view or a repeat, outermost first.
    """

    dim: Dim
    ids: frozenset[int] = field(default_factory=lambda: frozenset((next(_ids),)))
    visible: bool = False
    factors: tuple[Axis, ...] = ()

    @staticmethod
    def one() -> Axis:
        """An axis of size 1 that was asked for."""
        return Axis(ONE, visible=True)

    def same(self, other: Axis) -> bool:
        """Whether both stand for one axis of the program."""
        return not self.ids.isdisjoint(other.ids)

    def sized(self, dim: Dim) -> Axis:
        """The same axis with its size known better."""
        return self if dim == self.dim else Axis(dim, self.ids, self.visible, self.factors)

    def merged(self, other: Axis) -> Axis:
        """This axis, answering to the identities of `other` too."""
        if other.ids <= self.ids:
            return self
        ids = self.ids | other.ids
        if len(ids) > 24:
            ids = self.ids
        return Axis(self.dim, ids, self.visible and other.visible, self.factors or other.factors)

    def __str__(self) -> str:
        return str(self.dim)


class Run:
    """An unknown number of axes (none, one or several); `most`: no more than so many, where that is known."""

    __slots__ = ("most", "name", "uid")

    def __init__(self, name: str = "", most: int | None = None) -> None:
        self.name = name
        self.most = most
        self.uid = new_id()

    def without(self, count: int) -> tuple[Run, ...]:
        """What is left of it when so many axes of it are known: a run, or nothing."""
        if self.most is None:
            return (Run(self.name),)
        return (Run(self.name, self.most - count),) if self.most > count else ()

    def __str__(self) -> str:
        return "*" + self.name if self.name else "..."


class Shape:
    """A tuple of axes with at most one run in it; immutable.

    run: where the run stands, None where there is none. rank: the number of axes, if it is known.
    """

    __slots__ = ("_axes", "items", "rank", "run")

    def __init__(self, items: tuple[Axis | Run, ...]) -> None:
        self.items = items
        self.run: int | None = None
        self.rank: int | None = len(items)
        self._axes: tuple[Axis, ...] | None = None
        for i, item in enumerate(items):
            if item.__class__ is Run:
                self.run, self.rank = i, None
                break

    @staticmethod
    def of(*dims: Dim | int) -> Shape:
        """A shape of fresh axes of these sizes."""
        return Shape(tuple(Axis(Dim.of(d)) for d in dims))

    @staticmethod
    def unknown(name: str = "") -> Shape:
        """A shape of which nothing is known."""
        return Shape((Run(name),))

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes that are known, runs left out."""
        axes = self._axes
        if axes is None:
            axes = self._axes = tuple([i for i in self.items if isinstance(i, Axis)])
        return axes

    @property
    def prefix(self) -> tuple[Axis, ...]:
        """The axes before the run (all, without one)."""
        return self.axes if self.run is None else self.axes[: self.run]

    @property
    def suffix(self) -> tuple[Axis, ...]:
        """The axes after the run (all, without one)."""
        return self.axes if self.run is None else self.axes[self.run :]

    @property
    def is_unknown(self) -> bool:
        """Whether nothing at all is known."""
        return self.run is not None and len(self.items) == 1

    def __str__(self) -> str:
        if len(self.items) == 1:
            return f"({self.items[0]},)"
        return f"({', '.join(str(i) for i in self.items)})"

    def __repr__(self) -> str:
        return f"Shape{self}"
