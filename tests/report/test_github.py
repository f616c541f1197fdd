"""The format ``github``, every line as it is printed."""

from __future__ import annotations

from dataclasses import replace

from shapedoc.core.finding import FileError, Finding, Report
from shapedoc.core.span import Span
from shapedoc.report import Context, renderer


def _lines(report: Report, context: Context) -> list[str]:
    return list(renderer("github")(report, context))


def test_commands_then_one_line_for_all(report: Report, context: Context) -> None:
    assert _lines(report, context) == [
        "::error file=attention.py,line=12,endLine=12,col=18,title=SD101 mismatched-product::"
        "`@` needs equal inner sizes, got `d_head` and `T_enc`"
        "%0Awhy: a score sums over `d_head`, once for every pair of query and key"
        "%0Anote: runs only if d_head == T_enc"
        "%0Ahelp: scores = q @ k.transpose(-2, -1)"
        "%0Amore: shapedoc explain SD101",
        "::warning file=attention.py,line=13,endLine=13,col=16,title=SD401 softmax-over-wrong-axis::"
        "the weights sum to 1 over `T_dec`, and `T_enc` is summed away"
        "%0Amore: shapedoc explain SD401",
        "::error file=broken.py,title=file that cannot be read::broken.py: is a binary file",
        "found 1 error, 1 warning in 3 files",
    ]


def test_an_empty_report(context: Context) -> None:
    assert _lines(Report(files=2), context) == ["no faults found in 2 files"]


def test_counts_when_asked(report: Report, context: Context) -> None:
    assert _lines(report, replace(context, statistics=True))[3:] == [
        "1 SD101 mismatched-product",
        "1 SD401 softmax-over-wrong-axis",
        "",
        "read 3 files with 40 lines, 0 of them about tensors",
        "found 1 error, 1 warning in 3 files",
    ]


def test_a_note_is_a_notice_and_a_place_of_many_lines_has_no_column(context: Context) -> None:
    note = Finding("SD109", "name", "note", "a.py", Span(3, 4, 5, 1), "m")
    assert _lines(Report(findings=[note]), context)[0] == (
        "::notice file=a.py,line=3,endLine=5,title=SD109 name::m%0Amore: shapedoc explain SD109"
    )


def test_what_would_end_a_command_or_a_property_is_escaped(context: Context) -> None:
    finding = Finding(
        "SD701",
        "name",
        "error",
        "my models\\a,b:50%.py",
        Span(1, 0, 1, 1),
        "50% of\r\n::error::<b>x</b>, `a: b`\x1b[0m",
    )
    error = FileError("a\nb.py", "is\nbroken")
    assert _lines(Report(findings=[finding], errors=[error]), context)[:2] == [
        "::error file=my models/a%2Cb%3A50%25.py,line=1,endLine=1,col=1,title=SD701 name::"
        "50%25 of%0A::error::<b>x</b>, `a: b`[0m%0Amore: shapedoc explain SD701",
        "::error file=a%0Ab.py,title=file that cannot be read::a%0Ab.py: is%0Abroken",
    ]


def test_files_are_told_from_the_root(context: Context) -> None:
    finding = Finding("SD101", "name", "error", "C:\\project\\src\\a.py", Span(1, 0, 1, 1), "m")
    lines = _lines(Report(findings=[finding]), replace(context, root="C:/project"))
    assert lines[0].startswith("::error file=src/a.py,line=1,")
