"""Class lists: the heads that the systems write, and how a submission finds its student."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedoc.grade.exports.roster import RosterError, read_roster


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "roster.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "submission", "who"),
    [
        ("id,first_name,last_name,email\nb1,Wei,Li,wei@x.edu\n", "B1.ipynb", ("b1", "Li, Wei", "wei@x.edu")),
        ("First name,Surname,ID number,Email address\nWei,Li,77,wei@x.edu\n", "wei.py", ("", "Li, Wei", "wei@x.edu")),
        ("submission,id\nhw/one.py,9\n", "hw/one.py", ("9", "", "")),
        (
            "First name,Last name,Email address\nWei,Li,w@x.edu\n",
            "Wei Li_123_assignsubmission_file/hw.py",
            ("", "Li, Wei", "w@x.edu"),
        ),
    ],
)
def test_a_submission_finds_its_student(tmp_path: Path, text: str, submission: str, who: tuple[str, ...]) -> None:
    student = read_roster(written(tmp_path, text)).find(submission)
    assert (student.id, student.name, student.email) == who


def test_what_fits_two_students_fits_none(tmp_path: Path) -> None:
    roster = read_roster(written(tmp_path, "id,email\n1,wei@a.edu\n2,wei@b.edu\n"))
    assert roster.find("wei.py").id == "wei"
    assert roster.find("wei@b.edu.py").id == "2"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the first row must name a column"),
        ("colour,size\n", "submission, id or email"),
        (b"id\n\xff\n", "is not UTF-8"),
        ('id\n"open\n', "unexpected end of data"),
    ],
)
def test_what_is_no_class_list_is_refused(tmp_path: Path, text: str | bytes, says: str) -> None:
    with pytest.raises(RosterError, match=says):
        read_roster(written(tmp_path, text))
    with pytest.raises(RosterError, match="No such file"):
        read_roster(tmp_path / "none.csv")
