"""Where in a line of prose a list stands that may be a shape.

Two kinds: brackets with commas or an ``x`` in them, and chains ``B x T x D``. What stands directly after a word
(``f(a, b)``, ``A[i, j]``), in quotes, before an operator or in brackets that do not match is no shape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from shapedoc.source.contracts.dimension import parse_dim, parse_dims, split_commas
from shapedoc.source.contracts.lexicon import ROLES, SIZES
from shapedoc.source.contracts.stated import DimExpr, Named, Number, Product

__all__ = ["Atom", "find_atoms", "parse_list"]

_OPEN = re.compile(r"[\[(]")
_CLOSING = {"[": "]", "(": ")"}
_TIMES = re.compile(r"\s+[xX]\s+|\s*\u00d7\s*")
_WORD = r"(?:\d+(?![\w.])|\#?[A-Za-z_][\w.]*(?<!\.)'*|\d+[A-Za-z_]\w*|\([^()\[\]]+\))"
_NOUN = r"(?:\s(?:size|len|length|dim|dims|heads|layers|steps|tokens)\b(?!\s*[:=]))?"
_VALUE = r"(?:\s?\(\s*=[^()]*\))?"
_ELEMENT = rf"{_WORD}{_NOUN}(?:\s?[*/]\s?{_WORD}{_NOUN})*{_VALUE}"
_CHAIN = re.compile(
    rf"(?<![\w.*/+\])]){_ELEMENT}(?:(?:\s+[xX]\s+|\s*\u00d7\s*){_ELEMENT})+(?![\w(\[]|\s+[xX]\s|\s*\u00d7)"
)
_TIGHT = re.compile(r"(?<![\w.])(?:\d+|[A-Z][A-Z0-9]?)(?:x(?:\d+|[A-Z][A-Z0-9]?))+(?![\w.])")
_TYPE_BEFORE = re.compile(r"(?:^|[^\w])(?:[\w.]*Tensor|ndarray|np\.array|array)$")
_AFTER_FORMULA = re.compile(r"\s*(?:[+*/^%<>]|==?(?!>)|-\s*\d|-(?=\w)|@)")


@dataclass(slots=True)
class Atom:
    """A list of sizes in a text, from `start` to `end`, brackets included.

    parts: the shapes of a nested display, ``((b, h), (b, h))``; then dims is empty. chain: written with ``x`` or ``*``.
    typed: directly after the name of a tensor type. bracketed: in brackets. comma: ends in one, ``(d,)``.
    round_: in round brackets.
    """

    start: int
    end: int
    dims: tuple[DimExpr, ...]
    parts: tuple[tuple[DimExpr, ...], ...] = ()
    chain: bool = False
    typed: bool = False
    bracketed: bool = True
    comma: bool = False
    round_: bool = False


def find_atoms(text: str) -> list[Atom]:
    """Every list of `text` that may be a shape by its form, in order; none overlap."""
    atoms: list[Atom] = []
    at = 0
    while match := _OPEN.search(text, at):
        start = match.start()
        end = _closing(text, start)
        if end is not None and _holds_chains(text[start + 1 : end - 1]):
            text = text[:start] + " " * (end - start) + text[end:]
        if end is None:
            at = start + 1
            continue
        atom = _bracket(text, start, end)
        if atom is None:
            # A bracket that is no list may be part of a chain, or hold one: `(2 * h) x b`, `(shape: [a, b])`.
            at = start + 1
            continue
        atoms.append(atom)
        at = end
    if " x " in text or " X " in text or "\u00d7" in text:
        _chains(text, _CHAIN, atoms)
    if not atoms or "x" in text:
        _chains(text, _TIGHT, atoms)
    atoms.sort(key=lambda a: a.start)
    return atoms


def parse_list(inner: str) -> tuple[tuple[DimExpr, ...], bool] | None:
    """The sizes in a bracket, and whether they are a chain: ``a, b``, ``a x b``, ``B*T*H``."""
    parts = split_commas(inner)
    if len(parts) == 1:
        chain = _split_times(inner)
        if len(chain) > 1:
            dims = [parse_dim(p) for p in chain]
            good = tuple(d for d in dims if d is not None)
            return (good, True) if len(good) == len(dims) else None
        only = parse_dim(inner)
        if isinstance(only, Product) and len(only.factors) >= 3 and all(_single_letter(f) for f in only.factors):
            return only.factors, True
    listed = parse_dims(inner)
    return None if listed is None else (listed, False)


def _closing(text: str, start: int) -> int | None:
    """Past the bracket that closes the one at `start`; None where another kind closes it or none does."""
    stack: list[str] = []
    for i in range(start, min(len(text), start + 200)):
        c = text[i]
        if c in _CLOSING:
            stack.append(_CLOSING[c])
        elif c in ")]":
            if c != stack.pop():
                return None
            if not stack:
                return i + 1
    return None


def _bracket(text: str, start: int, end: int) -> Atom | None:
    inner = text[start + 1 : end - 1]
    typed = _TYPE_BEFORE.search(text[:start]) is not None
    if not _free_standing(text, start, end, typed=typed):
        return None
    stripped = inner.strip()
    if stripped[:1] in ("(", "["):
        nested = _nested(stripped)
        if nested:
            return Atom(start, end, (), nested)
    read = parse_list(inner)
    if read is None:
        return None
    dims, chain = read
    comma = len(split_commas(inner)) > 1
    if not comma and not chain and (len(dims) != 1 or text[start] != "[") and not typed:
        return None
    if not dims:
        return None
    return Atom(start, end, dims, (), chain, typed, comma=inner.rstrip().endswith(","), round_=text[start] == "(")


def _nested(inner: str) -> tuple[tuple[DimExpr, ...], ...] | None:
    shapes: list[tuple[DimExpr, ...]] = []
    parts = [p.strip() for p in split_commas(inner)]
    for part in parts:
        if part[:1] not in ("(", "[") or _closing(part, 0) != len(part):
            return None
        read = parse_list(part[1:-1])
        if read is None or len(read[0]) < 2:
            return None
        shapes.append(read[0])
    return tuple(shapes) if 2 <= len(shapes) <= 4 else None


def _holds_chains(inner: str) -> bool:
    """``[B x T x d, B x T]``: shapes of several tensors, and no saying which is which."""
    parts = split_commas(inner)
    return len(parts) > 1 and any(len(_split_times(part)) > 2 for part in parts)


def _free_standing(text: str, start: int, end: int, *, typed: bool) -> bool:
    before = text[start - 1] if start else ""
    after = text[end] if end < len(text) else ""
    if ((before.isalnum() and before.isascii()) or before in "_])}'\"\\^$|.@%&~") and before and not typed:
        return False
    if after and (after in "_[({'\"^@\\" or (after.isalnum() and after.isascii())):
        return False
    if after == "." and text[end + 1 : end + 2].isalnum():
        return False
    return _AFTER_FORMULA.match(text, end) is None or _joins(text, end)


def _joins(text: str, end: int) -> bool:
    """Whether the operator after a list leads to another list or an arrow: a product chain."""
    return re.match(r"\s*(?:[*@=\u00b7]|==|-[\w ]*-*>)\s*[\[(]|\s*[-=]+[\w ]*>", text[end:]) is not None


def _chains(text: str, pattern: re.Pattern[str], atoms: list[Atom]) -> None:
    for match in pattern.finditer(text):
        start, end = match.span()
        if any(a.start < end and start < a.end for a in atoms):
            continue
        if pattern is _CHAIN and _AFTER_FORMULA.match(text, end) is not None and not _joins(text, end):
            continue
        pieces = _split_times(match.group()) if pattern is _CHAIN else match.group().split("x")
        start = _words_before(text, start)
        pieces[0] = text[start : match.start()] + pieces[0]
        dims = [parse_dim(p) for p in pieces]
        good = tuple(d for d in dims if d is not None)
        if len(good) < len(dims):
            continue
        good = tuple(part for dim in good for part in _apart(dim))
        if not all(isinstance(d, Number) for d in good) and len(good) <= 6:
            atoms.append(Atom(start, end, good, (), True, False, False))


def _apart(dim: DimExpr) -> tuple[DimExpr, ...]:
    """``B x T * 1``: nobody multiplies by one, so the star is another sign between axes."""
    one = isinstance(dim, Product) and any(isinstance(f, Number) and f.value == 1 for f in dim.factors)
    return dim.factors if isinstance(dim, Product) and one else (dim,)


def _words_before(text: str, start: int) -> int:
    """Where the first size of a chain begins when it has several words: ``batch size x length``."""
    for _ in range(3):
        match = re.search(r"([A-Za-z]+)\s+$", text[:start])
        if match is None or match.group(1).lower() not in (SIZES | ROLES) or match.group(1) in ("x", "X", "of", "size"):
            break
        first = re.match(r"[A-Za-z_]+", text[start:])
        if first is None or len(first.group()) < 2:
            break
        start = match.start(1)
    return start


def _split_times(text: str) -> list[str]:
    """`text` cut at the multiplication signs that stand in no bracket."""
    parts: list[str] = []
    start = 0
    for match in _TIMES.finditer(text):
        head = text[: match.start()]
        if head.count("(") == head.count(")") and match.start() > 0:
            parts.append(text[start : match.start()])
            start = match.end()
    parts.append(text[start:])
    return parts


def _single_letter(dim: DimExpr) -> bool:
    return (
        (isinstance(dim, Number) and dim.value < 10)
        or (isinstance(dim, Named) and dim.equals is None and len(dim.name.rstrip("'")) <= 2 and dim.name[0].isupper())
        or (isinstance(dim, Product) and len(dim.factors) == 2)
    )
