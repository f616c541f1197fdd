"""Where the code of a notebook stands in its JSON, and how it is changed there without touching anything else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["CodeLiteral", "Replacement", "code_literals", "rewritten"]

_SPACE = re.compile(r"[ \t\r\n]*")
_PIECE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
_ESCAPED = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")
_DECODER = json.JSONDecoder()

Replacement = tuple[int, int, str]
"""Characters of a cell's source, from and until, and what is to stand there."""


@dataclass(frozen=True, slots=True)
class CodeLiteral:
    """The source of a code cell as it is written: offsets of the value, and of each string in it (quotes excluded)."""

    start: int
    end: int
    strings: tuple[tuple[int, int], ...]
    listed: bool


def code_literals(text: str) -> dict[int, CodeLiteral]:
    """By number among all cells, from 1, where the sources of code cells stand in `text`, which is valid JSON."""
    found: dict[int, CodeLiteral] = {}
    for number, cell in enumerate(_cells(text), 1):
        parts = dict(_members(text, cell))
        kind = parts.get("cell_type")
        place = parts.get("source", parts.get("input"))
        if kind is not None and place is not None and _value(text, kind) == "code":
            found[number] = _literal(text, place)
    return found


def rewritten(text: str, changes: Mapping[int, Sequence[Replacement]]) -> str:
    """`text` with the sources of cells changed, by the cell's number; the replacements of a cell do not overlap.

    Strings that no replacement touches stay as they are written, escapes included, and so does all the rest.
    """
    ascii_only = text.isascii() and _ESCAPED.search(text) is not None
    literals = code_literals(text)
    for number in sorted(changes, reverse=True):
        literal = literals[number]
        written = _Written(text, literal)
        for start, end, replacement in sorted(changes[number], reverse=True):
            written.replace(start, end, json.dumps(replacement, ensure_ascii=ascii_only)[1:-1])
        text = text[: literal.start] + written.value() + text[literal.end :]
    return text


class _Written:
    """One source value: its strings as pieces, one for each character, and what stands before each string."""

    def __init__(self, text: str, literal: CodeLiteral) -> None:
        self.listed = literal.listed
        self.strings = [_PIECE.findall(text[start:end]) for start, end in literal.strings]
        self.before: list[str] = []
        position = literal.start
        for start, end in literal.strings:
            self.before.append(text[position : start - 1])
            position = end + 1
        self.after = text[position : literal.end]
        self.between = self._between()

    def _between(self) -> str:
        """What stands between two strings of the list: as in the list itself, or else on lines of their own."""
        if len(self.before) > 1:
            return self.before[1]
        space = self.before[0][1:] if self.before else ""
        return f",{space or ' '}"

    def replace(self, start: int, end: int, escaped: str) -> None:
        """Put `escaped` in the place of the characters from `start` until `end`."""
        if not self.strings:
            self.strings, self.before = [[]], [self.after[:-1] if self.listed else self.after]
            self.after = self.after[-1:] if self.listed else ""
        first, inside_first = self._find(start)
        last, inside_last = (first, inside_first) if start == end else self._find(end, ending=True)
        pieces = [
            *self.strings[first][:inside_first],
            *_PIECE.findall(escaped),
            *self.strings[last][inside_last:],
        ]
        if self.listed:
            while pieces and not _is_break(pieces[-1]) and last + 1 < len(self.strings):
                last += 1
                pieces += self.strings[last]
        lines = _lines(pieces) if self.listed else [pieces]
        before = [self.before[first], *[self.between] * (len(lines) - 1)][: len(lines)]
        if not lines and first == 0 and last + 1 < len(self.strings):
            self.before[last + 1] = self.before[0]
        self.strings[first : last + 1] = lines
        self.before[first : last + 1] = before

    def _find(self, offset: int, *, ending: bool = False) -> tuple[int, int]:
        """The string that holds the character at `offset`, or the one before it with `ending`; and where in it."""
        for number, pieces in enumerate(self.strings):
            if offset < len(pieces) or (offset == len(pieces) and (ending or number == len(self.strings) - 1)):
                return number, offset
            offset -= len(pieces)
        raise IndexError("a place after the end of the cell")

    def value(self) -> str:
        """The value as JSON."""
        if self.listed and not self.strings:
            return "[]"
        return (
            "".join(f'{before}"{"".join(pieces)}"' for before, pieces in zip(self.before, self.strings, strict=True))
            + self.after
        )


def _lines(pieces: Sequence[str]) -> list[list[str]]:
    lines: list[list[str]] = []
    for number, piece in enumerate(pieces):
        if number == 0 or _is_break(pieces[number - 1]):
            lines.append([])
        lines[-1].append(piece)
    return lines


def _is_break(piece: str) -> bool:
    return piece in ("\\n", "\\u000a", "\\u000A")


def _cells(text: str) -> Iterator[tuple[int, int]]:
    """The cells of a notebook: ``cells`` (nbformat 4), or those of every worksheet (nbformat 3)."""
    top = dict(_members(text, (_skip(text, 0), len(text))))
    if "cells" in top:
        yield from _elements(text, top["cells"])
        return
    for sheet in _elements(text, top["worksheets"]):
        members = dict(_members(text, sheet))
        if "cells" in members:
            yield from _elements(text, members["cells"])


def _literal(text: str, place: tuple[int, int]) -> CodeLiteral:
    start, end = place
    if text[start] == '"':
        return CodeLiteral(start, end, ((start + 1, end - 1),), listed=False)
    strings = tuple((first + 1, last - 1) for first, last in _elements(text, place))
    return CodeLiteral(start, end, strings, listed=True)


def _members(text: str, place: tuple[int, int]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The keys of the object at `place` and where their values stand."""
    position = _skip(text, place[0] + 1)
    while text[position] != "}":
        key, position = _DECODER.raw_decode(text, position)
        start = _skip(text, _skip(text, position) + 1)
        end = _DECODER.raw_decode(text, start)[1]
        yield key, (start, end)
        position = _next(text, end)


def _elements(text: str, place: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Where the elements of the array at `place` stand."""
    position = _skip(text, place[0] + 1)
    while text[position] != "]":
        end = _DECODER.raw_decode(text, position)[1]
        yield position, end
        position = _next(text, end)


def _value(text: str, place: tuple[int, int]) -> object:
    value: object = _DECODER.raw_decode(text, place[0])[0]
    return value


def _next(text: str, end: int) -> int:
    """Where the next element begins, or the closing bracket stands."""
    position = _skip(text, end)
    return _skip(text, position + 1) if text[position] == "," else position


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position
