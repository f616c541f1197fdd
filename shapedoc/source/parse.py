"""Text to ``ast``, with one kind of error for everything that stops a file from being analysed.

``ast`` decides which files parse: what the running Python cannot read is a broken file, whatever libcst says of it.
"""

from __future__ import annotations

import ast
import warnings

__all__ = ["SourceError", "TooDeep", "normalise", "parse"]


class SourceError(Exception):
    """A text that is not Python: what is wrong, and where (line from 1, column from 0 in characters)."""

    def __init__(self, message: str, line: int = 1, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class TooDeep(SourceError):
    """A text that may be right but is nested more deeply than the analysis can follow."""

    def __init__(self, line: int = 1) -> None:
        super().__init__("the code is nested too deeply to be analysed", line)


def normalise(text: str) -> str:
    """The text as Python's tokenizer reads it: without a byte order mark, every line end a ``\\n``.

    Lines and columns stay what they were.
    """
    if text.startswith("\ufeff"):
        text = text[1:]
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def parse(text: str) -> ast.Module:
    """The tree of `text`; what Python only warns of (an invalid escape) is no error here.

    SourceError: the running Python does not parse the text. TooDeep: its parser gave up.
    """
    if "\0" in text:
        raise SourceError("the text holds a null byte", *_place(text, text.find("\0")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except SyntaxError as error:
            column = max(0, (error.offset or 1) - 1)
            raise SourceError(error.msg or "invalid syntax", max(1, error.lineno or 1), column) from None
        except (RecursionError, MemoryError):
            raise TooDeep from None
        except UnicodeEncodeError as error:
            raise SourceError("the text holds half of a surrogate pair", *_place(text, error.start)) from None


def _place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of a character."""
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start
