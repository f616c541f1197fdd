"""Comments that silence findings."""

from __future__ import annotations

import pytest

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.source.comments import find_comments
from shapedoc.source.lower_ast import lower
from shapedoc.source.statements import StatementLines
from shapedoc.source.suppress import parse_suppressions, skips_file


def finding(line: int, end_line: int | None = None, code: str = "SD401") -> Finding:
    name = {"SD401": "softmax-over-wrong-axis"}.get(code, "another-rule")
    return Finding(code, name, "error", "a.py", Span(line, 0, end_line or line, 1), "message")


def kept(text: str, *findings: Finding) -> list[int]:
    module = lower(text)
    return [f.span.line for f in parse_suppressions(module.comments).split(findings, module)[0]]


def unused(text: str, *findings: Finding, checked: tuple[str, ...] | None = None) -> list[int]:
    module = lower(text)
    return [s.span[0] for s in parse_suppressions(module.comments).split(findings, module, checked)[1]]


@pytest.mark.parametrize(
    "comment",
    [
        "# shapedoc: ignore",
        "# shapedoc: ignore[SD401]",
        "#shapedoc:ignore[SD101,sd401]",
        "# shapedoc: ignore[softmax-over-wrong-axis] the axis is right",
        "# (B, T)  # shapedoc: ignore[ SD401 ]",
        "# type: ignore # shapedoc: ignore",
        "# noqa",
        "# NOQA: SD401",
        "# noqa:F401,SD401",
        "# noqa: F401 SD401 the axis is right",
        "# noqa : SD401",
        "# shapedoc: ignore[SD101]  # noqa: SD401",
    ],
)
def test_comments_that_silence(comment: str) -> None:
    assert kept(f"x = f(y)  {comment}\n", finding(1)) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# shapedoc: ignore[SD101]",
        "# shapedoc: ignore[]",
        "# shapedoc: ignore-next",
        "# shapedoc: ignored",
        "# see shapedoc: ignore",
        "# noqa: F401",
        "# noqa:",
        "# noqa: because",
        "# noqa-like",
        "# no noqa",
        "# noqa: SD4",
        "# shapedoc: skip",
    ],
)
def test_comments_that_do_not(comment: str) -> None:
    assert kept(f"x = f(y)  {comment}\n", finding(1)) == [1]


def test_a_comment_counts_on_the_first_and_last_line_of_a_statement() -> None:
    first = "x = f(  # shapedoc: ignore\n    y,\n    z,\n)\n"
    middle = "x = f(\n    y,  # shapedoc: ignore\n    z,\n)\n"
    last = "x = f(\n    y,\n    z,\n)  # shapedoc: ignore\n"
    assert kept(first, finding(3)) == []
    assert kept(last, finding(3)) == []
    assert kept(last, finding(1, 4)) == []
    assert kept(middle, finding(3)) == [3]
    assert kept(middle, finding(2)) == []
    assert kept(middle, finding(1, 2)) == []


def test_a_comment_after_a_block_does_not_silence_its_header() -> None:
    text = "def f(\n    a,\n):  # shapedoc: ignore\n    x = a\n    return x  # shapedoc: ignore\n"
    assert kept(text, finding(2), finding(4), finding(5)) == [4]
    text = "if x:\n    y = 1  # noqa\n"
    assert kept(text, finding(1, 2)) == [1]


def test_the_line_of_a_neighbour_does_not_count() -> None:
    assert kept("# shapedoc: ignore\nx = 1\ny = 2  # noqa\n", finding(2)) == [2]


def test_comments_that_silence_nothing_are_told() -> None:
    text = (
        "x = 1  # shapedoc: ignore[SD401]\ny = 2  # shapedoc: ignore\nz = 3  # noqa: SD401\nw = 4  # shapedoc: ignore\n"
    )
    assert unused(text, finding(2)) == [1, 4]


def test_a_comment_about_rules_that_did_not_run_is_not_called_unused() -> None:
    text = "x = 1  # shapedoc: ignore[SD401]\ny = 2  # shapedoc: ignore\nz = 3  # shapedoc: ignore[]\n"
    assert unused(text, checked=("SD101", "mismatched-product")) == [2, 3]
    assert unused(text, checked=("SD401", "softmax-over-wrong-axis")) == [1, 2, 3]


def test_a_comment_in_a_string_silences_nothing() -> None:
    assert kept("x = '# noqa'\n", finding(1)) == [1]


@pytest.mark.parametrize(
    ("text", "skips"),
    [
        ("# shapedoc: skip-file\nx = 1\n", True),
        ('"""Doc."""\n\nimport torch\n# shapedoc: skip-file  (generated)\n', True),
        ("x = 1  # shapedoc: skip-file\n", False),
        ("# shapedoc: skip-files\n", False),
        ("'# shapedoc: skip-file'\n", False),
        ("# noqa\n", False),
        ("# shapedoc: skip-file\nprint 'two'\n", True),
    ],
)
def test_a_file_that_is_left_alone(text: str, skips: bool) -> None:
    assert skips_file(find_comments(text)) is skips


def test_lines_of_statements() -> None:
    text = (
        "@d(\n  1)\ndef f(a,\n      b):\n    if (a and\n        b):\n        x = (\n          1); y = (\n          2)\n"
        "    with (a,\n          b):\n        pass\n    for i in (\n        z): pass\n"
    )
    lines = StatementLines(lower(text))
    assert [lines.of(line) for line in range(1, 15)] == [
        (1, 2),
        (1, 2),
        (3, 4),
        (3, 4),
        (5, 6),
        (5, 6),
        (7, 9),
        (7, 9),
        (7, 9),
        (10, 11),
        (10, 11),
        (12, 12),
        (13, 14),
        (13, 14),
    ]
