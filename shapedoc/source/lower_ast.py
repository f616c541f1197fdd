"""``ast`` to ir: the fast lowering, by which every file is screened."""

from __future__ import annotations

import ast

from shapedoc.source import ir
from shapedoc.source.columns import to_characters
from shapedoc.source.comments import find_comments
from shapedoc.source.lower_ast_statements import Statements
from shapedoc.source.parse import TooDeep, normalise, parse

__all__ = ["lower"]


def lower(text: str, tree: ast.Module | None = None) -> ir.Module:
    """The ir of a text; `tree` is its ``ast`` where the caller has it, and is used up (its columns are rewritten).

    Spans are ``ast``'s, in characters. A byte order mark is outside the first line; line ends may be of any kind.
    SourceError: the text does not parse. TooDeep: it is nested beyond the recursion limit.
    """
    text = normalise(text)
    if tree is None:
        tree = parse(text)
    lines = text.split("\n")
    try:
        if not text.isascii():
            to_characters(tree, lines)
        statements = Statements(lines)
        body = statements.block(tree.body)
    except RecursionError:
        raise TooDeep from None
    return ir.Module(body, statements.docstring(tree.body), find_comments(text))
