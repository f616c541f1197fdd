"""What is known of sizes and ranks at one point of a program.

`Sizes` holds what symbols turned out to be (bindings), which names are certainly different (apartness), how many axes
a run stands for, and the roles that axes have been seen in. The interpreter forks it at a branch and joins it after.

Generic position: two names that are apart are taken to be different numbers, so that code which is right only when
they happen to agree is wrong. Apartness has a strength; see `Strength`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from shapedoc.core.agreement import agreed, same_run, ways
from shapedoc.core.apartness import Apartness
from shapedoc.core.dim import ZERO, Dim, Sym
from shapedoc.core.divided import Divided
from shapedoc.core.quotients import (
    Floor,
    as_operand,
    cancelled,
    divided,
    divides_by_name,
    may_be_one,
    may_be_rounded,
)
from shapedoc.core.ranks import NO_LINKS
from shapedoc.core.sameness import (
    ALWAYS,
    UNKNOWN,
    Kind,
    Sameness,
    Strength,
    called_alike,
    literal_meets,
    never_positive,
    never_zero,
)

__all__ = ["ABSENT", "LETTER", "Kind", "Sameness", "Sizes", "Strength"]

# Where a size has its name from that a pattern calls so, as `c` of `(p1 p2 c)`: it may be a 1.
LETTER = "a letter of a pattern"
# What its default of 0 leaves out, wherever nobody gives it.
ABSENT = "a size that may be 0"


class Sizes(Divided):
    """Bindings, apartness, quotients, runs and roles."""

    __slots__ = ("_apart", "_either", "driven", "function")

    def __init__(self) -> None:
        super().__init__()
        # What is walked is driver code: a size without a number is one that was not followed, and may be 1.
        self.driven = False
        # The function that is walked.
        self.function = ""
        self._apart = Apartness()
        self._either: dict[Sym, tuple[Dim, ...]] = {}

    # -- branches

    def fork(self) -> Sizes:
        """A copy that can learn by itself; roles, which only grow, are shared."""
        other = Sizes.__new__(Sizes)
        other.bindings, other.runs, other._links = self.bindings, self.runs, self._links
        other._apart, other.driven, other.function = self._apart.fork(), self.driven, self.function
        other.roles, other._floors, other._either = self.roles, self._floors, self._either
        other._shapes, other._written = {}, None
        other._shared = self._shared = True
        return other

    def join(self, others: Iterable[Sizes]) -> None:
        """Keep, in this one, what all of `others` agree on."""
        others = list(others)
        if not others:
            return
        self._shapes, self._written = {}, None
        first = others[0]
        self.bindings, self.runs, self._links = first.bindings, first.runs, first._links
        first._shared = self._shared = True
        for o in others[1:]:
            if o.bindings is not self.bindings:
                self.bindings = agreed(self.bindings, o.bindings)
            if o.runs is not self.runs:
                theirs = o.runs
                self.runs = {r: v for r, v in self.runs.items() if same_run(theirs.get(r), v)}
            if o._links is not self._links:
                links = o._links
                self._links = {
                    r: v if links.get(r) is v else v & links.get(r, NO_LINKS) for r, v in self._links.items()
                }
        if not first._apart.rests_on_others(self.bindings):
            self._apart = first._apart.fork()
        for o in others:
            self._apart.merge(o._apart, self.bindings)

    def lasting(self) -> Sizes:
        """What is known of the sizes of a file that do not change: the quotients of its settings."""
        other = Sizes()
        other.bindings = {s: d for s, d in self.bindings.items() if not s.flexible}
        other._floors = dict(self._floors)
        return other

    def remember(self, earlier: Sizes) -> None:
        """Take over the quotients of an earlier walk over the same code, so that they are the same symbols again."""
        self._floors, self._written = earlier._floors, None

    # -- apartness

    def apart(self, *dims: Dim | Sym) -> None:
        """State that these sizes are different quantities: those with names, and symbols."""
        self._apart.state([self._key(dim) for dim in dims])

    def _key(self, dim: Dim | Sym) -> Sym | Dim | None:
        """What a size is set apart by: its symbol, or the dim where all of it has names."""
        whole = Dim.of(dim) if isinstance(dim, Sym) else self.resolve(dim)
        return whole.sym or (whole if whole.named else None)

    def alike(self, dim: Dim, earlier: Dim) -> None:
        """State that a size is named again as an earlier one was: what that is apart from, this one is too."""
        new, old = self.resolve(dim).sym, self.resolve(earlier).sym
        if new is not None and old is not None and new is not old:
            self._apart.share(new, old)

    def cut(self, part: Dim, whole: Dim) -> None:
        """State that a slice left `part` of `whole`: one of three out of ``3*d`` may be ``d`` itself."""
        sym = part.sym
        if sym is not None and sym.flexible and whole.sym is None and whole.const is None:
            self._apart.allow(sym, self.resolve(whole).syms)

    def two_names(self, a: Dim, b: Dim) -> None:
        """State that the author calls a stated size by the name of one that an object holds: it may be that one."""
        one, other = self.resolve(a).sym, self.resolve(b).sym
        if one is not None and other is not None and one.origin == "stated" and one.flexible and not other.flexible:
            self._apart.allow(one, (other,))

    def strength(self, a: Dim, b: Dim) -> Strength:
        """How sure it is that two different, resolved dims are two quantities."""
        ours, theirs = a.syms, b.syms
        if not ours or not theirs:
            return Strength.WEAK
        if a.sym is not None and b.sym is not None and a.sym.name == b.sym.name and a.sym.flexible and b.sym.flexible:
            return Strength.NONE  # the author calls them the same
        if self._apart.of(a.sym or a, b.sym or b):
            return Strength.STRONG
        if all(self._apart.of(s, t) for s in ours for t in theirs):
            return Strength.STRONG
        if all(not s.flexible for s in ours | theirs) and len({self._owner(s) for s in ours | theirs}) == 1:
            return Strength.WEAK
        return Strength.NONE

    def _owner(self, sym: Sym) -> str:
        """Whose size a symbol is: a quotient is, wherever it is taken, of the owner of what is divided."""
        for floor in self._floors.values():
            if floor.owner and floor.quotient.sym is sym:
                return floor.owner
        return sym.owner

    # -- sizes

    def called(self, dim: Dim, name: str, *, owner: str = "", origin: str = "", line: int = 0) -> Dim:
        """An unknown size under the name that it gets here; the size itself where it has a name, or is none."""
        sym = dim.sym
        if sym is None or sym.name or sym.value is not None or not sym.flexible or not name.strip("_"):
            return dim
        named = self.fresh(name, owner=owner, origin=sym.origin if sym.origin == ABSENT else origin, line=line)
        self.bind(sym, named)
        return named

    def either(self, *dims: Dim) -> Dim:
        """The unknown size that is one of these, by the way that a program took."""
        dim = self.fresh()
        self._either[next(iter(dim.syms))] = dims
        return dim

    def compare(self, a: Dim, b: Dim) -> Sameness:
        """Whether two sizes are the same number; nothing is learnt.

        A size that is one of several is another one only where all of them are.
        """
        verdict = self._compare(a, b)
        if verdict.wrong and self._either:
            pairs = product(ways(self, self._either, a), ways(self, self._either, b))
            if any(not self._compare(one, other).wrong for one, other in pairs):
                return UNKNOWN
        return verdict

    def _compare(self, a: Dim, b: Dim, *, whole: bool = True) -> Sameness:
        a, b = self.resolve(a), self.resolve(b)
        if a == b:
            return ALWAYS
        if never_positive(a) or never_positive(b):
            return UNKNOWN  # nothing is there: a walk that no run takes, more often than a fault
        left, right = a.value, b.value
        if left is not None and right is not None:
            if left != right:
                return Sameness(Kind.NEVER)
            if a.const is not None or b.const is not None or literal_meets(a - b) or called_alike(a, b):
                return ALWAYS
        elif never_zero(a - b):
            lettered = any(s.origin in (LETTER, ABSENT) for s in (a - b).syms)
            return UNKNOWN if lettered or may_be_rounded(a - b, a, b, self._floors) else Sameness(Kind.NEVER)
        if self._floors and whole and (a, b) != (parts := (divided(a, self._floors), divided(b, self._floors))):
            return self._compare(*parts, whole=False)
        for big, small in ((a, b), (b, a)):
            ratio = big.divide(small)
            if ratio is None or small.const is not None or not ratio.syms or may_be_one(ratio, self._floors):
                continue
            lettered = any(s.origin == LETTER for s in ratio.syms)
            if ratio.named and not lettered and not self._unfollowed(ratio):
                return Sameness(Kind.ONLY_IF, Strength.STRONG, f"{self.show(ratio)} == 1")
        if any(not s.name for s in a.syms | b.syms) and not self._apart.of(a.sym or a, b.sym or b):
            return UNKNOWN
        if any(divides_by_name(whole, by, floor, a, b) for (whole, by), floor in self._floors.items()):
            return ALWAYS
        when = f"{self.show(a)} == {self.show(b)}" if all(s.name for s in a.syms | b.syms) else ""
        return Sameness(Kind.ONLY_IF, self.strength(a, b), when)

    def _unfollowed(self, dim: Dim) -> bool:
        return self.driven and any(s.flexible and s.value is None for s in dim.syms)

    def meet(self, a: Dim, b: Dim) -> Sameness:
        """Require two sizes to be the same number; an unknown one is learnt unless its name is apart."""
        verdict = self.compare(a, b)
        if verdict.kind is Kind.ONLY_IF and self._solve_open(self.resolve(a) - self.resolve(b)):
            return ALWAYS
        if verdict.kind in (Kind.ALWAYS, Kind.NEVER) or verdict.wrong or ZERO in (self.resolve(a), self.resolve(b)):
            return verdict
        if self._solve(self.resolve(a), self.resolve(b)):
            return ALWAYS
        return verdict

    def _solve(self, a: Dim, b: Dim) -> bool:
        for one, other in ((a, b), (b, a)):
            sym = one.sym
            if sym is not None and sym.flexible and sym not in other.syms:
                if other.sym is not None and other.sym.flexible and not other.sym.name and sym.name:
                    continue  # bind the nameless one to the named one
                if sym.value is not None and other.value is None and other.sym is not None and other.sym.flexible:
                    continue  # bind the one without a number to the one that has one
                return self.bind(sym, other)
        if self._solve_divided(a, b) or self._solve_divided(b, a):
            return True
        difference = a - b
        for monomial, coefficient in difference.terms:
            if len(monomial) == 1 and monomial[0].flexible and coefficient in (1, -1):
                sym = monomial[0]
                rest = difference - Dim({monomial: coefficient})
                if sym not in rest.syms:
                    value = rest * (-coefficient)
                    if value.value is not None and value.value < 0:
                        return False
                    return self.bind(sym, value)
        for one, other in ((a, b), (b, a)):
            if len(one.terms) == 1:
                monomial, coefficient = one.terms[0]
                for sym in monomial:
                    if sym.flexible and monomial.count(sym) == 1 and sym not in other.syms:
                        left = list(monomial)
                        left.remove(sym)
                        quotient = other.divide(Dim({tuple(left): coefficient}))
                        if quotient is not None and not self._apart.of(sym, quotient.sym or quotient):
                            return self.bind(sym, quotient)
        return False

    def _solve_divided(self, a: Dim, b: Dim) -> bool:
        """Learn that `a`, an unknown size of which a quotient has been taken, is `b`: the quotient is b's."""
        if b.const is not None or len(a.terms) != 1:
            return False
        for floor in list(self._floors.values()):
            part = floor.quotient.sym
            if floor.of is None or not floor.of.flexible or part is None or self.resolve(floor.size) != a:
                continue
            divisor = floor.size.divide(Dim.of(part))
            if divisor is None or part in self.bindings or part in b.syms:
                continue
            quotient = self.floordiv(b, divisor)
            return part not in quotient.syms and self.bind(part, quotient)
        return False

    def _solve_open(self, difference: Dim) -> bool:
        """Learn the half of an unknown size from a difference that must be 0: ``n // 2 + 1`` is T."""
        if difference.const is not None or len(difference.terms) < 3:
            return False
        for monomial, coefficient in difference.terms:
            if len(monomial) == 1 and coefficient in (1, -1) and self.is_open(monomial[0]):
                value = (difference - Dim({monomial: coefficient})) * (-coefficient)
                if monomial[0] not in value.syms and (value.value is None or value.value > 0):
                    return self.bind(monomial[0], value)
        return False

    def bind(self, sym: Sym, dim: Dim) -> bool:
        """Learn that a symbol is this size."""
        dim = self.resolve(dim)
        if sym in dim.syms:
            return False
        if self._shared:
            self._own()
        self.bindings[sym] = dim
        if dim.sym is not None:
            self._apart.lend(dim.sym, sym)
            if sym in self._either:
                self._either.setdefault(dim.sym, self._either[sym])
        return True

    def equate(self, one: Dim, other: Dim) -> bool:
        """Learn that two names of the author's stand for one size, which is apart from what both are apart from."""
        a, b = self.resolve(one).sym, self.resolve(other).sym
        if a is None or b is None or a is b or not all(s.flexible and s.name and s.value is None for s in (a, b)):
            return False
        made = Sym(a.name, flexible=True, owner=a.owner, origin=a.origin, line=a.line)
        self._apart.common(made, a, b)
        if self._shared:
            self._own()
        self.bindings[a] = self.bindings[b] = Dim.of(made)
        return True

    def floordiv(self, a: Dim, b: Dim, *, owner: str = "", line: int = 0) -> Dim:
        """``a // b``: exact where it divides; otherwise a quotient that is assumed to be exact, and remembered.

        ``d_model // n_heads`` becomes one symbol q with ``d_model == n_heads * q``, unless the numbers that are
        known do not divide; then it is an opaque symbol with the right number. Of a quotient, as in
        ``d_model // n_heads // 2`` or where ``d_model // 2`` has been taken before, the same is assumed.
        """
        a, b = self.resolve(a), self.resolve(b)
        if not b.terms:
            return self.fresh(owner=owner, line=line)
        exact = a.divide(b)
        if exact is None and self._floors:
            exact = divided(a, self._floors).divide(
                divided(b, self._floors)
            )  # ``n_heads``, which is ``n_groups * n_rep``
        if exact is not None:
            if self._floors and exact.sym is None and exact.const is None and b.const != 1:
                text = f"{as_operand(self.show(a))}//{as_operand(self.show(b))}"
                self._floors.setdefault((a, b), Floor(exact, text))
            return exact
        a, b = cancelled(a, b)
        floor = self._floors.get((a, b))
        if floor is None:
            if a.const is not None and b.const is not None:
                return Dim.of(a.const // b.const) if b.const else self.fresh()
            floor = self._floors[a, b] = self._floor(a, b, owner, line)
        if floor.of is not None and floor.of not in self.bindings and floor.of not in floor.size.syms:
            if self._shared:
                self._own()
            self.bindings[floor.of] = floor.size
            if b.const is not None:
                for part in floor.size.syms:
                    self._apart.share(part, floor.of)  # half a width is as little a length as the width is
        return self.resolve(floor.quotient)
