"""``ast`` to ir: the fast lowering, by which every file is screened."""

from __future__ import annotations

from shapedoc.source import ir
from shapedoc.source.comments import find_comments
from shapedoc.source.lower_ast_statements import Statements
from shapedoc.source.parse import TooDeep, normalise, parse

__all__ = ["lower"]


def lower(text: str) -> ir.Module:
    """The ir of a text.

    Spans are ``ast``'s, in characters. A byte order mark is outside the first line; line ends may be of any kind.
    SourceError: the text does not parse. TooDeep: it is nested beyond the recursion limit.
    """
    text = normalise(text)
    tree = parse(text)
    try:
        statements = Statements(text.split("\n"))
        body = statements.block(tree.body)
    except RecursionError:
        raise TooDeep from None
    return ir.Module(body, statements.docstring(tree.body), find_comments(text))
