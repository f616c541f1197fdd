"""Whether two sizes are the same number, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from math import gcd

from shapedoc.core.dim import Dim

__all__ = [
    "ALWAYS",
    "UNKNOWN",
    "Kind",
    "Sameness",
    "Strength",
    "called_alike",
    "literal_meets",
    "never_positive",
    "never_zero",
]


class Kind(Enum):
    """Whether two sizes are the same number."""

    ALWAYS = "always"
    NEVER = "never"
    ONLY_IF = "only if"
    UNKNOWN = "unknown"


class Strength(IntEnum):
    """How sure it is that two names are two quantities.

    STRONG: two axes of one tensor, two names of one comment or signature, ``d`` and ``2*d``, a batch and a time axis.
    WEAK: two sizes of one constructor. NONE: names of different functions.
    """

    NONE = 0
    WEAK = 1
    STRONG = 2


@dataclass(frozen=True, slots=True)
class Sameness:
    """The verdict on two sizes; `when` says what ONLY_IF depends on, as ``T_enc == T_dec``."""

    kind: Kind
    strength: Strength = Strength.STRONG
    when: str = ""

    @property
    def ok(self) -> bool:
        """Nothing speaks against it."""
        return self.kind in (Kind.ALWAYS, Kind.UNKNOWN)

    @property
    def wrong(self) -> bool:
        """Certainly different, or the same only by a coincidence of two names that are strongly apart."""
        return self.kind is Kind.NEVER or (self.kind is Kind.ONLY_IF and self.strength is Strength.STRONG)


ALWAYS = Sameness(Kind.ALWAYS)
UNKNOWN = Sameness(Kind.UNKNOWN, Strength.NONE)


def never_zero(difference: Dim) -> bool:
    """Whether no sizes make this zero.

    All terms of one sign; a number left over (``2*d - 5``); more than a number without the sizes being large, as every
    size is at least one (``a + b - 1``).
    """
    if difference.one_signed:
        return True
    left, factor, least, most = 0, 0, 0, 0
    for monomial, coefficient in difference.terms:
        if monomial:
            factor = gcd(factor, coefficient)
            least, most = min(least, coefficient), max(most, coefficient)
        else:
            left = coefficient
    if factor > 1 and left % factor != 0:
        return True
    total = sum(coefficient for _, coefficient in difference.terms)
    return (least == 0 and total > 0) or (most == 0 and total < 0)


def never_positive(dim: Dim) -> bool:
    """Whether no sizes make this a size: ``1 - n // 2`` is what a default of 1 leaves where another number is meant."""
    return all(c < 0 for m, c in dim.terms if m) and sum(c for _, c in dim.terms) <= 0


def literal_meets(difference: Dim) -> bool:
    """Whether a literal of one side stands where the other has names: ``width + 6`` beside ``width + hidden``."""
    literal = [c for m, c in difference.terms if not m]
    return bool(literal) and all((c > 0) != (literal[0] > 0) for m, c in difference.terms if m)


def called_alike(a: Dim, b: Dim) -> bool:
    """Whether two sizes that have one number have one name too: those of two objects of one class."""
    s, t = a.sym, b.sym
    return s is not None and t is not None and bool(s.name) and (s.name, s.owner) == (t.name, t.owner)
