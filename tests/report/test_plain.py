"""Text without what a log or an XML document must not hold."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapedoc.report.plain import one_line, plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("tab\tstays, \x1b[31mred\x1b[0m and \x00\x08\x7f\x85 go", "tab\tstays, [31mred[0m and  go"),
        ("half \ud800 of a pair", "half \ufffd of a pair"),
        ("no \ufffe\uffff characters", "no  characters"),
        ("Größe 注意 😀", "Größe 注意 😀"),
    ],
)
def test_what_is_left(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_one_line() -> None:
    assert one_line("  a\r\n\tb \x00 c\n") == "a b c"


@given(st.text(st.characters(codec=None)))
def test_what_is_left_stands_in_xml_as_it_is(text: str) -> None:
    element = ElementTree.Element("text")
    element.text = plain(text)
    written = ElementTree.tostring(element, encoding="us-ascii")
    assert (ElementTree.fromstring(written).text or "") == plain(text)
    assert plain(plain(text)) == plain(text)
