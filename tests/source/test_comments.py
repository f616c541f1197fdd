"""The comment scan agrees with tokenize."""

from __future__ import annotations

import io
import random
import re
import sysconfig
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shapedoc
from shapedoc.source.comments import find_comments
from shapedoc.source.ir import Comment
from shapedoc.source.parse import SourceError, normalise, parse

STDLIB = Path(sysconfig.get_path("stdlib"))


def by_tokenize(text: str) -> list[tuple[int, int, int, str]]:
    return [
        (token.start[0], token.start[1], token.end[1], token.string[1:].strip())
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    ]


def by_scan(text: str) -> list[tuple[int, int, int, str]]:
    return [(c.span[0], c.span[1], c.span[3], c.text) for c in find_comments(text)]


def texts(text: str) -> list[str]:
    return [comment.text for comment in find_comments(text)]


def compare(paths: list[Path]) -> int:
    compared = 0
    for path in paths:
        try:
            with tokenize.open(path) as opened:
                text = normalise(opened.read())
            parse(text)
        except (SyntaxError, UnicodeDecodeError, SourceError):
            continue
        if by_scan(text) != by_tokenize(text):
            pytest.fail(f"the comments of {path} differ")
        compared += 1
    return compared


def library() -> list[Path]:
    return sorted(path for path in STDLIB.rglob("*.py") if "site-packages" not in path.parts)


def test_the_scan_agrees_with_tokenize_on_a_sample_of_the_standard_library() -> None:
    assert compare(random.Random(21).sample(library(), 80)) > 60


@pytest.mark.full
def test_the_scan_agrees_with_tokenize_on_the_standard_library() -> None:
    assert compare(library()) > 500


def test_span_text_and_own_line() -> None:
    text = "x = 1  #  (B, T) \n    # own\n#"
    assert find_comments(text) == [
        Comment((1, 7, 1, 17), "(B, T)", False),
        Comment((2, 4, 2, 9), "own", True),
        Comment((3, 0, 3, 1), "", True),
    ]


def test_columns_are_characters() -> None:
    assert find_comments("é = '日本'  # 語\n")[0].span == (1, 10, 1, 13)


@pytest.mark.parametrize(
    "text",
    [
        "'#'",
        '"#"',
        "'''\n#\n'''",
        '"""a "# b" \\""" # c"""',
        r"'\'#'",
        r"r'\'#'",
        "'a\\\n#b'",
        "f'{x:#x}'",
        "f'#{x}#'",
        "rb'#'",
        "f\"{x['#']}\"",
        "'' '#'",
        "''''''",
    ],
)
def test_a_hash_in_a_string_is_no_comment(text: str) -> None:
    assert find_comments(text) == []
    assert texts(text + "  # yes") == ["yes"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('f"{a["b"]}"  # yes', ["yes"]),
        ("f'{a['#']}'  # yes", ["yes"]),
        ("f'{x:{y['#']}>#8}'  # yes", ["yes"]),
        ("f'{f'{f'{a}'}'}#'  # yes", ["yes"]),
        ("f'''{\n a  # in\n}#'''  # out", ["in", "out"]),
        ("f'{{{a['b']}}}#'  # yes", ["yes"]),
        ("f'{{ { {1: '#'}[1] } }}'  # yes", ["yes"]),
        ("rf'\\{a['#']}'  # yes", ["yes"]),
        ("f'\\N{HASH}{a['#']}'  # yes", ["yes"]),
        ("f'\\'{a['#']}'  # yes", ["yes"]),
        ("t'{a['#']}'  # yes", ["yes"]),
        ("if'{'in x: y='}'  # yes", ["yes"]),
    ],
)
def test_nested_f_strings(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@given(
    st.lists(
        st.sampled_from(["x", " ", "'a'", '"#"', "'''\n#'''", "# c\n", "#", "\n", "f'{x}'", "f'{x!r:>3}'", "'\\''"])
    )
)
def test_the_scan_agrees_with_tokenize_on_any_sequence_of_pieces(pieces: list[str]) -> None:
    text = "(" + " ".join(pieces) + "\n)\n"
    assert by_scan(text) == by_tokenize(text)


@given(st.text(alphabet="f'\"{}#\\\n\r:x ", max_size=60))
def test_no_text_is_too_broken(text: str) -> None:
    lines = normalise(text).split("\n")
    for comment in find_comments(text):
        line, column, _, end = comment.span
        assert lines[line - 1][column] == "#"
        assert end == len(lines[line - 1])


def test_nesting_without_end() -> None:
    assert find_comments("# a\n" + "f'{" * 10_000)[0].text == "a"


def test_no_pattern_has_a_possessive_group() -> None:
    """Python 3.11.0 to 3.11.4 match those wrongly: https://github.com/python/cpython/issues/101955."""
    package = Path(shapedoc.__file__).parent
    texts_of = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    assert [str(path) for path, text in texts_of.items() if re.search(r"\)[*+?}]\+", text)] == []
