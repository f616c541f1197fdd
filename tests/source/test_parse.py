"""What parses: every Python here reads what a later one does of handlers, and all else is as `ast` says."""

from __future__ import annotations

import ast

import pytest

from shapedoc.source.parse import SourceError, parse
from tests.source.test_lowerings import agree

UNBRACKETED = """\
try:
    f()
except a.Timeout , OSError,KeyError:  # several
    x = "except A, B:"
\x0c
try:
    g()
except* A, B: y = 2
"""


def test_several_kinds_of_exceptions_need_no_brackets() -> None:
    tree = parse(UNBRACKETED)
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    kinds = [ast.unparse(h.type) if h.type is not None else "" for h in handlers]
    assert kinds == ["(a.Timeout, OSError, KeyError)", "(A, B)"]
    first = handlers[0].type
    assert first is not None
    assert (first.lineno, first.col_offset, first.end_col_offset) == (3, 7, 35)


def test_both_lowerings_agree_on_them() -> None:
    agree(UNBRACKETED)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("try:\n    print 'a'\nexcept A, e:\n    pass\n", 2),
        ("try:\n    pass\nexcept A, B as e:\n    pass\n", 3),
        ("except A, B:\n    pass\n", 1),
        ("try:\n    pass\nexcept A, B:\n    pass\nx =\n", 5),
    ],
)
def test_what_no_python_reads_is_broken_where_it_is(text: str, line: int) -> None:
    with pytest.raises(SourceError) as caught:
        parse(text)
    assert caught.value.line == line
