"""Names of files that no submission can choose to do harm."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from shapedoc.grade.exports import file_names
from shapedoc.grade.exports.names import student_of
from tests.grade.samples import FAILED, hostile_text


def names(*given: str) -> list[str]:
    return file_names([replace(FAILED, name=name) for name in given])


def test_plain_names_are_kept() -> None:
    assert names("li_wei.py", "anne.ipynb", "team-3.zip", "李伟.py") == ["li_wei", "anne", "team-3", "李伟"]
    assert student_of("a.b.PY") == "a.b"
    assert student_of("notes.txt") == "notes.txt"


def test_names_that_meet_are_told_apart_whatever_their_order() -> None:
    first = names("a/hw.py", "a\\hw.py", "b.py", "B.py")
    assert len({name.casefold() for name in first}) == 4
    assert names("B.py", "b.py", "a\\hw.py", "a/hw.py") == first[::-1]


def test_names_of_our_own_files_and_of_devices_are_not_taken() -> None:
    for name in names("class.py", "results.py", "CON.py", "com1.py", ".py", ""):
        assert re.fullmatch(r"\w*-?[0-9a-f]{8}|py", name), name


@given(st.lists(hostile_text(), unique=True, max_size=6))
def test_any_names_are_safe_and_no_two_alike(given: list[str]) -> None:
    made = names(*given)
    assert len({name.casefold() for name in made}) == len(given)
    for name in made:
        assert re.fullmatch(r"[\w-]+", name)
        assert len(name.encode("utf-8")) <= 96
