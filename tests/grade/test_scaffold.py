"""A new assignment works as it stands, and so do its own mistakes."""

from __future__ import annotations

import copy
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shapedoc.cli import main
from shapedoc.grade.assignment import SHIPPED, AssignmentError, _assignment, _Table, load, shipped
from shapedoc.grade.jail.client import Jail
from shapedoc.grade.marking import ReferenceFailed, mark, prepare
from shapedoc.grade.plan import Outcome, Reply
from shapedoc.grade.scaffold import new_assignment
from tests.grade.grading import first_fault, graded

JUNK: list[Any] = [0, -1, 3.5, True, "", "x", [], {}, [1, 2], ["a"], {"a": 1}, [{}], [[1]], "float64", [0.5], [4]]
SCALED = """
import torch
def attend(query, memory, lengths):
    scores = (memory @ query[:, :, None])[..., 0] / query.shape[-1] ** 0.5
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    weights = scores.masked_fill(padding, -1e9).softmax(-1)
    return (weights[:, :, None] * memory).sum(1), weights
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A new assignment."""
    new_assignment(tmp_path / "my-attention")
    return tmp_path / "my-attention"


def test_its_reference_gets_all_marks(jail: Jail, folder: Path) -> None:
    made = load(folder)
    assert made.name == "my-attention"
    result = graded(jail, made, made.reference)
    assert (result.status, result.score) == ("passed", made.max_score)


def test_a_mistake_of_its_own_has_its_own_hint(jail: Jail, folder: Path) -> None:
    item = first_fault(graded(jail, load(folder), SCALED))
    assert item.mistake == "scores_scaled"
    assert item.hint.startswith("The scores are divided by the root of d.")
    assert first_fault(graded(jail, load(folder), SCALED, language="zh")).hint.startswith("分数被除以了 d 的平方根")


def test_a_reference_that_fails_costs_no_marks(folder: Path) -> None:
    prepared = prepare(load(folder), name="student", seed=1)
    done = Outcome("done", Reply("", "ok"), {})
    with pytest.raises(ReferenceFailed, match="the reference module gives nothing"):
        mark(prepared, done, done)
    with pytest.raises(ReferenceFailed, match="was not run"):
        mark(prepared, done)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["grade", "--new", str(tmp_path / "mine")])
    assert ended.value.code == 0
    assert str(tmp_path / "mine" / "assignment.toml") in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["grade", "--new", str(tmp_path / "mine")])
    assert ended.value.code == 2
    assert "is there already; nothing was written" in capsys.readouterr().err


@pytest.mark.parametrize("assignment", [*shipped(), "template"])
def test_any_junk_is_refused_with_a_message(tmp_path: Path, assignment: str) -> None:
    """Whatever stands in the place of a value, the file is read or refused, and what is read can be prepared."""
    folder = SHIPPED / assignment if assignment in shipped() else SHIPPED.parent / "template"
    whole = tomllib.loads((folder / "assignment.toml").read_text(encoding="utf-8"))
    places = [place for place in _places(whole) if place]
    draw = random.Random(assignment)
    for _ in range(150):
        table = copy.deepcopy(whole)
        place, junk = draw.choice(places), draw.choice(JUNK)
        holder: Any = table
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = junk
        try:
            made = _assignment(_Table("assignment.toml", "", table), "", "")
        except AssignmentError:
            continue
        prepare(made, name="student", seed=1)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _places(one, (*place, key))


def test_nothing_is_overwritten(folder: Path) -> None:
    with pytest.raises(AssignmentError, match="is there already"):
        new_assignment(folder)
    with pytest.raises(AssignmentError, match="is no name for an assignment"):
        new_assignment(folder.parent / "4 you")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('function = "attend"\ntitle', 'function = "atend"\ntitle', "`function` is 'atend'; `[targets]` has attend"),
        ('result = "weights"', 'result = "wights"', "`result` is 'wights'; the contract has context, weights"),
        ('property = "shapes"', 'property = "shape"', "did you mean `shapes`?"),
        ('draw = "batch", dtype', 'draw = "bach", dtype', "there is no `[draws.bach]`"),
        ("T_enc = 3, d = 2}, {B", "T_enc = 3}, {B", "lacks d"),
        ('wrt = ["query", "memory"]', 'wrt = ["queries"]', "`wrt` must be a list of float arguments"),
        ('dtype = "float64"\nwrt', 'dtype = "float32"\nwrt', '`gradients` needs `dtype = "float64"`'),
        ("query: B d, memory", "query B d, memory", "`contract`: an argument is"),
        ("[targets]\nattend", "[targets]\nattent", "`function` is 'attend'"),
    ],
)
def test_mistakes_in_the_file_are_named(folder: Path, old: str, new: str, says: str) -> None:
    file = folder / "assignment.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(AssignmentError) as raised:
        load(folder)
    assert says in str(raised.value)
