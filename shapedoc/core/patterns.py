"""The little languages of einsum and einops, parsed once to immutable recipes.

`einsum` reads ``"bqd,bkd->bqk"`` (torch and NumPy); `einops` reads the patterns of ``rearrange``, ``reduce`` and
``repeat`` (``"b t (h d) -> b h t d"``), `einops_side` one side of one (``parse_shape``, ``pack``), and
`einops_einsum` those of ``einops.einsum`` (``"b q d, b k d -> b q k"``). All raise `PatternError` on text that the
library would not accept. Sizes are not known here: what an axis name stands for is the caller's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

__all__ = ["ELLIPSIS", "Einops", "Einsum", "PatternError", "Term", "einops", "einops_einsum", "einops_side", "einsum"]

ELLIPSIS = "..."
Operation = Literal["rearrange", "reduce", "repeat"]


class PatternError(ValueError):
    """Text that is no pattern; `reason` says why, in words that stand after "the pattern"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Einsum:
    """inputs: the axis names of each operand, `ELLIPSIS` among them at most once; output: those of the result.

    repeated: names that stand twice in one operand (its diagonal). summed: names that are not in the output.
    implicit: the text had no arrow, so that the output is every name that occurs once, in alphabetical order.
    """

    text: str
    inputs: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]
    implicit: bool = False

    @property
    def repeated(self) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(n for n in names if names.count(n) > 1) for names in self.inputs)

    @property
    def summed(self) -> tuple[str, ...]:
        """In the order in which they first appear."""
        names = dict.fromkeys(n for side in self.inputs for n in side)
        return tuple(n for n in names if n not in self.output and n != ELLIPSIS)


@dataclass(frozen=True, slots=True)
class Term:
    """One axis of a tensor in an einops pattern: ``b``, ``(h d)``, ``1``, ``()`` or ``...``.

    names: the axes it is composed of, outermost first; a number is an axis of that size without a name; ``1`` and
    ``()`` have none.
    """

    names: tuple[str, ...]
    grouped: bool = False

    @property
    def is_ellipsis(self) -> bool:
        """Whether it stands for any number of axes of the tensor."""
        return self.names == (ELLIPSIS,) and not self.grouped

    @property
    def is_one(self) -> bool:
        """Whether it is an axis of size 1."""
        return not self.names


@dataclass(frozen=True, slots=True)
class Einops:
    """A pattern of rearrange, reduce or repeat."""

    text: str
    left: tuple[Term, ...]
    right: tuple[Term, ...]

    @property
    def left_names(self) -> tuple[str, ...]:
        """Every elementary axis on the left, in order, numbers and the ellipsis included."""
        return tuple(n for term in self.left for n in term.names)

    @property
    def right_names(self) -> tuple[str, ...]:
        """Every elementary axis on the right, in order."""
        return tuple(n for term in self.right for n in term.names)


@lru_cache(maxsize=512)
def einsum(text: str) -> Einsum:
    """Read an einsum equation of torch or NumPy: one letter an axis, blanks without meaning."""
    left, arrow, right = text.replace(" ", "").partition("->")
    inputs = tuple(_letters(part) for part in left.split(","))
    if arrow:
        output = _letters(right)
        _once(output, "the result")
    else:
        names = [n for part in inputs for n in part]
        single = sorted(n for n in set(names) if names.count(n) == 1 and n != ELLIPSIS)
        output = ((ELLIPSIS,) if ELLIPSIS in names else ()) + tuple(single)
    known = {n for part in inputs for n in part}
    for name in output:
        # An ellipsis that only the result has stands for no axis.
        if name not in known and name != ELLIPSIS:
            raise PatternError(f"has `{name}` in its result and in no operand")
    return Einsum(text, inputs, output, not arrow)


def _letters(part: str) -> tuple[str, ...]:
    before, dots, after = part.partition(ELLIPSIS)
    names = [*before, *([ELLIPSIS] if dots else []), *after]
    for name in names:
        if name != ELLIPSIS and not (name.isascii() and name.isalpha()):
            raise PatternError(f"has `{name}`, which is no letter")
    return tuple(names)


@lru_cache(maxsize=512)
def einops(text: str, operation: Operation) -> Einops:
    """Read a pattern of `operation`; that every new axis of a ``repeat`` has a size is left to the caller."""
    left, arrow, right = text.partition("->")
    if not arrow or "->" in right:
        raise PatternError("needs one `->`")
    pattern = Einops(text, einops_side(left), einops_side(right))
    if any(t.grouped and ELLIPSIS in t.names for t in pattern.left):
        raise PatternError("has an ellipsis in parentheses on its left side")
    ours, theirs = set(pattern.left_names), set(pattern.right_names)
    numbers = [n for n in (*pattern.left_names, *pattern.right_names) if n.isdecimal()]
    missing = ours - theirs
    new = theirs - ours
    match operation:
        case "rearrange":
            if numbers:
                raise PatternError("has a number other than 1")
            if missing or new:
                raise PatternError(f"has {_listed(missing | new)} on one side only")
        case "repeat":
            if missing or any(n.isdecimal() for n in ours):
                raise PatternError(f"has {_listed(missing)} on its left side only")
            if ELLIPSIS in new:
                raise PatternError("has an ellipsis on its right side only")
        case "reduce":
            if new or any(n.isdecimal() for n in theirs):
                raise PatternError(f"has {_listed(new)} on its right side only")
    return pattern


@lru_cache(maxsize=512)
def einops_side(text: str, *, star: bool = False) -> tuple[Term, ...]:
    """Read one side of an einops pattern. star: ``*`` stands for any number of axes, as in ``pack``."""
    spaced = text.replace("(", " ( ").replace(")", " ) ")
    terms: list[Term] = []
    group: list[str] | None = None
    for word in spaced.split():
        if word == "(":
            if group is not None:
                raise PatternError("has parentheses in parentheses")
            group = []
        elif word == ")":
            if group is None:
                raise PatternError("closes a parenthesis that is not open")
            terms.append(Term(tuple(group), grouped=True))
            group = None
        elif word == "1":
            if group is None:
                terms.append(Term(()))
        else:
            _check_name(word, star)
            if group is None:
                terms.append(Term((word,)))
            else:
                group.append(word)
    if group is not None:
        raise PatternError("leaves a parenthesis open")
    _once([n for t in terms for n in t.names if n != "_" and not n.isdecimal()], "one side")
    return tuple(terms)


def _check_name(word: str, star: bool) -> None:
    if word in (ELLIPSIS, "_") or (star and word == "*") or (word.isdecimal() and int(word) > 1):
        return
    if not word.isidentifier() or word.startswith("_") or word.endswith("_"):
        raise PatternError(f"has `{word}`, which is no axis name")


def _once(names: tuple[str, ...] | list[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise PatternError(f"has `{name}` twice in {where}")


def _listed(names: set[str]) -> str:
    return ", ".join(f"`{n}`" for n in sorted(names)) or "a number"


@lru_cache(maxsize=512)
def einops_einsum(text: str) -> Einsum:
    """Read a pattern of ``einops.einsum``: axis names of several letters, blanks between them, the arrow needed."""
    left, arrow, right = text.partition("->")
    if not arrow or "->" in right:
        raise PatternError("needs one `->`")
    inputs = tuple(_words(part) for part in left.split(","))
    output = _words(right)
    _once(output, "the result")
    known = {n for part in inputs for n in part}
    for name in output:
        if name not in known:
            raise PatternError(f"has `{name}` in its result and in no operand")
    return Einsum(text, inputs, output)


def _words(part: str) -> tuple[str, ...]:
    if any(c in part for c in "()"):
        raise PatternError("has parentheses, which einsum does not take")
    words = tuple(part.split())
    for word in words:
        if word.isdecimal():
            raise PatternError("has a number, which einsum does not take")
        _check_name(word, star=False)
    return words
