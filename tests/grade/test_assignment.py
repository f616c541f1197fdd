"""An assignment is a folder: what it says is read whole, and every mistake in it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedoc.grade.assignment import AssignmentError, load

GOOD = """
name = "sums"
title = {en = "Sums", zh = "求和"}
summary = "Weights that sum to one."

[targets]
attend = ["query", "memory"]

[[item]]
id = "right"
title = "Right"
says = {en = "The output is the right one.", zh = "输出正确。"}
property = "equals"
points = 3
partial = "cases"
hint = "line"
with = {function = "attend"}

[training]
steps = 5
"""


def folder(tmp_path: Path, text: str) -> Path:
    """An assignment's folder with this file in it."""
    (tmp_path / "assignment.toml").write_text(text)
    (tmp_path / "reference.py").write_text("def attend(query, memory): ...\n")
    return tmp_path


def test_all_that_it_says_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shapedoc.grade.properties.check_item", lambda *_: "")
    made = load(folder(tmp_path, GOOD))
    (item,) = made.items
    assert made.text(made.title, "zh") == "求和"
    assert made.text(made.summary, "zh") == "Weights that sum to one."
    assert made.targets == {"attend": ("query", "memory")}
    assert (item.points, item.partial, item.hint, item.visibility) == (3, "cases", "line", "visible")
    assert item.parameters == {"function": "attend"}
    assert made.settings == {"training": {"steps": 5}}
    assert made.max_score == 3


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('name = "sums"\n', "", "`name` is missing"),
        ("points = 3", "", "item right: `points` is missing"),
        ("points = 3", "points = -1", "points must not be negative"),
        ("points = 3", "ponts = 3\npoints = 3", "`ponts` is no key here; did you mean `points`?"),
        ('hint = "line"', 'hint = "much"', "it must be one of property, input, line, fix"),
        ('[targets]\nattend = ["query", "memory"]', "", "must name what is handed in"),
        ('{en = "Sums", zh = "求和"}', '{zh = "求和"}', "`title` must be a text, or one a language"),
        ("[training]\nsteps = 5", "stpes = 5\n[x]", "`stpes` is no key here"),
        ("name =", "name", "assignment.toml: "),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, says: str) -> None:
    monkeypatch.setattr("shapedoc.grade.properties.check_item", lambda *_: "")
    text = GOOD.replace(old, new)
    if new.startswith("stpes"):
        text = "stpes = 5\n" + GOOD
    with pytest.raises(AssignmentError) as raised:
        load(folder(tmp_path, text))
    assert says in str(raised.value)


def test_a_folder_without_reference(tmp_path: Path) -> None:
    place = folder(tmp_path, GOOD)
    (place / "reference.py").unlink()
    with pytest.raises(AssignmentError, match="every assignment has its reference module"):
        load(place)


def test_a_name_that_nobody_knows() -> None:
    with pytest.raises(AssignmentError, match="no assignment `no-such-thing`"):
        load("no-such-thing")
