"""What a function states rightly of its tensors, and what else that makes certain of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.value import Tensor
from shapedoc.infer.evidence.lineage import least_rank, rests_on, uids_of
from shapedoc.infer.machine import Machine
from shapedoc.source.contracts import DimExpr, Named, StatedShape

__all__ = ["Warrants"]


class Warrants:
    """Tensors (their uid) of which a function states the rank that they have, and that function.

    agreed: those that had the rank before, of what they are made of. filled: those that have it of nothing else.
    """

    def __init__(self) -> None:
        self.confirmed: set[tuple[str, int]] = set()
        self.agreed: set[tuple[str, int]] = set()
        self.filled: set[tuple[str, int]] = set()

    def agree(self, m: Machine, value: Tensor) -> None:
        """What is stated of a tensor is what it has."""
        self.confirmed.add((m.function, value.uid))
        if value.event >= 0:
            self.agreed.add((m.function, value.uid))

    def fill(self, m: Machine, value: Tensor, dims: Sequence[DimExpr]) -> None:
        """A tensor has the rank that is stated; a name of several words may lack a comma."""
        self.confirmed.add((m.function, value.uid))
        if value.event >= 0 and not any(isinstance(d, Named) and " " in d.name for d in dims):
            self.filled.add((m.function, value.uid))

    def confirms(self, m: Machine, value: Tensor) -> bool:
        return (m.function, value.uid) in self.confirmed

    def rests_on_a_caller(self, m: Machine, value: Tensor) -> bool:
        """Whether a rank comes of one that is stated, and not by the function that is walked."""
        own = _of(self.confirmed, m.function)
        return rests_on(m.trace, value, m.tentative, m.described - own, own)

    def contradict(self, m: Machine, value: Tensor, stated: StatedShape) -> bool:
        """Whether a rank that is not certain comes of what the same function states, and another one is stated.

        The same of one that is certain not to be less than it is, where less is stated.
        """
        doubted = m.tentative | m.one_sided | m.surmises.events
        if stated.rank is not None and least_rank(m.trace, value, doubted, m.described) > stated.rank:
            return True
        if value.event not in m.tentative:
            return False
        own = _of(self.agreed, m.function)
        made = m.trace.events[value.event]
        if made.short == "getitem":
            # What is taken out of a tensor is stated beside what is stated of that.
            own |= _of(self.filled, m.function) & uids_of(made.operands[:1])
        return not rests_on(m.trace, value, m.tentative, m.described - own, own)


def _of(tensors: set[tuple[str, int]], function: str) -> set[int]:
    return {uid for walked, uid in tensors if walked == function}
