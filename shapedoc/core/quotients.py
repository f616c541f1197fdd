"""Quotients of sizes that do not divide as polynomials, as ``d_model // n_heads`` does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from shapedoc.core.dim import ZERO, Dim, Sym

__all__ = [
    "Floor",
    "Floors",
    "Spelled",
    "as_operand",
    "cancelled",
    "divided",
    "divides_by_name",
    "floor_of",
    "may_be_one",
    "may_be_rounded",
    "one_owner",
    "readable",
]


@dataclass(frozen=True, slots=True)
class Floor:
    """A quotient that does not divide as polynomials: `of`, a symbol, is assumed to be `size` so that it does.

    owner: whose sizes the two that are divided are, if all of them are of one.
    """

    quotient: Dim
    text: str
    of: Sym | None = None
    size: Dim = ZERO
    owner: str = ""


# What has been divided and by what, and what came of it.
Floors = Mapping[tuple[Dim, Dim], Floor]


def floor_of(a: int | None, b: int | None) -> int | None:
    return a // b if a is not None and b else None


def one_owner(a: Dim, b: Dim) -> str:
    """Whose sizes these two are, where all of them are of one owner: wherever they are divided, so is the quotient."""
    syms = a.syms | b.syms
    owners = {s.owner for s in syms}
    return owners.pop() if len(owners) == 1 and not any(s.flexible for s in syms) else ""


def cancelled(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """Two dims without the factors they share, where both are products."""
    if len(a.terms) != 1 or len(b.terms) != 1:
        return a, b
    (m, c), (n, d) = a.terms[0], b.terms[0]
    common: list[Sym] = []
    rest = list(n)
    for s in m:
        if s in rest:
            rest.remove(s)
            common.append(s)
    shared = Dim({tuple(common): gcd(c, d)})
    return a.divide(shared) or a, b.divide(shared) or b


def divides_by_name(whole: Dim, by: Dim, floor: Floor, a: Dim, b: Dim) -> bool:
    """Whether one of two sizes is this quotient, and the other what it would be if sizes of one name were one size.

    ``table.view(n, 1, -1, 1)`` of a table ``(n, n)``: the ``n`` of the input is meant to be that of the constructor.
    """
    for quotient, other in ((a, b), (b, a)):
        if floor.quotient == quotient and other.sym is not None and other.sym.name:
            named: dict[str, Sym] = {}
            syms = sorted((whole * by * other).syms, key=lambda s: s.uid)
            one = {s: Dim.of(named.setdefault(s.name, s)) for s in syms if s.name}
            if whole.substitute(one).divide(by.substitute(one)) == other.substitute(one):
                return True
    return False


def as_operand(text: str) -> str:
    return f"({text})" if any(c in text for c in " *") else text


def _restored(product: Dim, split: Sequence[tuple[Sym, Dim]]) -> Dim:
    """A product with the sizes that a floor division split whole again; split: each of them, and what it became."""
    for _ in range(4):
        for whole, parts in split:
            if len(parts.terms) == 1 and parts.terms[0][0]:
                rest = product.divide(parts)
                if rest is not None:
                    product = rest * Dim.of(whole)
                    break
        else:
            break
    return product


def divided(dim: Dim, floors: Floors) -> Dim:
    """A size made of the quotients that were taken of it, also where another branch took them.

    Each quotient is put in once: one that was bound to what it divides would grow for ever.
    """
    for floor in floors.values():
        if floor.of is not None and not floor.of.flexible and floor.of in dim.syms:
            dim = dim.substitute({floor.of: floor.size})
    return dim


def may_be_rounded(difference: Dim, a: Dim, b: Dim, floors: Floors) -> bool:
    """Whether two sizes differ by no more than a division by a number leaves: ``2 * (n // 2) + 1`` is an odd n."""
    if difference.const is None:
        return False
    return any(
        divisor.const is not None
        and abs(difference.const) < divisor.const
        and not floor.quotient.syms.isdisjoint(a.syms | b.syms)
        for (_, divisor), floor in floors.items()
    )


def may_be_one(ratio: Dim, floors: Floors) -> bool:
    """Whether a ratio is what is left of a width by the heads and the width of one: mostly nothing but 1."""
    return any(len(b.syms) > 1 and not f.quotient.syms.isdisjoint(ratio.syms) for (_, b), f in floors.items())


def readable(text: str) -> str:
    """A size as it is told in a shape: one that is a nest of quotients tells nobody anything."""
    return text if text.count("//") < 3 else "?"


@dataclass(frozen=True, slots=True)
class Spelled:
    """How sizes are written that quotients were taken of.

    split: each size that a floor division split, and what it became. texts: what a quotient was written as.
    """

    split: tuple[tuple[Sym, Dim], ...]
    texts: Mapping[Dim, str]

    @staticmethod
    def of(floors: Floors, known: Mapping[Sym, Dim], resolve: Callable[[Dim], Dim]) -> Spelled:
        """With all that is known of the quotients."""
        texts: dict[Dim, str] = {}
        for floor in floors.values():
            texts.setdefault(resolve(floor.quotient), floor.text)
        split = [(f.of, resolve(f.size)) for f in floors.values() if f.of is not None and f.of in known]
        return Spelled(tuple(split), texts)

    def text(self, dim: Dim) -> str:
        """A size as the author would write it: a product that a floor division split is put together again."""
        whole = ZERO
        for monomial, coefficient in dim.terms:
            whole = whole + _restored(Dim({monomial: coefficient}), self.split)
        text = self.texts.get(dim) if whole == dim and dim.sym is None else None
        return str(whole) if text is None else text
