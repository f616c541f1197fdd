"""Statements of one block, or two items of a display, that are alike but for one layout step of one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shapedoc.core.span import Span
from shapedoc.core.trace import Trace
from shapedoc.core.written import Assigned, Function

__all__ = ["Untwinned", "untwinned"]

_WORD = re.compile(r"[A-Za-z_]\w*|\d+\.?\d*|\"[^\"]*\"|'[^']*'|\S")
_STEP = re.compile(r"\.(?:unsqueeze|squeeze|permute|transpose|swapaxes)\(\s*-?\d[-\d,\s]*\)")
_STEPS = ("unsqueeze", "squeeze", "permute", "transpose", "swapaxes")
_BINARY = frozenset("+-*/@<>=&|%")
# How many lines may lie between two statements that are read as a pair.
_NEAR = 12
# What attention lays out differently on purpose.
_ROLES = frozenset(
    ("q", "k", "v", "query", "key", "value", "queries", "keys", "values", "qs", "ks", "vs", "que", "val")
)

Names = dict[str, str]


@dataclass(frozen=True, slots=True)
class Untwinned:
    """A statement, what it lacks and where that would stand; the statement that has it; the function they stand in.

    other: "" where it is the other item of the same display.
    """

    function: str
    name: str
    value: Span
    step: str
    base: str
    other: str
    beside: Span


@dataclass(frozen=True, slots=True)
class _Statement:
    name: str
    value: Span
    words: tuple[str, ...]


def untwinned(trace: Trace) -> Iterator[Untwinned]:
    """Every statement that lacks a step of its twin's, as far as what it would be a step of is alike in both."""
    if not any(f".{step}(" in trace.text for step in _STEPS):
        return
    seen: set[Span] = set()
    for function in trace.written.functions:
        assigned = [a for a in function.contents.assigned if a.value.end_line - a.value.line < _NEAR]
        if not any(_STEP.search(trace.source(a.value)) for a in assigned):
            continue
        statements = [_Statement(a.name, a.value, _words(trace.source(a.value))) for a in assigned]
        for whole in statements:
            if (odd := _odd_item(trace, function, statements, whole)) is not None:
                seen.add(whole.value)
                yield odd
        for one, other, at, length in _pairs(statements):
            if other.value in seen or not _in_one_block(trace, one.value, other.value):
                continue
            pair = _Pair(trace, function, statements, one, other, at, length)
            if pair.base and pair.bare and pair.are_twins and not pair.have_other_ranks:
                seen.add(other.value)
                step = "".join(one.words[at : at + length]).replace(",", ", ")
                yield Untwinned(function.name, other.name, other.value, step, "".join(pair.bare), one.name, one.value)


def _odd_item(
    trace: Trace, function: Function, statements: Sequence[_Statement], whole: _Statement
) -> Untwinned | None:
    """One of the two items of a display, ``(f(s[0]).squeeze(0), f(s[1]))``, that lacks a step of the other one's."""
    items = _items(whole.words)
    if len(items) != 2 or not any(step in whole.words for step in _STEPS):
        return None
    for first, second in (items, items[::-1]):
        one, other = (_Statement("", whole.value, item) for item in (first, second))
        for at, length in _steps(first, inside=False):
            pair = _Pair(trace, function, statements, one, other, at, length)
            if len(second) + length == len(first) and pair.base and pair.bare and pair.are_parts:
                step = "".join(first[at : at + length]).replace(",", ", ")
                return Untwinned(function.name, whole.name, whole.value, step, "".join(pair.bare), "", whole.value)
    return None


def _items(words: Sequence[str]) -> list[tuple[str, ...]]:
    """The items of a display that is all of an expression."""
    if not words or words[0] not in ("(", "[") or words[-1] not in (")", "]"):
        return []
    depth = 0
    items: list[list[str]] = [[]]
    for i, word in enumerate(words):
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        if depth == 0 and i < len(words) - 1:
            return []
        if depth == 1 and word == ",":
            items.append([])
        elif 0 < i < len(words) - 1:
            items[-1].append(word)
    return [tuple(item) for item in items if item]


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text))


def _pairs(statements: Sequence[_Statement]) -> Iterator[tuple[_Statement, _Statement, int, int]]:
    """A statement with a step, one that is as long without it, where the step stands, and how many words it has."""
    for one in statements:
        for at, length in _steps(one.words):
            for other in statements:
                apart = abs(one.value.line - other.value.line)
                if other is not one and apart <= _NEAR and len(other.words) + length == len(one.words):
                    yield one, other, at, length


def _steps(words: Sequence[str], *, inside: bool = True) -> Iterator[tuple[int, int]]:
    """The steps inside an expression that stand alone: no other step is before or behind them."""
    for at in range(1, len(words) - 3):
        if words[at] != "." or words[at + 1] not in _STEPS or words[at + 2] != "(":
            continue
        end = next((i for i in range(at + 3, len(words)) if words[i] == ")"), 0)
        if not end or not all(w.isdigit() or w in "-," for w in words[at + 3 : end]) or end == at + 3:
            continue
        behind, before = words[end + 1 : end + 3], _base(words, at)
        if (len(behind) > 1 and behind[1] in _STEPS) or any(w in _STEPS for w in before[-6:]):
            continue
        if not inside or _is_inside(words, at, end):
            yield at, end + 1 - at


def _is_inside(words: Sequence[str], at: int, end: int) -> bool:
    """Whether something is done with what a step makes, in the same statement."""
    if end + 1 < len(words) and words[end + 1] == ".":
        return True
    depth, outside = 0, False
    for i, word in enumerate(words):
        if word in "([{":
            depth += 1
        elif word in ")]}":
            depth -= 1
        elif depth == 0 and word in _BINARY:
            outside = True
        if i == at and depth > 0:
            return True
    return outside


def _base(words: Sequence[str], at: int) -> tuple[str, ...]:
    """What the step at this place is a step of: names, attributes, calls and indices before it."""
    i = at
    while i > 0:
        if words[i - 1] in (")", "]"):
            depth = 0
            for j in range(i - 1, -1, -1):
                depth += (words[j] in (")", "]")) - (words[j] in ("(", "["))
                if depth == 0:
                    break
            i = j
            if i and (words[i - 1].isidentifier() or words[i - 1] in (")", "]")):
                continue
            break
        if not words[i - 1].isidentifier():
            break
        i -= 1
        if i == 0 or words[i - 1] != ".":
            break
        i -= 1
    return tuple(words[i:at])


def _in_one_block(trace: Trace, one: Span, other: Span) -> bool:
    """Whether two statements have one indentation, and no line between them has less."""
    first, last = sorted((one, other))
    lines = trace.text.splitlines()[first.line - 1 : last.line]
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip() and line.strip()[0] not in "#)]}"]
    return bool(margins) and margins[0] == margins[-1] == min(margins)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A statement with a step, and one that is written like it without: the step stands at a word and has a length."""

    trace: Trace
    function: Function
    statements: Sequence[_Statement]
    one: _Statement
    other: _Statement
    at: int
    length: int

    @property
    def base(self) -> tuple[str, ...]:
        """What the step is a step of."""
        return _base(self.one.words, self.at)

    @property
    def bare(self) -> tuple[str, ...]:
        """What stands there without it."""
        return _base(self.other.words, self.at)

    @property
    def are_twins(self) -> bool:
        step, behind = self.one.words[self.at + 1], self.one.words[self.at + self.length :]
        turns = step not in ("squeeze", "unsqueeze")
        if (
            step == "unsqueeze"
            and self.one.words[self.at + 3] == "0"
            and behind[:2] in ((".", "expand"), (".", "repeat"))
        ):
            return False  # an axis in front is there without it
        names = _alike(self.one.words[: self.at] + behind, self.other.words)
        if names is None or names.setdefault(self.one.name, self.other.name) != self.other.name:
            return False
        changed = {a: b for a, b in names.items() if a != b}
        if not changed:
            # Both say the same, of one variable: what they are done to has to stay what it is.
            return not turns and self.base[0] != self.one.name and self.one.words[0] == self.one.name
        if any(_is_role(n) for pair in changed.items() for n in pair) or not all(
            _share_words(a, b) for a, b in changed.items()
        ):
            return False
        if self.base == self.bare:
            return not turns  # one matrix is used both ways
        swaps = {_swap(a, b) for a, b in changed.items()}
        of_base = [(a, changed[a]) for a in self.base if a in changed]
        return len(swaps) == 1 and all(self._are_made_alike(*pair, swaps) for pair in of_base)

    @property
    def are_parts(self) -> bool:
        """Whether two items are made alike of two parts of one thing, or of two things that were made alike."""
        words = self.one.words[: self.at] + self.one.words[self.at + self.length :]
        places = [i for i, (a, b) in enumerate(zip(words, self.other.words, strict=True)) if a != b]
        if not places:
            return False
        if all(words[i].isdigit() and self.other.words[i].isdigit() and words[i - 1] == "[" for i in places):
            return len({(words[i], self.other.words[i]) for i in places}) == 1
        names = _alike(words, self.other.words)
        changed = {a: b for a, b in names.items() if a != b} if names is not None else {}
        if not changed or any(_is_role(n) for pair in changed.items() for n in pair):
            return False
        return all(self._are_made_alike(a, b, {_swap(a, b)}) for a, b in changed.items())

    def _are_made_alike(self, one: str, other: str, swaps: set[tuple[str, str]]) -> bool:
        """Whether two names were given a value by statements that differ in the same part of their names alone."""
        both = rf"\b(?:{one}\b[\w\s,]*\b{other}|{other}\b[\w\s,]*\b{one})\b[\w\s,]*=[^=]"
        if re.search(both, self.trace.text):
            return True  # taken apart together
        first, second = self._made(one, self.one), self._made(other, self.other)
        if not first or len(first) != len(second):
            return False
        names = _alike(first, second)
        return names is not None and {_swap(a, b) for a, b in names.items() if a != b} <= swaps

    def _made(self, name: str, before: _Statement) -> tuple[str, ...]:
        """The words of what a name was last given before a statement, of an attribute anywhere in the class."""
        found = [s.words for s in self.statements if s.name == name and s.value.line < before.value.line]
        if found:
            return found[-1]
        scope: tuple[Assigned, ...] = self.trace.written.scope(self.function.name).assigned
        return next((_words(self.trace.source(a.value)) for a in scope if a.name == f"self.{name}"), ())

    @property
    def have_other_ranks(self) -> bool:
        """Whether what the step is a step of is known to have other axes than what stands there without it."""
        ranks = [self._rank(s, b) for s, b in ((self.one, self.base), (self.other, self.bare))]
        return None not in ranks and ranks[0] != ranks[1]

    def _rank(self, statement: _Statement, base: tuple[str, ...]) -> int | None:
        for event in self.trace.events:
            if event.span.path or not statement.value.contains(event.span):
                continue
            for operand in event.operands:
                if operand.span is None or operand.shape is None or event.sizes is None:
                    continue
                if _words(self.trace.source(operand.span)) == base:
                    return event.sizes.shape(operand.shape).rank
        return None


def _alike(words: Sequence[str], others: Sequence[str]) -> Names | None:
    """Which name stands for which, where two texts differ in names alone; what is called has one name."""
    names: Names = {}
    back: Names = {}
    for i, (a, b) in enumerate(zip(words, others, strict=True)):
        if a == b and not a.isidentifier():
            continue
        quoted = a[0] in "\"'" and b[0] in "\"'"
        if not (quoted or (a.isidentifier() and b.isidentifier())):
            return None
        a, b = (a.strip("\"'"), b.strip("\"'"))
        method = i > 0 and words[i - 1] == "." and i + 1 < len(words) and words[i + 1] == "("
        if a != b and method and (i < 2 or words[i - 2] != "self"):
            return None
        if names.setdefault(a, b) != b or back.setdefault(b, a) != a:
            return None
    return names


def _is_role(name: str) -> bool:
    return not _ROLES.isdisjoint(re.findall(r"[a-z]+|[A-Z][a-z]*", name.lower()))


def _share_words(one: str, other: str) -> bool:
    """Whether two names are one but for a word, or of a letter each."""
    first, second = one.split("_"), other.split("_")
    if len(first) != len(second):
        return False
    differ = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    if len(differ) != 1:
        return False
    return len(first) > 1 or len(_swap(one, other)[0]) < len(one) or len(one) == len(other) == 1


def _swap(one: str, other: str) -> tuple[str, str]:
    """What differs between two names: ``("en", "de")`` of ``encoded`` and ``decoded``."""
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    end = next((i for i, (a, b) in enumerate(zip(one[::-1], other[::-1], strict=False)) if a != b), 0)
    return (one[:-end], other[:-end]) if end else (one, other)
