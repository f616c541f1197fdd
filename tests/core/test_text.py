"""Lines as Python counts them."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapedoc.core.text import lines_in_words, split_lines

_SOURCES = st.text(st.sampled_from("a =\n\r\x0b\x0c\x1c\x85\u2028"))


@given(_SOURCES)
def test_nothing_is_lost(text: str) -> None:
    assert "".join(split_lines(text)) == text


@given(
    st.lists(st.sampled_from(["a = 1", "#\x0c", "#\x1c", "#\x85", "#\u2028", ""])),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_lines_are_those_of_the_parser(lines: list[str], end: str) -> None:
    text = end.join([*lines, "z = 1"])
    last = ast.parse(text).body[-1]
    assert split_lines(text)[last.lineno - 1] == "z = 1"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], ""),
        ([7], "line 7"),
        ([9, 7, 9], "line 7 and line 9"),
        ([1, 2, 3, 4], "line 1, line 2, line 3 and line 4"),
        ([1, 2, 3, 4, 5, 6], "line 1, line 2, line 3, line 4 and 2 more"),
    ],
)
def test_lines_in_words(lines: list[int], words: str) -> None:
    assert lines_in_words(lines) == words
