"""The format ``junit``, every line as it is printed."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from shapedoc.core.finding import FileError, Finding, Report
from shapedoc.core.span import Span
from shapedoc.report import Context, renderer


def _text(report: Report, context: Context) -> str:
    return "\n".join(renderer("junit")(report, context)) + "\n"


def test_a_case_for_each_file_and_a_failure_for_each_fault(report: Report, context: Context) -> None:
    whole = replace(report, paths=["attention.py", "right.py"])
    assert _text(whole, context) == (
        """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" errors="1">
  <testsuite name="shapedoc" tests="3" failures="1" errors="1">
    <testcase classname="shapedoc" name="attention.py" file="attention.py">
      <failure message="SD101 mismatched-product: `@` needs equal inner sizes, got `d_head` and `T_enc`" """
        """type="SD101">error[SD101] mismatched-product: `@` needs equal inner sizes, got `d_head` and `T_enc`
  --&gt; attention.py:12:18
   |
 9 |         k = self.w_k(memory).view(B, T_enc, H, d_head).transpose(1, 2)
   |             ---------------------------------------------------------- k is (B, H, T_enc, d_head)
12 |         scores = q @ k
   |                  ^^^^^ q (B, H, T_dec, d_head): its last axis is `d_head`; k's second-to-last is `T_enc`
why: a score sums over `d_head`, once for every pair of query and key
note: runs only if d_head == T_enc
help: scores = q @ k.transpose(-2, -1)
more: shapedoc explain SD101</failure>
      <failure message="SD401 softmax-over-wrong-axis: the weights sum to 1 over `T_dec`, and `T_enc` is summed """
        """away" type="SD401">warning[SD401] softmax-over-wrong-axis: the weights sum to 1 over `T_dec`, and """
        """`T_enc` is summed away
  --&gt; attention.py:13:16
   |
13 |         return scores.softmax(-1) @ v
   |                ^^^^^^^^^^^^^^^^^^ weights is (B, H, T_dec, T_enc)
more: shapedoc explain SD401</failure>
    </testcase>
    <testcase classname="shapedoc" name="right.py" file="right.py" />
    <testcase classname="shapedoc" name="broken.py" file="broken.py">
      <error message="is a binary file" type="unreadable-file">broken.py: is a binary file</error>
    </testcase>
  </testsuite>
</testsuites>
"""
    )


def test_an_empty_report(context: Context) -> None:
    assert _text(Report(), context) == (
        """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="0" failures="0" errors="0">
  <testsuite name="shapedoc" tests="0" failures="0" errors="0" />
</testsuites>
"""
    )


def test_notes_are_told_and_fail_nothing(context: Context) -> None:
    notes = [Finding("SD109", "name", "note", "a.py", Span(1, 0, 1, 1), message) for message in ("one", "two")]
    assert _text(Report(findings=notes), context) == (
        """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="1" failures="0" errors="0">
  <testsuite name="shapedoc" tests="1" failures="0" errors="0">
    <testcase classname="shapedoc" name="a.py" file="a.py">
      <system-out>note[SD109] name: one
 --&gt; a.py:1:1
more: shapedoc explain SD109

note[SD109] name: two
 --&gt; a.py:1:1
more: shapedoc explain SD109</system-out>
    </testcase>
  </testsuite>
</testsuites>
"""
    )


def test_markup_line_ends_and_control_characters(context: Context) -> None:
    finding = Finding(
        "SD701",
        "name",
        "error",
        "my models\\注意 & <b>.py",
        Span(1, 0, 1, 1),
        'a ]]> "<b>"\r\n& \x00\x1b[31mGröße\ud800\uffff',
    )
    error = FileError("latin\udce9.py", "is\nbroken\x07")
    text = _text(Report(findings=[finding], errors=[error]), context)
    assert text.isascii()
    odd, unread = ElementTree.fromstring(text).iter("testcase")
    assert odd.get("name") == odd.get("file") == "my models/注意 & <b>.py"
    failure, problem = odd.find("failure"), unread.find("error")
    assert failure is not None
    assert failure.get("message") == 'SD701 name: a ]]> "<b>" & [31mGröße\ufffd'
    assert (failure.text or "").splitlines()[:2] == ['error[SD701] name: a ]]> "<b>"', "& [31mGröße\ufffd"]
    assert unread.get("name") == "latin\ufffd.py"
    assert problem is not None
    assert (problem.get("message"), problem.text) == ("is broken", "latin\ufffd.py: is\nbroken")


def test_several_errors_of_one_file_are_one_case(context: Context) -> None:
    errors = [FileError("a.py", "one"), FileError("a.py", "two")]
    suite = ElementTree.fromstring(_text(Report(errors=errors), context)).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("errors"), len(suite.findall("testcase/error"))) == ("1", "1", 2)
