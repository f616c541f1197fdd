"""``--add-ignores``: comments where they count, files that stay what they are otherwise."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

import pytest

from shapedoc.config import Config
from shapedoc.engine import Request, run
from shapedoc.engine.ignoring import Ignored, add_ignores
from shapedoc.source.write import replace_file
from tests.cli.project import BROKEN, WRONG

_SETUP = WRONG.rpartition("scores")[0]
_BROKEN_FIXTURES = Path(__file__).parents[2] / "fixtures" / "broken"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _request(*ignore: str) -> Request:
    return Request((Path(),), Config(ignore=ignore), cache=False)


def _add(text: str, *ignore: str) -> tuple[str, Ignored]:
    Path("a.py").write_bytes(text.encode())
    done = add_ignores(_request(*ignore))
    return Path("a.py").read_bytes().decode(), done


@pytest.mark.parametrize(
    ("written", "silenced"),
    [
        ("a = query @ memory", "a = query @ memory  # shapedoc: ignore[SD101]"),
        ("a = query @ memory  \t", "a = query @ memory  # shapedoc: ignore[SD101]"),
        ("a = query @ memory\r\nb = 1\r\n", "a = query @ memory  # shapedoc: ignore[SD101]\r\nb = 1\r\n"),
        ("a = query @ \\\n    memory\n", "a = query @ \\\n    memory  # shapedoc: ignore[SD101]\n"),
        ("a = query \\\n@ memory; b = '''\n'''\n", "a = query \\\n@ memory; b = '''\n'''  # shapedoc: ignore[SD101]\n"),
        ("a = f('''\n''', query @ memory)\n", "a = f('''\n''', query @ memory)  # shapedoc: ignore[SD101]\n"),
        (
            "a = f(query @ memory, f'''\n{d}\n''')\n",
            "a = f(query @ memory, f'''\n{d}\n''')  # shapedoc: ignore[SD101]\n",
        ),
        ("a = (\n  query\n  @ memory\n)\n", "a = (\n  query  # shapedoc: ignore[SD101]\n  @ memory\n)\n"),
        ("if query @ memory:\n  b = 1\n", "if query @ memory:  # shapedoc: ignore[SD101]\n  b = 1\n"),
        ("a = query @ memory  # (B, T)\n", "a = query @ memory  # (B, T)  # shapedoc: ignore[SD101]\n"),
        ("a = query @ memory  # noqa: E501\n", "a = query @ memory  # noqa: E501  # shapedoc: ignore[SD101]\n"),
        ("a = query @ memory  # a \\\n", "a = query @ memory  # a \\  # shapedoc: ignore[SD101]\n"),
        ("a = query @ memory  # shapedoc: ignore[SD401]\n", "a = query @ memory  # shapedoc: ignore[SD401, SD101]\n"),
        (
            "a = query @ memory  # shapedoc: ignore[SD401, ] x\n",
            "a = query @ memory  # shapedoc: ignore[SD401, SD101] x\n",
        ),
        ("a = query @ memory  # shapedoc: ignore[]\n", "a = query @ memory  # shapedoc: ignore[SD101]\n"),
        (
            "a = (query @  # shapedoc: ignore[SD401]\n  memory)\n",
            "a = (query @  # shapedoc: ignore[SD401, SD101]\n  memory)\n",
        ),
        (
            "s = '# shapedoc: ignore[]'; a = query @ memory\n",
            "s = '# shapedoc: ignore[]'; a = query @ memory  # shapedoc: ignore[SD101]\n",
        ),
    ],
)
def test_a_comment_is_put_where_it_counts(written: str, silenced: str) -> None:
    text, done = _add(_SETUP + written)
    assert text == _SETUP + silenced
    assert [added.codes for added in done.added] == [("SD101",)]
    again, nothing = _add(text)
    assert (again, nothing.added) == (text, [])


def test_findings_of_one_line_share_a_comment_and_every_line_is_told() -> None:
    text, done = _add(f"{_SETUP}a = [query @ memory, query @ memory]\nb = query @ memory\n")
    assert text.count("shapedoc: ignore[SD101]") == 2
    assert [(added.path, added.span.line) for added in done.added] == [("a.py", 6), ("a.py", 7)]


def test_what_is_not_told_is_not_silenced() -> None:
    assert _add(WRONG, "SD101")[0] == WRONG


def test_a_file_that_does_not_parse_is_left_and_named() -> None:
    text, done = _add(BROKEN)
    assert text == BROKEN
    assert [finding.code for finding in done.left] == ["SD901"]


def test_an_unused_comment_is_left_and_named() -> None:
    text, done = _add("import torch  # shapedoc: ignore[SD101]\n")
    assert text == "import torch  # shapedoc: ignore[SD101]\n"
    assert [finding.code for finding in done.left] == ["SD902"]


def test_every_call_that_reaches_a_fault_is_silenced() -> None:
    Path("lib.py").write_text("import torch\n\n\ndef score(q, k):\n    return q @ k\n")
    for name in ("one.py", "two.py"):
        Path(name).write_text(f"from lib import score\n{_SETUP}out = score(query, memory)\n")
    done = add_ignores(_request())
    assert [added.path for added in done.added] == ["one.py", "two.py"]
    assert run(_request()).findings == []


def test_the_cell_of_a_notebook_is_changed_and_nothing_else() -> None:
    cells = [
        {"cell_type": "code", "source": [f"{line}\n" for line in WRONG.splitlines()], "outputs": [{"text": "\x1b"}]}
    ]
    written = json.dumps({"metadata": {}, "cells": cells}, indent=3)
    Path("a.ipynb").write_text(written)
    assert len(add_ignores(_request()).added) == 1
    assert Path("a.ipynb").read_text() == written.replace("query @ memory", "query @ memory  # shapedoc: ignore[SD101]")


def test_a_file_that_changes_meanwhile_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(path: Path, before: bytes, after: bytes) -> object:
        path.write_text("x = 1\n")
        return replace_file(path, before, after)

    monkeypatch.setattr("shapedoc.engine.ignoring.replace_file", late)
    text, done = _add(WRONG)
    assert text == "x = 1\n"
    assert [error.message for error in done.errors] == ["has changed meanwhile and was left as it is"]


def _silence_fixtures(here: Path, names: list[str]) -> None:
    for name in names:
        shutil.copy(_BROKEN_FIXTURES / name, here / name)
    trees = {name: ast.dump(ast.parse((here / name).read_text())) for name in names}
    done = add_ignores(_request())
    assert done.added
    assert [finding for finding in run(_request()).findings if finding.code != "SD902"] == []
    assert {name: ast.dump(ast.parse((here / name).read_text())) for name in names} == trees


def test_some_broken_fixtures_are_silent_afterwards(here: Path) -> None:
    _silence_fixtures(here, sorted(path.name for path in _BROKEN_FIXTURES.glob("sd[12]0*.py"))[::8])


@pytest.mark.full
def test_all_broken_fixtures_are_silent_afterwards(here: Path) -> None:
    # What does not parse cannot be compared by its tree.
    names = sorted(path.name for path in _BROKEN_FIXTURES.glob("*.py") if not path.name.startswith("sd901"))
    _silence_fixtures(here, names)
