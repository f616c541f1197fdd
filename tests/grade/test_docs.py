"""The page about grading names all that an assignment may name."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from shapedoc.grade.assignment import load, shipped
from shapedoc.grade.oracles import ORACLES
from shapedoc.grade.properties import properties
from shapedoc.grade.properties.asking import FunctionProperty

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "grade.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*properties(), *ORACLES, *shipped()])
def test_a_name_stands_on_the_page(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_parameters_stand_on_the_page() -> None:
    for one in properties().values():
        keys = one.keys if isinstance(one, FunctionProperty) else getattr(one, "keys", frozenset())
        assert all(f"`{key}`" in PAGE for key in keys), one.name


def test_the_example_can_be_read(tmp_path: Path) -> None:
    blocks = [part.split("```")[0] for part in PAGE.split("```toml\n")[1:]]
    tomllib.loads(blocks[1])
    (tmp_path / "assignment.toml").write_text(blocks[0], encoding="utf-8")
    (tmp_path / "reference.py").write_text("def attend(query, memory, lengths): ...\n", encoding="utf-8")
    assert [item.id for item in load(tmp_path).items] == ["weights"]
