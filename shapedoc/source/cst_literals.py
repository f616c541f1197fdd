"""The values of literals from their text in libcst."""

from __future__ import annotations

import ast
import unicodedata

import libcst as cst

from shapedoc.source.parse import SourceError

__all__ = ["identifier", "literal_value", "string_parts"]

_Part = cst.SimpleString | cst.FormattedString | cst.TemplatedString


def identifier(text: str) -> str:
    """An identifier as Python compares it (NFKC)."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def string_parts(node: cst.BaseExpression) -> list[_Part]:
    """The literals that an implicit concatenation joins, in order."""
    parts: list[_Part] = []
    pending: list[cst.BaseExpression] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, cst.ConcatenatedString):
            pending += [part.right, part.left]
        elif isinstance(part, _Part):
            parts.append(part)
    return parts


def literal_value(node: cst.BaseExpression) -> object:
    """The value of a number or of a string without replacement fields.

    SourceError: Python would not read the literal.
    """
    try:
        match node:
            case cst.Integer():
                return int(node.value.replace("_", ""), 0)
            case cst.Float():
                return float(node.value.replace("_", ""))
            case cst.Imaginary():
                return complex(0.0, float(node.value.replace("_", "")[:-1]))
            case _:
                return _joined([_string(part) for part in string_parts(node) if isinstance(part, cst.SimpleString)])
    except (ValueError, SyntaxError, TypeError):
        raise SourceError("invalid literal") from None


def _string(node: cst.SimpleString) -> str | bytes:
    text = node.value
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    quote = min(index for index in (text.find('"'), text.find("'")) if index >= 0)
    prefix = text[:quote].lower()
    if "b" in prefix or ("\\" in text and "r" not in prefix):
        value = ast.literal_eval(text)
        if isinstance(value, str | bytes):
            return value
        raise ValueError(text)
    width = 3 if text.startswith(('"""', "'''"), quote) and len(text) - quote >= 6 else 1
    return text[quote + width : -width]


def _joined(pieces: list[str | bytes]) -> str | bytes:
    """The pieces of an implicit concatenation as one."""
    if isinstance(pieces[0], bytes):
        return b"".join(piece for piece in pieces if isinstance(piece, bytes))
    return "".join(piece for piece in pieces if isinstance(piece, str))
