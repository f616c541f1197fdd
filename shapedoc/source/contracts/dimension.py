"""The text of one size, or of a list of sizes, to expressions.

::

    dim     = expr ["=" expr] | expr "(=" expr ")" | "..." | "*" | "_" | "?" | "-1"
    expr    = term {("+" | "-") term}
    term    = factor {("*" | "x" | "/" | "//") factor}
    factor  = number [name] | words | call | "(" expr ")", each with "^ number" or "** number"

Several words make one name (``enc hid dim``), a number before a name a product (``2H``).
"""

from __future__ import annotations

import re
from dataclasses import replace

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

__all__ = ["parse_dim", "parse_dims", "plain", "split_commas"]

_TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<bad>\d+\.\d*|\.\d+|\d+[eE][-+]\d+|0[xX][0-9a-fA-F]+|0\d+)"
    r"|(?P<rest>\.\.\.|\u2026)"
    r"|(?P<number>\d+)"
    r"|(?P<word>#?[A-Za-z_\u0370-\u03ff][\w.\u0370-\u03ff]*'*)"
    r"|(?P<op>\*\*|//|[-+*/^\u00d7\u00b7()=:?,\[\]])"
    r")"
)
_MULTIPLY = frozenset(("*", "\u00d7", "\u00b7", "x", "X"))
_DIVIDE = frozenset(("/", "//"))
# Full-width brackets, commas, colons and equals signs, and the primes, each for one ASCII character.
_PLAIN = str.maketrans("\uff08\uff09\uff0c\u3001\uff1a\uff1d\u2019\u2032\u2013", "(),,:=''-")
_MAX_WORDS = 5
_MAX_LENGTH = 80

# (kind, text, start, end)
_Token = tuple[str, str, int, int]


class _NotASize(Exception):
    pass


def parse_dim(text: str) -> DimExpr | None:
    """The size that `text` states, or None where it is none."""
    text = plain(text).strip()
    if not text or len(text) > _MAX_LENGTH:
        return None
    if text in ("...", "\u2026", "*"):
        return Rest()
    if text in ("_", "?", "-1"):
        return Anonymous(text)
    if text[0] == "*" and text[1:].isidentifier():
        return Rest(text[1:])
    try:
        return _Parser(text).dim()
    except (_NotASize, RecursionError):
        return None


def parse_dims(text: str) -> tuple[DimExpr, ...] | None:
    """The sizes of a list with commas, brackets left out; None where one of them is none, or two are runs.

    A comma at the end is allowed; an empty list is ``()``.
    """
    parts = split_commas(plain(text))
    if parts and not parts[-1].strip():
        parts.pop()
    if len(parts) > 8:
        return None
    dims: list[DimExpr] = []
    for part in parts:
        dim = parse_dim(part)
        if dim is None:
            return None
        dims.append(dim)
    if sum(isinstance(d, Rest) for d in dims) > 1:
        return None
    return _counted_through(dims)


# ``d1``, ``d_1``: the first of several that are counted; ``dM``, ``d_k``, ``d4``: the last.
_FIRST = re.compile(r"(?P<stem>[A-Za-z]+_?)1")


def _counted_through(dims: list[DimExpr]) -> tuple[DimExpr, ...]:
    """``N, d1, ..., dM`` as ``N, ...``: as many axes as somebody counts, of which there may be one alone."""
    place = next((i for i, d in enumerate(dims) if isinstance(d, Rest)), 0)
    if not 0 < place < len(dims) - 1:
        return tuple(dims)
    first, last = dims[place - 1], dims[place + 1]
    named = _FIRST.fullmatch(str(first))
    if named is None or not re.fullmatch(named["stem"] + r"[A-Za-z0-9]{1,2}", str(last)):
        return tuple(dims)
    return (*dims[: place - 1], Rest(), *dims[place + 2 :])


def plain(text: str) -> str:
    """`text` with ASCII brackets, commas and primes for their kin, every character in its place."""
    return text if text.isascii() else text.translate(_PLAIN)


def split_commas(text: str) -> list[str]:
    """`text` cut at the commas that stand in no bracket."""
    parts: list[str] = []
    depth = start = 0
    for i, c in enumerate(text):
        if c in "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
    parts.append(text[start:])
    return parts


class _Parser:
    """Recursive descent over the tokens of one size."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def expect(self, text: str) -> None:
        if self.peek() != text:
            raise _NotASize
        self.at += 1

    def dim(self) -> DimExpr:
        dim = self.expr()
        if self.value_follows():
            self.in_brackets()
        if self.peek() == "=" or (self.peek() == ":" and isinstance(dim, Named)):
            self.at += 1
            while self.peek() == "=":
                self.at += 1
            value = self.expr()
            dim = replace(dim, equals=value) if isinstance(dim, Named) else dim
        if self.at < len(self.tokens):
            raise _NotASize
        return dim

    def value_follows(self) -> bool:
        """Whether ``(=1)`` or ``(1)`` stands here."""
        ahead = [t[1] for t in self.tokens[self.at : self.at + 3]]
        return ahead[:2] == ["(", "="] or (
            len(ahead) == 3 and ahead[0] == "(" and ahead[1].isdigit() and ahead[2] == ")"
        )

    def in_brackets(self) -> DimExpr:
        self.expect("(")
        while self.peek() == "=":
            self.at += 1
        value = self.expr()
        self.expect(")")
        return value

    def expr(self) -> DimExpr:
        dim = self.term()
        while self.peek() in ("+", "-"):
            plus = self.peek() == "+"
            self.at += 1
            right = self.term()
            if not plus:
                dim = Difference(dim, right)
            elif isinstance(dim, Sum):
                dim = Sum((*dim.terms, right))
            else:
                dim = Sum((dim, right))
        return dim

    def term(self) -> DimExpr:
        return self.product(self.factor())

    def product(self, dim: DimExpr) -> DimExpr:
        while self.peek() in _MULTIPLY or self.peek() in _DIVIDE:
            slash = self.peek()
            multiply = slash in _MULTIPLY
            self.at += 1
            right = self.factor()
            if not multiply and slash == "/" and isinstance(dim, Named) and isinstance(right, Named):
                dim = Anonymous(f"{dim}/{right}")  # one or the other, or a quotient
            elif not multiply:
                dim = Quotient(dim, right)
            elif isinstance(dim, Product):
                dim = Product((*dim.factors, right))
            else:
                dim = Product((dim, right))
        return dim

    def factor(self) -> DimExpr:
        dim = self.atom()
        while self.peek() in ("^", "**"):
            self.at += 1
            if self.kind() != "number":
                raise _NotASize
            power = int(self.peek())
            self.at += 1
            if not 2 <= power <= 4:
                raise _NotASize
            dim = Product((dim,) * power)
        return dim

    def atom(self) -> DimExpr:
        kind, text, _, end = self.tokens[self.at] if self.at < len(self.tokens) else ("", "", 0, 0)
        if kind == "number":
            self.at += 1
            return self.after_number(int(text), end)
        if kind == "word":
            return self.words()
        if text == "(":
            self.at += 1
            dim = self.expr()
            self.expect(")")
            return dim
        raise _NotASize

    def after_number(self, value: int, end: int) -> DimExpr:
        """``2H`` and ``2(h + d)`` are products; of ``2 heads`` only the place is known."""
        if len(str(value)) > 9:
            raise _NotASize
        if self.kind() == "word" and not self.is_times():
            start = self.tokens[self.at][2]
            inner = self.words()
            return Product((Number(value), inner)) if start == end else Anonymous(f"{value} {inner}")
        return Number(value)

    def is_times(self) -> bool:
        """Whether the word here is a multiplication sign: an ``x`` with a factor on either side."""
        if self.peek() not in ("x", "X") or self.at == 0 or self.at + 1 >= len(self.tokens):
            return False
        before, after = self.tokens[self.at - 1], self.tokens[self.at + 1]
        return (before[0] in ("word", "number") or before[1] == ")") and (
            after[0] in ("word", "number") or after[1] == "("
        )

    def words(self) -> DimExpr:
        words: list[str] = []
        first = self.tokens[self.at][2]
        while self.kind() == "word" and not (words and self.is_times()):
            word = self.peek()
            if word.endswith("."):
                raise _NotASize
            words.append(word)
            self.at += 1
            if word == "or" and self.kind() == "number":
                words.append(self.peek())
                self.at += 1
            if self.hyphen():
                words[-1] += "-" + self.tokens[self.at + 1][1]
                self.at += 2
        glued = self.peek() in ("(", "[") and self.tokens[self.at][2] == self.tokens[self.at - 1][3]
        if glued and len(words) == 1 and not self.value_follows():
            return self.call(first)
        if len(words) > _MAX_WORDS:
            raise _NotASize
        if "or" in words[1:]:
            return Anonymous(" ".join(words))
        name = " ".join(words).lstrip("#")  # ``#batch`` is as many as there are
        return Named(name, self.in_brackets() if self.value_follows() else None)

    def hyphen(self) -> bool:
        """Whether the next two tokens go on with a word, as in ``hidden-dim``; ``T-1`` and ``L-K`` are differences."""
        if self.peek() != "-" or self.at + 1 >= len(self.tokens):
            return False
        before, sign, after = self.tokens[self.at - 1 : self.at + 2]
        glued = before[3] == sign[2] and sign[3] == after[2]
        plain = all(len(t[1]) > 2 and t[1].isalpha() and t[1].islower() for t in (before, after))
        return glued and plain

    def call(self, first: int) -> DimExpr:
        """``max(lengths)``, ``x.size(0)``, ``x.shape[1]``: a size, but of no name."""
        depth = 0
        while self.at < len(self.tokens):
            text = self.peek()
            self.at += 1
            if text in ("(", "["):
                depth += 1
            elif text in (")", "]"):
                depth -= 1
                if depth == 0 and self.peek() not in ("[", "("):
                    return Anonymous(self.text[first : self.tokens[self.at - 1][3]])
        raise _NotASize


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if text[at:].isspace():
                break
            raise _NotASize
        kind = match.lastgroup or ""
        if kind in ("bad", "rest"):
            raise _NotASize
        found.append((kind, match.group(kind), match.start(kind), match.end(kind)))
        at = match.end()
    return found
