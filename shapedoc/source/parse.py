"""Text to ``ast``, with one kind of error for everything that stops a file from being analysed.

``ast`` decides which files parse: what the running Python cannot read is a broken file, whatever libcst says of it.
``except A, B:`` without brackets, which Python 3.14 reads, is read by every Python here.
Source: PEP 758, Allow except and except* expressions without brackets.
"""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache

from shapedoc.core.text import split_lines
from shapedoc.source.columns import to_characters
from shapedoc.source.older import older_python

__all__ = ["OlderPython", "SourceError", "TooDeep", "normalise", "parse"]


class SourceError(Exception):
    """A text that is not Python: what is wrong, and where (line from 1, column from 0 in characters)."""

    def __init__(self, message: str, line: int = 1, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class OlderPython(SourceError):
    """A text that is right for an older Python, and not for this one."""

    def __init__(self, message: str, line: int = 1, column: int = 0, version: str = "Python 2") -> None:
        super().__init__(message, line, column)
        self.version = version


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


@lru_cache(maxsize=1)
def parse(text: str) -> ast.Module:
    """The tree of `text`, never changed; columns are characters. What Python only warns of is no error here.

    SourceError: the running Python does not parse the text. OlderPython: an older one does. TooDeep: its parser
    gave up.
    """
    if "\0" in text:
        raise SourceError("the text holds a null byte", *_place(text, text.find("\0")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = _tree(text)
            if not text.isascii():
                to_characters(tree, normalise(text).split("\n"))
            return tree
        except SyntaxError as error:
            column = max(0, (error.offset or 1) - 1)
            message, line = error.msg or "invalid syntax", max(1, error.lineno or 1)
            if version := older_python(text, _tree):
                raise OlderPython(message, line, column, version) from None
            raise SourceError(message, line, column) from None
        except (RecursionError, MemoryError):
            raise TooDeep from None
        except UnicodeEncodeError as error:
            raise SourceError("the text holds half of a surrogate pair", *_place(text, error.start)) from None


# The kinds of exceptions of a handler, several of them and not in brackets.
_KINDS = re.compile(r"[ \t]*except\*?[ \t]+([\w.]+(?:[ \t]*,[ \t]*[\w.]+)+)[ \t]*:")


def _tree(text: str) -> ast.Module:
    """What Python makes of a text; raises what it raises."""
    handlers: set[int] = set()
    lines: list[str] = []
    while True:
        try:
            tree = ast.parse("".join(lines) or text)
            break
        except SyntaxError as error:
            lines = lines or split_lines(text)
            number = error.lineno or 0
            kinds = _KINDS.match(lines[number - 1]) if 0 < number <= len(lines) else None
            if kinds is None or number in handlers:
                raise
            handlers.add(number)
            line, (start, end) = lines[number - 1], kinds.span(1)
            # An operator for the comma, so that every column stays what it was.
            lines[number - 1] = line[:start] + line[start:end].replace(",", "|") + line[end:]
    for node in ast.walk(tree) if handlers else ():
        if isinstance(node, ast.ExceptHandler) and node.lineno in handlers and node.type is not None:
            node.type = ast.copy_location(ast.Tuple(_operands(node.type), ast.Load()), node.type)
    return tree


def _operands(kinds: ast.expr) -> list[ast.expr]:
    """What stands between the operators of ``A | B | C``."""
    return [*_operands(kinds.left), kinds.right] if isinstance(kinds, ast.BinOp) else [kinds]


def _place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of a character."""
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start
