"""Who handed in what: a class list as CSV, in the form of Canvas, Moodle or nbgrader, or with columns of its own."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from shapedoc.grade.exports.names import student_of

__all__ = ["Roster", "RosterError", "Student", "read_roster"]


class RosterError(ValueError):
    """A class list that cannot be used; the text says why, and which columns are known."""


@dataclass(frozen=True, slots=True)
class Student:
    """One student, as far as is known. name: ``Last, First`` as Canvas writes it. submission: what was handed in."""

    submission: str = ""
    id: str = ""
    name: str = ""
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    id_number: str = ""
    sis_user_id: str = ""
    sis_login_id: str = ""
    section: str = ""


# The heads of columns in the files that the systems write, by our own.
_HEADS = {
    "student": "name",
    "name": "name",
    "full name": "name",
    "id": "id",
    "student_id": "id",
    "student id": "id",
    "submission": "submission",
    "file": "submission",
    "sis user id": "sis_user_id",
    "sis login id": "sis_login_id",
    "login": "sis_login_id",
    "username": "sis_login_id",
    "section": "section",
    "email": "email",
    "email address": "email",
    "first_name": "first_name",
    "first name": "first_name",
    "last_name": "last_name",
    "last name": "last_name",
    "surname": "last_name",
    "id number": "id_number",
    "idnumber": "id_number",
}


@dataclass(frozen=True, slots=True)
class Roster:
    """A class list; an empty one knows of a student what the name of the submission says."""

    students: tuple[Student, ...] = ()
    _found: Mapping[str, Student | None] = field(default_factory=dict)

    def find(self, submission: str) -> Student:
        """The student of a submission.

        The whole name is looked up first (without the file's suffix, in either case of letters), then its parts
        between ``_`` and ``/``, as in Canvas's ``liwei_1234_567_hw.py``; what fits two students fits none.
        """
        whole = student_of(submission)
        for part in (submission, whole, *whole.replace("\\", "/").replace("/", "_").split("_")):
            student = self._found.get(part.casefold())
            if student is not None:
                return student
        email = whole if "@" in whole else ""
        return Student(submission, whole, whole, email=email, id_number="" if email else whole, sis_login_id=whole)


def read_roster(path: Path) -> Roster:
    """Read a class list.

    Raises RosterError: it is not there, no UTF-8, or has no column by which a submission could be found.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as problem:
        raise RosterError(f"{path}: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise RosterError(f"{path}: is not UTF-8 ({problem.reason} at byte {problem.start})") from None
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as problem:
        raise RosterError(f"{path}: {problem}") from None
    heads = [_HEADS.get(head.strip().casefold(), "") for head in rows[0]] if rows else []
    if not {"id", "email", "submission", "sis_login_id", "id_number"} & set(heads):
        raise RosterError(f"{path}: the first row must name a column that says who it is: submission, id or email")
    students = [_student(heads, row) for row in rows[1:] if any(cell.strip() for cell in row)]
    students = [student for student in students if "points possible" not in student.name.casefold()]
    found: dict[str, Student | None] = {}
    for student in students:
        for key in _keys(student):
            found[key] = student if found.get(key, student) == student else None
    return Roster(tuple(students), found)


def _student(heads: list[str], row: list[str]) -> Student:
    given = {head: cell.strip() for head, cell in zip(heads, row, strict=False) if head and cell.strip()}
    if "name" in given and "last_name" not in given:
        last, comma, first = given["name"].partition(",")
        given |= {"last_name": last.strip(), "first_name": first.strip()} if comma else {"last_name": given["name"]}
    elif "last_name" in given and "name" not in given:
        given["name"] = ", ".join(part for part in (given["last_name"], given.get("first_name", "")) if part)
    return Student(**{f.name: given.get(f.name, "") for f in fields(Student)})


def _keys(student: Student) -> set[str]:
    names = {student.submission, student_of(student.submission), student.id, student.sis_user_id, student.sis_login_id}
    names |= {student.id_number, student.email, student.email.partition("@")[0]}
    names |= {f"{student.first_name} {student.last_name}".strip(), f"{student.last_name}{student.first_name}"}
    return {name.casefold() for name in names if name}
