"""May this list be a shape? Decided by its words, as strictly as its surroundings leave it open."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, IntEnum

from shapedoc.source.contracts.lexicon import ALIASES, AXES, BATCH, NEVER, PAIRS, ROLES, SIZES, STOP
from shapedoc.source.contracts.stated import (
    Anonymous,
    Difference,
    DimExpr,
    Named,
    Number,
    Product,
    Quotient,
    Rest,
    Sum,
)

__all__ = ["Context", "Tally", "acceptable", "tally"]

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LETTER = re.compile(r"#?[A-Z][A-Za-z]?\d?(?:_[A-Za-z0-9]{1,4})?'?")
_SHORT = re.compile(r"#?[a-z]{1,2}\d?(?:_?[a-z0-9]{1,2})?'?|[\u0370-\u03ff]")
_COUNTED = re.compile(r"(?:n|num|d|dim|len|max)_[a-z]")
_ONE_LETTER = re.compile(r"[A-Z]\d?'?")
_LENGTH = re.compile(r"([a-z]+)L")
_UPPER = re.compile(r"[A-Z]{1,3}\d?'?")


class Context(Enum):
    """What stands around the list."""

    EXPLICIT = "a line that is read whatever its words are"
    SHAPE = "the word shape, a type, or back-quotes before it"
    NAMED = "a name with = or : before it"
    BARE = "nothing else in the comment, or text only after it"
    LIST = "no brackets at all"
    PROSE = "a sentence"


class _Class(IntEnum):
    NEVER = 0
    WEAK = 1
    ROLE = 2
    NEUTRAL = 3
    LETTER = 4
    STRONG = 5


@dataclass(slots=True)
class Tally:
    """How many sizes of each kind there are."""

    rank: int
    never: int = 0
    weak: int = 0
    role: int = 0
    neutral: int = 0
    letter: int = 0
    strong: int = 0
    number: int = 0
    run: int = 0

    @property
    def numeric(self) -> bool:
        """Whether there is nothing but numbers."""
        return self.number + self.run == self.rank

    @property
    def sized(self) -> int:
        """How many are sizes by their own words."""
        return self.letter + self.strong


def tally(dims: tuple[DimExpr, ...]) -> Tally:
    """Count the sizes of a list by kind."""
    count = Tally(len(dims))
    for dim in dims:
        if isinstance(dim, Number):
            count.number += 1
        elif isinstance(dim, Rest) or (isinstance(dim, Anonymous) and dim.text in ("_", "?", "-1")):
            count.run += 1
        else:
            kind = _class(dim)
            match kind:
                case _Class.NEVER:
                    count.never += 1
                case _Class.WEAK:
                    count.weak += 1
                case _Class.ROLE:
                    count.role += 1
                case _Class.NEUTRAL:
                    count.neutral += 1
                case _Class.LETTER:
                    count.letter += 1
                case _Class.STRONG:
                    count.strong += 1
    return count


def acceptable(dims: tuple[DimExpr, ...], context: Context, *, colon: bool = False) -> bool:
    """Whether the list is a shape, all-numeric lists left to the caller (True, when every number is a size).

    colon: a name and a colon stand before it, which say more than ``=``: ``w: (d, k)``.
    """
    if context is Context.EXPLICIT:
        return True
    if any(isinstance(d, Number) and d.value == 0 for d in dims):
        return False
    count = tally(dims)
    if count.never or count.rank > 7 or count.rank == 0:
        return False
    if count.numeric:
        return count.number > 0 and count.rank >= 2
    good = count.sized + count.neutral
    if context is Context.SHAPE:
        return good > 0 and count.weak + count.role <= max(1, good)
    if _tuple_of_values(dims):
        return False
    if context is Context.NAMED:
        plain = colon and count.neutral + count.number + count.run == count.rank and count.neutral > 0
        return count.weak + count.role <= count.sized and (plain or _sizes_enough(dims, count))
    if context is Context.PROSE:
        return (
            not count.weak
            and count.rank >= 2
            and count.sized >= 1
            and count.sized + count.number + count.run + min(count.neutral + count.role, 1) >= count.rank
        )
    if count.weak and count.strong < 2:
        return False
    return count.weak + count.role <= max(count.sized, 1) and count.rank >= 2 and _sizes_enough(dims, count)


def _sizes_enough(dims: tuple[DimExpr, ...], count: Tally) -> bool:
    """Whether there is a size by its words, or a row of letters that begins as shapes begin."""
    if count.strong or count.letter >= 2 or (count.letter and count.number):
        return True
    if count.letter:
        return count.letter + count.neutral + count.run + count.number >= 2
    first = str(dims[0])
    lowered = count.neutral + count.number + count.run
    if lowered < count.rank:
        return False
    return first in BATCH or (count.rank >= 3 and count.neutral >= 2) or isinstance(dims[0], Rest)


def _tuple_of_values(dims: tuple[DimExpr, ...]) -> bool:
    """``(h, c)``, ``(i, j)``, ``(x, y)``, ``(q, k, v)``: tensors or indices."""
    names = [d.name for d in dims if isinstance(d, Named)]
    if any(isinstance(d, Rest) for d in dims) and _enumerated(names):
        return True
    if len(names) != len(dims):
        return False
    letters = [n[0] for n in names if _ONE_LETTER.fullmatch(n)]
    if len(letters) == len(names) and not _are_axes(letters):
        return True
    stems = {re.sub(r"[\d_']+[a-z]?$", "", n) for n in names}
    if stems in ({"height", "width"}, {"Q", "K", "V"}, {"K", "V"}, {"Q", "K"}, {"X", "Y"}):
        return True
    if all(len(s) == 1 for s in stems) and any(stems <= pair for pair in PAIRS):
        return stems not in ({"m", "n"}, {"s", "t"}) or len(names) > 2
    return False


def _are_axes(letters: list[str]) -> bool:
    """Whether capital letters are those that axes have: ``(B, T)``; ``(A, B)`` and ``(P, R)`` are not."""
    usual = sum(c in AXES for c in letters)
    return usual == len(letters) or (len(letters) > 2 and 2 * usual > len(letters) and letters[0] in AXES)


def _enumerated(names: list[str]) -> bool:
    """``hyp1, hyp2, ...``."""
    return len(names) > 1 and all(n[-1].isdigit() for n in names) and len({n.rstrip("0123456789") for n in names}) == 1


def _class(dim: DimExpr) -> _Class:
    match dim:
        case Named(name=name, equals=equals):
            kind = _name_class(name)
            if equals is not None and kind is not _Class.NEVER:
                if _class(equals) is _Class.NEVER:
                    return _Class.NEVER
                return max(kind, _Class.NEUTRAL)
            return kind
        case Number() | Rest():
            return _Class.NEUTRAL
        case Anonymous(text=text):
            words = text.split()
            if len(words) > 1 and "(" not in text:
                kinds = [_name_class(w) for w in words if not w.isdigit() and w != "or"]
                return min(kinds, default=_Class.NEUTRAL)
            return _Class.NEUTRAL
        case Sum(terms=parts) | Product(factors=parts):
            return _compound(parts)
        case Difference(left=left, right=right) | Quotient(left=left, right=right):
            return _compound((left, right))


def _compound(parts: tuple[DimExpr, ...]) -> _Class:
    kinds = [_class(p) for p in parts if not isinstance(p, Number)]
    if _Class.NEVER in kinds:
        return _Class.NEVER
    if not kinds:
        return _Class.NEUTRAL
    if _Class.WEAK in kinds:
        return _Class.WEAK
    return max(_Class.NEUTRAL, max(kinds))


def _name_class(name: str) -> _Class:
    words = name.split()
    if len(words) > 1:
        return _phrase_class(words)
    owner, _, last = name.rpartition(".")
    if owner and owner.split(".")[0] in ("torch", "np", "numpy", "nn", "tf", "F", "jnp"):
        return _Class.NEVER
    lowered = last.lower() if len(last) > 2 else last
    if lowered in STOP or lowered in NEVER or lowered.rstrip("0123456789") in NEVER:
        return _Class.NEVER
    if owner:
        return (
            max(_single(last), _Class.NEUTRAL)
            if owner in ("self", "cfg", "config", "args", "opt", "hparams")
            else (_single(last))
        )
    return _single(last)


def _single(word: str) -> _Class:
    if _UPPER.fullmatch(word):
        # `BN` may be B*N or an abbreviation; it is a size in the company of others.
        return _Class.LETTER if len(word.rstrip("0123456789'")) == 1 else _Class.NEUTRAL
    lowered = word.lower().strip("'#")
    if len(lowered) <= 2 and "_" not in lowered:
        return _Class.STRONG if lowered in ("bs", "bz") else _Class.NEUTRAL
    if lowered in SIZES and lowered not in ROLES:
        return _Class.STRONG
    if lowered in ROLES:
        return _Class.ROLE
    if lowered in ALIASES and (len(lowered) > 3 or "_" in lowered):
        return _Class.STRONG
    parts = {p.lower() for p in _PART.findall(word)}
    if parts & SIZES and not parts <= ROLES and (len(parts) > 1 or "_" in word):
        return _Class.STRONG
    if len(parts) > 1 and parts & SIZES:
        return _Class.STRONG
    if _COUNTED.match(lowered):
        return _Class.STRONG
    if (length := _LENGTH.fullmatch(word)) is not None and length[1] in ROLES:
        return _Class.LETTER  # `sourceL`, `tgtL`
    if len(parts) > 1 and parts <= ROLES:
        return _Class.ROLE
    if _LETTER.fullmatch(word):
        return _Class.LETTER
    if _SHORT.fullmatch(word):
        return _Class.NEUTRAL
    return _Class.WEAK


def _phrase_class(words: list[str]) -> _Class:
    lowered = [w.lower().strip("'#") for w in words]
    if any(w in STOP or w in NEVER - {"mask", "index", "row", "col", "weight"} for w in lowered):
        return _Class.NEVER
    known = [w for w in lowered if w in SIZES or w in ROLES or len(w) <= 2]
    parts = {p for w in words for p in re.split(r"[_-]", w.lower())}
    if len(lowered) - len(known) > 1:
        return _Class.NEVER if not parts & SIZES or len(lowered) > 3 else _Class.WEAK
    return _Class.STRONG if parts & SIZES else _Class.WEAK
