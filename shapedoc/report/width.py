"""Source lines as a terminal shows them: tabs, wide characters, and characters that must not reach it."""

from __future__ import annotations

import unicodedata

__all__ = ["shown", "shown_width"]

_TAB = 4


def shown(line: str) -> str:
    """Return `line` as it may be printed: tabs to the next multiple of four columns, control characters visible."""
    pieces: list[str] = []
    column = 0
    for character in line:
        piece = _piece(character, column)
        pieces.append(piece)
        column += _columns(piece)
    return "".join(pieces)


def shown_width(text: str) -> int:
    """Return how many columns of a terminal `text`, the start of a line, takes once it is shown."""
    return _columns(shown(text))


def _piece(character: str, column: int) -> str:
    if character == "\t":
        return " " * (_TAB - column % _TAB)
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    category = unicodedata.category(character)
    return "\ufffd" if category in ("Cc", "Cs") or character in _DIRECTIONS else character


# Characters that change the direction of what follows can make a line look like another one.
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _columns(text: str) -> int:
    return len(text) if text.isascii() else sum(_character_columns(character) for character in text)


def _character_columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
