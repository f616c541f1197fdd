"""Sizes that were divided: the quotients that were taken of them, and how they are written.

A quotient that does not divide as polynomials, as ``d_model // n_heads`` does not, is a symbol of its own; a product
with it is shown as its author would write it.
"""

from __future__ import annotations

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.quotients import Floor, Spelled, as_operand, floor_of, one_owner, readable
from shapedoc.core.ranks import Ranks
from shapedoc.core.shape import Run, Shape

__all__ = ["Divided"]

# Letters, of the name of a size that is worked out of others.
_READABLE = 30


class Divided(Ranks):
    """Bindings, runs, roles, and quotients."""

    __slots__ = ("_floors", "_written")

    def __init__(self) -> None:
        super().__init__()
        self._floors: dict[tuple[Dim, Dim], Floor] = {}
        # How sizes are spelled, and how much was known of quotients and sizes then.
        self._written: tuple[int, int, Spelled] | None = None

    def is_open(self, sym: Sym) -> bool:
        """Whether a symbol is an unknown size, or what a division made of one."""
        if sym.flexible:
            return True
        made = (f.of for f in self._floors.values() if f.quotient.sym is sym)
        return any(of is not None and of.flexible for of in made)

    def is_quotient(self, dim: Dim) -> bool:
        """Whether a size is what a division made, such as that of one head."""
        sym = self.resolve(dim).sym
        return sym is not None and any(f.quotient.sym is sym for f in self._floors.values())

    def not_exact(self, dim: Dim, number: int) -> None:
        """Learn the number of a size that was assumed to divide, where it does not: its quotients are rounded down."""
        for (_, b), floor in self._floors.items():
            whole, q = floor.of, floor.quotient.sym
            if whole is None or whole is not dim.sym or q is None or q in self.bindings:
                continue
            if b.const and number % b.const:
                if self._shared:
                    self._own()
                self.bindings[whole], self.bindings[q] = Dim.of(number), Dim.of(number // b.const)

    def rounded_down(self, a: Dim, b: Dim, *, line: int = 0) -> Dim:
        """``a // b`` of which nothing says that it divides: a size of its own, the same wherever it is asked for.

        It is called after what is divided, where all of that has names and the whole can be read.
        """
        a, b = self.resolve(a), self.resolve(b)
        if not a.named:
            return self.fresh(line=line)
        floor = self._floors.get((a, b))
        if floor is None:
            text = f"{as_operand(self.show(a))}//{as_operand(self.show(b))}"
            name = text if len(text) <= _READABLE else ""
            floor = self._floors[a, b] = Floor(self.fresh(name, line=line), text)
        return self.resolve(floor.quotient)

    def _floor(self, a: Dim, b: Dim, owner: str, line: int) -> Floor:
        text = f"{as_operand(self.show(a))}//{as_operand(self.show(b))}"
        sym = a.sym
        if sym is None and len(a.terms) == 1:
            # A product with an earlier quotient in it: that quotient divides once more.
            known = {f.quotient.sym for f in self._floors.values() if f.of is not None}
            sym = next((s for s in a.terms[0][0] if s in known and a.terms[0][0].count(s) == 1), None)
        whole = a if sym is None or sym in b.syms else Dim.of(sym)
        left, right = whole.value, b.value
        divides = left is None or right is None or (right != 0 and left % right == 0)
        origin = f"{'exact' if divides else 'floor'} {self.show(a)} // {self.show(b)}"
        value = floor_of(left if divides else a.value, right)
        name = text if whole is a else f"{as_operand(self.show(whole))}//{as_operand(self.show(b))}"
        q = Sym(name, value=value, owner=owner, origin=origin, line=line)
        if sym is None or sym in b.syms or not divides:
            return Floor(Dim.of(q), text, owner=one_owner(a, b))
        size = b * Dim.of(q)
        quotient = a.substitute({sym: size}).divide(b)
        assert quotient is not None
        return Floor(quotient, text, sym, size, one_owner(a, b))

    def show(self, dim: Dim) -> str:
        """The dim as the author would write it: a product that a floor division split is put together again."""
        dim = self.resolve(dim)
        if not self._floors or dim.const is not None:
            return str(dim)
        known = (len(self._floors), len(self.bindings))  # both only grow between joins
        if self._written is None or self._written[:2] != known:
            self._written = (*known, Spelled.of(self._floors, self.bindings, self.resolve))
        return self._written[2].text(dim)

    def show_shape(self, shape: Shape) -> str:
        """The shape in the author's spelling."""
        parts = [str(i) if isinstance(i, Run) else readable(self.show(i.dim)) for i in self.shape(shape).items]
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
