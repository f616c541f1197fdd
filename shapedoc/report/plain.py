"""Text without characters that a log, an XML document or a page must not hold."""

from __future__ import annotations

import unicodedata

__all__ = ["one_line", "plain"]

_NON_CHARACTERS = frozenset("\ufffe\uffff")


def plain(text: str) -> str:
    r"""Return `text` with ``\n`` at the end of every line, and without control characters but tabs.

    What is left is what XML 1.0 allows; halves of surrogate pairs, which no encoding takes, become ``\ufffd``.
    """
    ends = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(_kept(character) for character in ends)


def one_line(text: str) -> str:
    """Return `text` with every run of white space as one space."""
    return " ".join(plain(text).split())


def _kept(character: str) -> str:
    if character in "\n\t":
        return character
    match unicodedata.category(character):
        case "Cc":
            return ""
        case "Cs":
            return "\ufffd"
        case _:
            return "" if character in _NON_CHARACTERS else character
