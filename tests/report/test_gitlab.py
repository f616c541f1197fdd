"""The format ``gitlab``, and the fingerprints that it shares with ``sarif``."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from shapedoc.core.finding import FileError, Finding, Report
from shapedoc.core.span import Span
from shapedoc.report import Context, renderer
from tests.report.conftest import SOURCE


def _issues(report: Report, context: Context) -> list[dict[str, object]]:
    issues: list[dict[str, object]] = json.loads("\n".join(renderer("gitlab")(report, context)))
    return issues


def _marks(report: Report, context: Context) -> list[object]:
    return [issue["fingerprint"] for issue in _issues(report, context)]


def test_an_issue_for_each_finding_and_each_unread_file(report: Report, context: Context) -> None:
    assert _issues(report, context) == [
        {
            "description": "mismatched-product: `@` needs equal inner sizes, got `d_head` and `T_enc`",
            "check_name": "SD101",
            "fingerprint": "16dc80c47cea595bde20031b623cc3821a7f2e6f71bdbe5d6c10b875d89a55c3",
            "severity": "major",
            "location": {"path": "attention.py", "lines": {"begin": 12, "end": 12}},
        },
        {
            "description": "softmax-over-wrong-axis: the weights sum to 1 over `T_dec`, and `T_enc` is summed away",
            "check_name": "SD401",
            "fingerprint": "e770d9f05b6f97d877fd3d70e195b9e07a909d529d3fc7bdac19d7678e7b61df",
            "severity": "minor",
            "location": {"path": "attention.py", "lines": {"begin": 13, "end": 13}},
        },
        {
            "description": "is a binary file",
            "check_name": "unreadable-file",
            "fingerprint": "212bf032394062d0603b50a58ab02c9e9564f8794dc47f144036b295d604d0ed",
            "severity": "major",
            "location": {"path": "broken.py", "lines": {"begin": 1, "end": 1}},
        },
    ]


def test_an_empty_report_is_an_empty_array(context: Context) -> None:
    assert list(renderer("gitlab")(Report(files=2), context)) == ["[]"]


def test_odd_paths_and_messages(context: Context) -> None:
    finding = Finding("SD109", "name", "note", ".\\my models\\注意.py", Span(2, 0, 4, 1), 'a\r\n"<b>"\x00 & c')
    error = FileError("latin\udce9.py", "is not utf-8:\nno")
    told, unread = _issues(Report(findings=[finding], errors=[error]), context)
    assert told["location"] == {"path": "my models/注意.py", "lines": {"begin": 2, "end": 4}}
    assert told["description"] == 'name: a "<b>" & c'
    assert told["severity"] == "info"
    assert unread["description"] == "is not utf-8: no"
    assert "\n".join(renderer("gitlab")(Report(findings=[finding], errors=[error]), context)).isascii()


def test_fingerprints_stay_when_lines_come_before(report: Report, context: Context) -> None:
    moved = [replace(f, span=replace(f.span, line=f.span.line + 2, end_line=f.span.line + 2)) for f in report.findings]
    later = Context(text_of={"attention.py": f"# one\n# two\n{SOURCE}"}.get)
    assert _marks(replace(report, findings=moved), later) == _marks(report, context)


def test_fingerprints_differ_where_findings_do(product: Finding, context: Context) -> None:
    others = [
        replace(product, code="SD102"),
        replace(product, path="other.py"),
        replace(product, function="Other.forward"),
        replace(product, tensor="q"),
        replace(product, span=Span(9, 12, 9, 70)),
    ]
    assert len(set(_marks(Report(findings=[product, *others]), context))) == 6


def test_equal_findings_are_counted(product: Finding, context: Context) -> None:
    line = "x = a @ b; y = a @ b\n"
    twice = [replace(product, path="a.py", span=Span(1, start, 1, start + 5)) for start in (4, 15)]
    marks = _marks(Report(findings=twice), Context(text_of={"a.py": line}.get))
    assert len(set(marks)) == 2
    assert marks == _marks(Report(findings=twice), Context(text_of={"a.py": line}.get))
    unread = _marks(Report(findings=twice), context)
    assert len(set(unread)) == 2


def test_fingerprints_are_the_same_from_every_folder(
    product: Finding, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = context.text_of("attention.py")
    monkeypatch.setattr("os.getcwd", lambda: "/project/src")
    here = Context(text_of=lambda path: text, root="/project")
    within = _marks(Report(findings=[replace(product, path="attention.py")]), here)
    monkeypatch.setattr("os.getcwd", lambda: "/project")
    assert _marks(Report(findings=[replace(product, path="src\\attention.py")]), here) == within
