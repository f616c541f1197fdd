"""The format ``full``, every line as it is printed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shapedoc.core.finding import Finding, Report
from shapedoc.core.fix import Fix
from shapedoc.core.span import Label, Span
from shapedoc.report import Context, renderer
from shapedoc.report.colour import COLOURED


def _full(findings: list[Finding], context: Context) -> str:
    return "\n".join(renderer("full")(Report(files=1, findings=findings), context)) + "\n"


def _at(line: int, column: int, end_column: int) -> Finding:
    return Finding("SD101", "mismatched-product", "error", "a.py", Span(line, column, line, end_column), "m")


def test_a_finding_with_labels_reason_note_and_step(report: Report, context: Context) -> None:
    assert "\n".join(renderer("full")(report, context)) == (
        """\
error[SD101] mismatched-product: `@` needs equal inner sizes, got `d_head` and `T_enc`
  --> attention.py:12:18
   |
 9 |         k = self.w_k(memory).view(B, T_enc, H, d_head).transpose(1, 2)
   |             ---------------------------------------------------------- k is (B, H, T_enc, d_head)
12 |         scores = q @ k
   |                  ^^^^^ q (B, H, T_dec, d_head): its last axis is `d_head`; k's second-to-last is `T_enc`
   = why: a score sums over `d_head`, once for every pair of query and key
   = note: runs only if d_head == T_enc
   = help: scores = q @ k.transpose(-2, -1)
   = more: shapedoc explain SD101

warning[SD401] softmax-over-wrong-axis: the weights sum to 1 over `T_dec`, and `T_enc` is summed away
  --> attention.py:13:16
   |
13 |         return scores.softmax(-1) @ v
   |                ^^^^^^^^^^^^^^^^^^ weights is (B, H, T_dec, T_enc)
   = more: shapedoc explain SD401

found 1 error, 1 warning in 3 files"""
    )


def test_a_report_without_findings_is_one_line(context: Context) -> None:
    assert _full([], context) == "no faults found in 1 file\n"


def test_statistics_stand_before_the_last_line(report: Report, context: Context) -> None:
    lines = list(renderer("full")(report, replace(context, statistics=True)))
    assert lines[-6:] == [
        "1 SD101 mismatched-product",
        "1 SD401 softmax-over-wrong-axis",
        "",
        "read 3 files with 40 lines, 0 of them about tensors",
        "",
        "found 1 error, 1 warning in 3 files",
    ]


def test_marks_on_one_line_stand_below_each_other_and_the_fault_first() -> None:
    finding = replace(
        _at(1, 10, 15),
        labels=(Label(Span(1, 14, 1, 15), "k is (T, d)"), Label(Span(1, 10, 1, 11), "q is (T, d)")),
    )
    assert _full([finding], Context(text_of={"a.py": "scores =  q @ k\n"}.get)).startswith(
        """\
error[SD101] mismatched-product: m
 --> a.py:1:11
  |
1 | scores =  q @ k
  |           ^^^^^
  |           - q is (T, d)
  |               - k is (T, d)
  = more: shapedoc explain SD101
"""
    )


def test_tabs_and_wide_characters_keep_marks_under_their_text() -> None:
    text = "if 1:\n\ty = f('注意力', q @ k)\n"
    finding = replace(_at(2, 14, 19), tensor="k", actual="(T, d)", expected="(d, T)")
    assert _full([finding], Context({"a.py": text}.get)) == (
        """\
error[SD101] mismatched-product: m
 --> a.py:2:15
  |
2 |     y = f('注意力', q @ k)
  |                     ^^^^^ k is (T, d), should be (d, T)
  = more: shapedoc explain SD101

found 1 error in 1 file
"""
    )


def test_combining_marks_take_no_column() -> None:
    text = "q\u0302 = k\n"
    assert "1 | q\u0302 = k\n  |     ^\n" in _full([_at(1, 5, 6)], Context({"a.py": text}.get))


@pytest.mark.parametrize(("hidden", "seen"), [("\x1b", "␛"), ("\x7f", "␡"), ("\u202e", "\ufffd"), ("\x85", "\ufffd")])
def test_characters_that_steer_a_terminal_are_shown_and_not_obeyed(hidden: str, seen: str) -> None:
    shown = _full([_at(1, 4, 5)], Context({"a.py": f"'{hidden}' @ k\n"}.get))
    assert hidden not in shown
    assert f"1 | '{seen}' @ k\n  |     ^\n" in shown


def test_a_form_feed_ends_no_line() -> None:
    assert "2 | q @ k\n" in _full([_at(2, 0, 5)], Context({"a.py": "x = 1\x0c\nq @ k\n"}.get))


def test_a_span_of_many_lines_is_marked_on_its_first() -> None:
    finding = replace(_at(1, 4, 0), span=Span(1, 4, 3, 1))
    shown = _full([finding], Context({"a.py": "y = cat(\n    [a, b],\n)\n"}.get))
    assert "1 | y = cat(\n  |     ^^^^\n  = more" in shown


def test_a_long_line_is_shown_where_its_marks_are() -> None:
    line = f"x = [{', '.join(['0'] * 400)}, q @ k, {', '.join(['1'] * 400)}]"
    column = line.index("q @ k")
    shown = _full([_at(1, column, column + 5)], Context({"a.py": f"{line}\n"}.get)).splitlines()
    assert shown[1] == f" --> a.py:1:{column + 1}"
    assert len(shown[3]) == len("1 | ") + 162
    assert shown[3].startswith("1 | … 0, 0")
    assert shown[3].endswith("1, 1,…")
    assert shown[3][shown[4].index("^") :].startswith("q @ k")
    assert shown[4].strip(" |") == "^^^^^"


def test_a_place_in_another_file_has_its_own_listing() -> None:
    finding = replace(_at(2, 4, 9), labels=(Label(Span(31, 4, 31, 8, "layers.py"), "k is made here"),))
    texts = {"a.py": "\ny = q @ k\n", "layers.py": "\n" * 30 + "    k = w(x)\n"}
    assert _full([finding], Context(texts.get)).startswith(
        """\
error[SD101] mismatched-product: m
  --> a.py:2:5
   |
 2 | y = q @ k
   |     ^^^^^
  ::: layers.py:31:5
   |
31 |     k = w(x)
   |     ----
   = more: shapedoc explain SD101
""".replace("   |     ----\n", "   |     ---- k is made here\n")
    )


def test_a_file_that_cannot_be_read_is_named_and_not_shown() -> None:
    finding = replace(_at(2, 4, 9), labels=(Label(Span(1, 0, 1, 1), "k is (T, d)"),))
    assert _full([finding], Context()).startswith(
        "error[SD101] mismatched-product: m\n --> a.py:2:5\n  | k is (T, d)\n  = more"
    )


def test_a_step_of_many_lines_hangs_and_a_fix_speaks_where_no_step_is_given() -> None:
    long = _full([replace(_at(1, 0, 1), help="two lines:\nsecond")], Context({"a.py": "x\n"}.get))
    assert "  = help: two lines:\n          second\n" in long
    fixed = replace(_at(1, 0, 1), fix=Fix("transpose k", (), "display"))
    assert "  = help: transpose k\n" in _full([fixed], Context({"a.py": "x\n"}.get))


def test_colours_change_nothing_but_colours(report: Report, context: Context) -> None:
    import re

    plain = "\n".join(renderer("full")(report, context))
    coloured = "\n".join(renderer("full")(report, replace(context, palette=COLOURED)))
    assert "\x1b[1;31merror[SD101]\x1b[0m \x1b[1mmismatched-product:" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
