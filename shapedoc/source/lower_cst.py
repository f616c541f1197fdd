"""libcst to ir: the reference lowering, with the nodes that edits are made on.

Importing this module imports libcst, so it is itself imported only where a file must be reported on.

``ast`` decides what parses. What the running Python reads and libcst does not, or does not keep (newer syntax, nesting
that its recursion cannot follow, a form feed before a statement), raises ``SourceError``; such a file is reported
from its ``ast`` analysis. A text that only libcst reads (newer syntax under an older Python) is lowered all the same.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import libcst as cst

from shapedoc.source import ir
from shapedoc.source.comments import find_comments
from shapedoc.source.cst_positions import Positions
from shapedoc.source.lower_cst_statements import Statements, docstring
from shapedoc.source.parse import SourceError, TooDeep, normalise

__all__ = ["Lowered", "lower"]


class Lowered(NamedTuple):
    """A module in both forms.

    expressions and statements lead from a span of the ir to the libcst node that stands there; the parts of f-strings
    have no place of their own and are not among them.
    """

    module: ir.Module
    tree: cst.Module
    expressions: dict[ir.Span4, cst.CSTNode]
    statements: dict[ir.Span4, cst.CSTNode]


def lower(text: str) -> Lowered:
    """The ir and the libcst tree of a text; the ir equals that of ``lower_ast.lower``.

    The tree keeps the text's line ends, unless there are carriage returns alone.
    SourceError: libcst does not parse the text. TooDeep: it is nested beyond the recursion limit.
    """
    plain = normalise(text)
    if text.startswith("\ufeff"):
        text = text[1:]
    if text.count("\r") != text.count("\r\n"):
        text = plain
    try:
        tree = cst.parse_module(text)
        with _room(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            positions = Positions(tree)
            if positions.code != text:
                raise SourceError("libcst does not keep every character of this text")
            statements = Statements(positions)
            body = statements.body(tree.body)
    except cst.ParserSyntaxError as error:
        raise SourceError("libcst does not read this syntax", error.raw_line, error.raw_column) from None
    except RecursionError:
        raise TooDeep from None
    module = ir.Module(body, docstring(body), find_comments(plain))
    return Lowered(module, tree, statements.expressions.anchors, statements.anchors)


@contextmanager
def _room() -> Iterator[None]:
    """A higher recursion limit: libcst nests long sums and joined strings, and takes several calls for each level."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit * 8)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
