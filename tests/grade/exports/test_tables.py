"""The CSV formats: each as its reader wants it, quoted, and safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapedoc.grade.exports import Handing, read_roster
from shapedoc.grade.exports.formats import canvas, moodle, nbgrader, otter
from shapedoc.grade.exports.table import table
from shapedoc.grade.result import GradedSubmission
from tests.grade.samples import CLASS, FAILED, hostile_results, hostile_text

Render = Callable[[Sequence[GradedSubmission], Handing], str]
RENDERS: list[Render] = [canvas.render, moodle.render, nbgrader.render, otter.render]
_FORMULA = tuple("=+-@|%\t\r\uff1d\uff0b\uff0d\uff20")


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_canvas_has_its_columns_and_the_points_possible() -> None:
    assert canvas.render(CLASS, Handing()) == (
        "Student,ID,SIS User ID,SIS Login ID,Section,Masked softmax\n"
        "    Points Possible,,,,,9\n"
        "li_wei,,,li_wei,,2.5\n"
        '"o\'hara, anne",,,"o\'hara, anne",,9\n'
        "'=cmd|' /C calc'!A0,,,'=cmd|' /C calc'!A0,,0\n"
    )


def test_canvas_takes_ids_from_the_gradebook_that_canvas_exports(tmp_path: Path) -> None:
    roster = tmp_path / "gradebook.csv"
    roster.write_text(
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Homework 1 (99)\n    Points Possible,,,,,10\n"
        '"Li, Wei",1234,s001,li_wei,Group A,\n"O\'Hara, Anne",77,s002,ohara,Group B,\n',
        encoding="utf-8",
    )
    results = [FAILED, replace(FAILED, name="oharaanne_77_5678_hw.py"), replace(FAILED, name="nobody.py")]
    assert rows_of(canvas.render(results, Handing(read_roster(roster))))[2:] == [
        ["Li, Wei", "1234", "s001", "li_wei", "Group A", "2.5"],
        ["O'Hara, Anne", "77", "s002", "ohara", "Group B", "2.5"],
        ["nobody", "nobody", "", "nobody", "", "2.5"],
    ]


def test_moodle_has_grade_and_feedback_and_nothing_hidden() -> None:
    rows = rows_of(moodle.render(CLASS, Handing()))
    assert rows[0] == [
        "First name",
        "Last name",
        "ID number",
        "Email address",
        "Masked softmax (Real)",
        "Masked softmax (Feedback)",
    ]
    assert rows[1][2:5] == ["li_wei", "", "2.5"]
    assert "Padding gets no weight: 1.5/3 (Row 2 has length 3" in rows[1][5]
    assert "SECRET" not in rows[1][5]
    assert "LATER" not in rows[1][5]
    assert "LATER" in rows_of(moodle.render([FAILED], Handing(published=True)))[1][5]
    assert rows[3][5].startswith("line 3: '(' was never closed; ")


def test_nbgrader_has_its_columns() -> None:
    assert nbgrader.render(CLASS[:2], Handing()) == (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,score,"
        "max_score\n"
        "masked-softmax,,,li_wei,,,,2.5,0,2.5,9\n"
        'masked-softmax,,,"o\'hara, anne",,,,9,0,9,9\n'
    )


def test_otter_has_a_column_a_question_and_the_points_first() -> None:
    assert otter.render(CLASS, Handing()) == (
        "file,dtype,empty,gradient,padding,shape,total_points_earned,percent_correct,grading_status\n"
        "points-per-question,1,2,2,3,1,9,1,--\n"
        "'=cmd|' /C calc'!A0.py,0,0,0,0,0,0,0,not_gradable: line 3: '(' was never closed\n"
        "li_wei.py,0,0,0,1.5,1,2.5,0.2778,Completed\n"
        '"o\'hara, anne.ipynb",1,2,2,3,1,9,1,Completed\n'
    )


@pytest.mark.parametrize("render", RENDERS, ids=lambda render: render.__module__.rpartition(".")[2])
def test_no_results_are_a_table_with_a_head(render: Render) -> None:
    assert len(rows_of(render([], Handing()))) <= 2


@pytest.mark.parametrize("render", RENDERS, ids=lambda render: render.__module__.rpartition(".")[2])
@settings(max_examples=30)
@given(results=st.lists(hostile_results(), max_size=3))
def test_whatever_a_submission_says_no_cell_is_a_formula(render: Render, results: list[GradedSubmission]) -> None:
    text = render(results, Handing())
    rows = rows_of(text.encode("utf-8").decode("utf-8"))
    assert len({len(row) for row in rows}) == 1
    assert not any(cell.startswith(_FORMULA) and cell != "--" for row in rows for cell in row)
    assert not any(ord(c) < 32 and c != "\n" for c in text)


@given(st.lists(hostile_text(), min_size=1, max_size=4))
def test_a_row_has_as_many_cells_as_it_was_given(cells: list[str]) -> None:
    (row,) = rows_of(table([cells])) or [[""]]
    assert len(row) == len(cells)


def test_numbers_are_numbers() -> None:
    assert table([(-1.5, 1 / 3, 2.0, 100, 1e-9)]) == "-1.5,0.3333,2,100,0\n"
