"""What several findings tell alike is told once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shapedoc.core.finding import Finding, Report
from shapedoc.core.fix import Edit, Fix, Safety
from shapedoc.core.span import Label, Span
from shapedoc.core.statistics import Statistics
from shapedoc.engine.folding import fold, folded

FIRST = Finding(
    "SD206",
    "squeeze-drops-batch",
    "warning",
    "pointer.py",
    Span(5, 4, 5, 20),
    "`squeeze()` of start (B, T, 1) drops the batch `B` too when it is 1",
    function="Pointer.forward",
    tensor="start",
    actual="(B, T, 1)",
    labels=(Label(Span(3, 4, 3, 9), "start is (B, T, 1)"),),
    notes=("fails for a batch of one",),
)
AGAIN = replace(
    FIRST, span=Span(7, 4, 7, 18), message=FIRST.message.replace("start", "end"), tensor="end", labels=(), notes=()
)


def _fix(line: int, safety: Safety = "unsafe") -> Fix:
    return Fix("name the axis: `squeeze(-1)`", (Edit(Span(line, 10, line, 19), ".squeeze(-1)"),), safety, "reanalysed")


def test_the_first_is_told_and_the_others_are_its_labels() -> None:
    (one,) = folded([FIRST, AGAIN])
    assert (one.span, one.message) == (FIRST.span, FIRST.message)
    assert one.labels == (*FIRST.labels, Label(AGAIN.span, "the same here: end is (B, T, 1)"))
    assert one.notes == ("fails for a batch of one", "the same on line 7")


def test_what_stands_in_another_file_is_not_told_at_the_calls_of_it_too() -> None:
    there = replace(
        FIRST, path="model.py", span=Span(40, 8, 40, 20), labels=(Label(replace(FIRST.span, path="pointer.py"), ""),)
    )
    assert folded([there, FIRST]) == [FIRST]
    assert folded([there]) == [there]


def test_it_stands_on_the_first_line_whatever_the_order() -> None:
    (one,) = folded([AGAIN, FIRST])
    assert one.span == FIRST.span


def test_many_places_are_all_labels_and_few_of_them_are_named() -> None:
    places = [replace(FIRST, span=Span(line, 4, line, 20)) for line in (7, 7, 9, 11, 13, 15, 17)]
    (one,) = folded([FIRST, *places])
    assert one.notes[-1] == "the same on line 7, line 9, line 11, line 13 and 2 more"
    assert [label.span.line for label in one.labels] == [3, 7, 9, 11, 13, 15, 17]
    assert one.labels[-1].text == "the same here"


@pytest.mark.parametrize(
    "other",
    [
        replace(AGAIN, function="Pointer.loss"),
        replace(AGAIN, path="span.py"),
        replace(AGAIN, severity="error"),
        replace(AGAIN, message="`squeeze()` of end (N, T, 1) drops the batch `N` too when it is 1"),
        replace(AGAIN, code="SD205"),
    ],
    ids=["function", "file", "severity", "sizes", "rule"],
)
def test_what_differs_by_more_than_the_tensor_is_told_by_itself(other: Finding) -> None:
    assert folded([FIRST, other]) == [FIRST, other]


def test_each_softmax_and_each_line_that_does_not_parse_is_told() -> None:
    for code in ("SD401", "SD402", "SD403", "SD901", "SD902"):
        alike = [replace(FIRST, code=code), replace(AGAIN, code=code)]
        assert folded(alike) == alike


def test_findings_of_one_cause_are_one_whatever_they_say() -> None:
    a = replace(FIRST, function="train", causes=("the module built on line 2",))
    b = replace(AGAIN, function="evaluate", message="another", causes=("another cause", "the module built on line 2"))
    c = replace(AGAIN, span=Span(9, 0, 9, 3), function="main", message="a third", causes=("another cause",))
    (one,) = folded([a, b, c])
    assert [label.span.line for label in one.labels] == [3, 7, 9]


def test_a_name_inside_another_word_is_not_the_tensor() -> None:
    a = replace(FIRST, tensor="s", message="`squeeze()` of s (B, T, 1)")
    b = replace(FIRST, tensor="e", message="`squeeze()` of e (B, T, 1)", span=AGAIN.span)
    assert len(folded([a, b])) == 1


def test_the_fixes_of_all_places_are_made_together() -> None:
    (one,) = folded([replace(FIRST, fix=_fix(5)), replace(AGAIN, fix=_fix(7))])
    assert one.fix == replace(_fix(5), edits=_fix(5).edits + _fix(7).edits)


@pytest.mark.parametrize("other", [None, _fix(5), _fix(7, "safe")], ids=["none", "the same text", "another safety"])
def test_fixes_that_cannot_be_made_together_leave_that_of_the_first(other: Fix | None) -> None:
    wanted = replace(_fix(5), edits=(Edit(Span(5, 8, 5, 19), ""),))
    (one,) = folded([replace(FIRST, fix=wanted), replace(AGAIN, fix=other)])
    assert one.fix == wanted


def test_a_report_counts_what_it_tells() -> None:
    report = Report(files=1, findings=[FIRST, AGAIN], statistics=Statistics(lines=9, rules={"SD206": 2}))
    fold(report)
    assert len(report.findings) == 1
    assert report.statistics == Statistics(lines=9, rules={"SD206": 1})


def test_one_tensor_on_one_line_is_told_once_whoever_called_the_code() -> None:
    called = replace(FIRST, span=Span(5, 12, 5, 20), message="`squeeze()` of start (4, 9, 1) drops the batch `4`")
    (one,) = folded([FIRST, called])
    assert (one.message, one.notes) == (FIRST.message, FIRST.notes)
    assert folded([FIRST, replace(called, tensor="end")]) == [FIRST, replace(called, tensor="end")]


def test_statements_of_one_function_that_are_out_of_date_are_told_at_once() -> None:
    stale = replace(FIRST, code="SD701", message="a comment says that `start` is (B, T), it has another number of axes")
    other = replace(stale, span=AGAIN.span, tensor="end", actual="(B, 2)", message="a comment says that `end` is (B,)")
    (one,) = folded([stale, other])
    assert one.message == stale.message
    assert one.labels[-1] == Label(other.span, "the same here: end is (B, 2)")
    assert len(folded([stale, replace(other, function="Pointer.loss")])) == 2
    assert len(folded([replace(stale, function=""), replace(other, function="")])) == 2


def test_a_softmax_over_one_element_is_not_told_as_one_over_another_axis_too() -> None:
    single = replace(FIRST, code="SD402", name="softmax-over-singleton", severity="error", message="every weight is 1")
    elsewhere = replace(FIRST.span, path="pointer.py")
    wrong = replace(single, code="SD401", name="softmax-over-wrong-axis", span=elsewhere, message="not the summed axis")
    assert folded([wrong, single]) == [single]
    assert folded([wrong]) == [wrong]
