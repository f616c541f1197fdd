"""Sizes: canonical integer polynomials over named symbols.

A `Dim` is what a size is known to be: ``5``, ``d_model``, ``2*d_h``, ``H*d_k``, ``T + 1``. Two dims are equal as
polynomials exactly when they are equal objects by ``==``; whether two *different* polynomials may still be the same
number is answered by `shapedoc.core.sizes`, which knows the names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

__all__ = ["ONE", "ZERO", "Dim", "Sym", "mark"]

_uids = count(1)

Monomial = tuple["Sym", ...]


def mark() -> int:
    """A number above those of all symbols that there are, and below those of all to come."""
    return next(_uids)


class Sym:
    """A named size.

    name: what the author wrote, or "" for a size nobody named. value: its number where one is known (``B = 3``).
    flexible: the symbol stands for something unknown, and may turn out to be another size (an axis of a parameter);
    a rigid one is a quantity of its own (a constructor's size). owner: the function or class that named it.
    origin: how it came about, in words, and `line` where.
    """

    __slots__ = ("dim", "flexible", "line", "name", "origin", "owner", "uid", "value")

    # The dim that is exactly this symbol, once one has been asked for.
    dim: Dim | None

    def __init__(
        self,
        name: str = "",
        *,
        value: int | None = None,
        flexible: bool = False,
        owner: str = "",
        origin: str = "",
        line: int = 0,
    ) -> None:
        self.name = name
        self.value = value
        self.flexible = flexible
        self.owner = owner
        self.origin = origin
        self.line = line
        self.uid = next(_uids)
        self.dim = None

    def __repr__(self) -> str:
        return self.name or f"?{self.uid}"

    def __lt__(self, other: Sym) -> bool:
        return self.uid < other.uid


class Dim:
    """A polynomial with integer coefficients; immutable, hashable, canonical.

    Supports ``+ - *`` with dims and ints, and exact division by `divide`.
    """

    __slots__ = ("_hash", "_syms", "const", "sym", "terms")

    terms: tuple[tuple[Monomial, int], ...]
    # The number, if there is no symbol in it.
    const: int | None
    # The symbol, if the dim is exactly one symbol.
    sym: Sym | None
    _hash: int
    _syms: frozenset[Sym] | None

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        kept = [(m, c) for m, c in terms.items() if c]
        if len(kept) > 1:
            kept.sort(key=_key)
        self._set(tuple(kept))

    def _set(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self._hash = hash(terms)
        self._syms = None
        self.const = self.sym = None
        if not terms:
            self.const = 0
        elif len(terms) == 1:
            monomial, coefficient = terms[0]
            if not monomial:
                self.const = coefficient
            elif coefficient == 1 and len(monomial) == 1:
                self.sym = monomial[0]

    @staticmethod
    def of(value: int | Sym | Dim) -> Dim:
        """A dim from a number, a symbol or a dim."""
        if isinstance(value, Dim):
            return value
        if isinstance(value, Sym):
            dim = value.dim
            if dim is None:
                dim = value.dim = _made((((value,), 1),))
            return dim
        return _const(value)

    # -- what it is

    @property
    def syms(self) -> frozenset[Sym]:
        """Every symbol in it."""
        syms = self._syms
        if syms is None:
            syms = self._syms = frozenset([s for m, _ in self.terms for s in m])
        return syms

    @property
    def value(self) -> int | None:
        """The number, where every symbol knows its own."""
        if self.const is not None:
            return self.const
        if self.sym is not None:
            return self.sym.value
        total = 0
        for monomial, coefficient in self.terms:
            for s in monomial:
                if s.value is None:
                    return None
                coefficient *= s.value
            total += coefficient
        return total

    @property
    def named(self) -> bool:
        """Whether every symbol in it has a name, and there is one."""
        if self.sym is not None:
            return bool(self.sym.name)
        syms = self.syms
        return bool(syms) and all(s.name for s in syms)

    @property
    def one_signed(self) -> bool:
        """Whether all coefficients have one sign: such a dim is never zero, as every size is at least one."""
        return bool(self.terms) and (all(c > 0 for _, c in self.terms) or all(c < 0 for _, c in self.terms))

    # -- arithmetic

    def __add__(self, other: Dim | int) -> Dim:
        if not isinstance(other, Dim):
            other = Dim.of(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        if self.const is not None and other.const is not None:
            return _const(self.const + other.const)
        terms = dict(self.terms)
        for m, c in other.terms:
            terms[m] = terms.get(m, 0) + c
        return Dim(terms)

    def __neg__(self) -> Dim:
        return _made(tuple([(m, -c) for m, c in self.terms]))

    def __sub__(self, other: Dim | int) -> Dim:
        return self + (-Dim.of(other))

    def __mul__(self, other: Dim | int) -> Dim:
        if not isinstance(other, Dim):
            other = Dim.of(other)
        if other.const == 1:
            return self
        if self.const == 1:
            return other
        if self.const is not None and other.const is not None:
            return _const(self.const * other.const)
        if len(self.terms) == 1 and len(other.terms) == 1:
            (m, c), (n, d) = self.terms[0], other.terms[0]
            if len(m) == 1 == len(n):
                return _made(((m + n if m[0].uid <= n[0].uid else n + m, c * d),))
            return _made(((tuple(sorted(m + n)) if m and n else m or n, c * d),))
        terms: dict[Monomial, int] = {}
        for m, c in self.terms:
            for n, d in other.terms:
                product = tuple(sorted(m + n)) if m and n else m or n
                terms[product] = terms.get(product, 0) + c * d
        return Dim(terms)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Dim | int) -> Dim:
        return Dim.of(other) - self

    def without_common(self, other: Dim) -> Dim:
        """A product without the factors that it shares with another one: ``heads * T`` beside ``heads * d`` is T."""
        if len(self.terms) != 1 or len(other.terms) != 1:
            return self
        (monomial, coefficient), (theirs, _) = self.terms[0], other.terms[0]
        left, rest = list(monomial), list(theirs)
        for sym in monomial:
            if sym in rest:
                rest.remove(sym)
                left.remove(sym)
        return Dim({tuple(left): coefficient})

    def divide(self, other: Dim | int) -> Dim | None:
        """The exact quotient ``self / other``, or None where there is none."""
        divisor = Dim.of(other)
        if not divisor.terms:
            return None
        if not self.terms:
            return ZERO
        if divisor.const == 1:
            return self
        if self._hash == divisor._hash and self.terms == divisor.terms:
            return ONE
        if len(divisor.terms) == 1:
            return self._divide_by_one_term(*divisor.terms[0])
        lead_m, lead_c = max(divisor.terms, key=_order)
        rest, quotient = self, ZERO
        while rest.terms:
            m, c = max(rest.terms, key=_order)
            left = _without(m, lead_m)
            if left is None or c % lead_c:
                return None
            step = Dim({left: c // lead_c})
            quotient += step
            rest -= step * divisor
        return quotient

    def _divide_by_one_term(self, monomial: Monomial, coefficient: int) -> Dim | None:
        terms: dict[Monomial, int] = {}
        for m, c in self.terms:
            left = _without(m, monomial)
            if left is None or c % coefficient:
                return None
            terms[left] = c // coefficient
        return Dim(terms)

    def substitute(self, bindings: Mapping[Sym, Dim]) -> Dim:
        """The dim with symbols replaced, repeatedly, until none of `bindings` is left."""
        dim = self
        for _ in range(50):
            if dim.sym is not None:
                found = bindings.get(dim.sym)
                if found is None:
                    return dim
                dim = found
                continue
            if bindings.keys().isdisjoint(dim.syms):
                return dim
            total = ZERO
            for monomial, coefficient in dim.terms:
                product = _const(coefficient)
                for s in monomial:
                    product = product * (bindings.get(s) or Dim.of(s))
                total = total + product
            dim = total
        return dim

    # -- identity

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, Dim):
            return self._hash == other._hash and self.terms == other.terms
        if isinstance(other, int):
            return self.const == other
        return NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __iter__(self) -> Iterator[tuple[Monomial, int]]:
        return iter(self.terms)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        text = ""
        for monomial, coefficient in sorted(self.terms, key=_shown):
            size = abs(coefficient)
            part = "*".join(_factor(s, size == 1 and len(monomial) == 1) for s in monomial)
            if not part:
                part = str(size)
            elif size != 1:
                part = f"{size}*{part}"
            if not text:
                text = part if coefficient > 0 else f"-{part}"
            else:
                text += f" + {part}" if coefficient > 0 else f" - {part}"
        return text

    def __repr__(self) -> str:
        return f"Dim({self})"


def _factor(sym: Sym, alone: bool) -> str:
    """A symbol as a factor of a product: a quotient stands in parentheses."""
    if not sym.name:
        return "?" if sym.value is None else str(sym.value)
    return sym.name if alone or "//" not in sym.name else f"({sym.name})"


def _key(term: tuple[Monomial, int]) -> tuple[int, tuple[int, ...]]:
    return len(term[0]), tuple(s.uid for s in term[0])


def _order(term: tuple[Monomial, int]) -> tuple[int, tuple[int, ...]]:
    # A graded monomial order, so that long division ends.
    return len(term[0]), tuple(sorted((-s.uid for s in term[0]), reverse=True))


def _shown(term: tuple[Monomial, int]) -> tuple[bool, bool, int]:
    return not term[0], term[1] < 0, -len(term[0])


def _without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """`monomial` with the symbols of `part` taken out once each, or None where one is missing."""
    left = list(monomial)
    for s in part:
        if s not in left:
            return None
        left.remove(s)
    return tuple(left)


def _made(terms: tuple[tuple[Monomial, int], ...]) -> Dim:
    """A dim of terms that are sorted already, none of them zero."""
    dim = Dim.__new__(Dim)
    dim._set(terms)
    return dim


_consts: dict[int, Dim] = {}


def _const(value: int) -> Dim:
    dim = _consts.get(value)
    if dim is None:
        value = int(value)
        dim = _made((((), value),) if value else ())
        if -64 <= value <= 4096:
            _consts[value] = dim
    return dim


ZERO = _const(0)
ONE = _const(1)
