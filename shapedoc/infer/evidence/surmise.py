"""Ranks at second hand: learnt of one tensor beside another whose own rank is but stated.

``torch.cat((x, y), 1)`` with ``y: (B, T, d)`` in a docstring says that x has three axes only as long as the docstring
is right. A finding that rests on it would be about x, and the fault may be in what is said of y.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from shapedoc.core.shape import Run, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.trace import Operand
from shapedoc.core.value import Seq, Tensor, Value

__all__ = ["Surmises"]


class Surmises:
    """What of one walk, and of the parameters for the next one, is known at second hand only.

    tensors: parameters (the uid of their tensors), for all walks over their function. runs, events: of this walk.
    """

    def __init__(self) -> None:
        self.tensors: set[int] = set()
        self.runs: set[Run] = set()
        self.events: set[int] = set()

    def begin(self) -> None:
        """Start a walk."""
        self.runs, self.events = set(), set()

    def learnt(self, sizes: Sizes, before: int) -> None:
        """The runs of which an operation has learnt what they stand for; there were `before` that were known."""
        self.runs.update(islice(sizes.runs, before, None))

    def rests(self, sizes: Sizes, operands: Sequence[Operand]) -> bool:
        """Whether the rank of an operand is known at second hand."""
        if not (self.tensors or self.runs or self.events):
            return False
        return any(self._of(sizes, operand.value) for operand in operands)

    def of_shape(self, sizes: Sizes, shape: Shape) -> bool:
        """Whether a shape has axes that were learnt so."""
        run = shape.items[shape.run] if shape.run is not None else None
        while isinstance(run, Run):
            if run in self.runs:
                return True
            run = next((i for i in sizes.runs.get(run, ()) if isinstance(i, Run)), None)
        return False

    def _of(self, sizes: Sizes, value: Value) -> bool:
        match value:
            case Tensor():
                known = value.uid in self.tensors or value.event in self.events
                return known or (bool(self.runs) and self.of_shape(sizes, value.shape))
            case Seq():
                rest = value.rest is not None and self._of(sizes, value.rest)
                return rest or any(self._of(sizes, item) for item in value.items)
        return False
