"""Where an export is written, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shapedoc.grade.exports import FORMATS, ExportError, export
from tests.grade.samples import CLASS, FAILED, HOSTILE


def test_every_format_of_the_folder_is_there() -> None:
    assert FORMATS == ("canvas", "gradescope", "json", "junit", "moodle", "nbgrader", "otter", "prairielearn", "sarif")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_beside_the_reports(name: str, tmp_path: Path) -> None:
    made = export([*CLASS, *HOSTILE], name, tmp_path / "out")
    assert made
    for path in made:
        assert path.is_relative_to(tmp_path / "out" / "exports")
        path.read_text(encoding="utf-8")
    assert sorted(p for p in tmp_path.rglob("*") if p.is_file()) == sorted(made)
    before = [path.read_bytes() for path in made]
    assert [path.read_bytes() for path in export([*CLASS, *HOSTILE], name, tmp_path / "out")] == before


def test_one_submission_goes_to_the_very_file(tmp_path: Path) -> None:
    path = tmp_path / "results" / "results.json"
    assert export([FAILED], f"gradescope:{path}") == [path]
    assert json.loads(path.read_text())["score"] == 2.5


def test_many_submissions_go_to_a_folder(tmp_path: Path) -> None:
    made = export(CLASS[:2], f"gradescope:{tmp_path / 'gs'}")
    assert [str(path.relative_to(tmp_path)) for path in made] == [
        "gs/li_wei/results.json",
        "gs/o_hara_anne/results.json",
    ]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ExportError, match="no export is called `gradscope`; there are: canvas, gradescope"):
        export(CLASS, "gradscope")
    with pytest.raises(ExportError, match="Name its file, as in `otter:PATH`"):
        export(CLASS, "otter")
    with pytest.raises(ExportError, match=r"there are 3: .*results\.json must be a folder"):
        export(CLASS, f"gradescope:{tmp_path / 'results.json'}")
    with pytest.raises(ExportError, match="cannot write"):
        export(CLASS, f"otter:{tmp_path / 'folder.csv'}")
    with pytest.raises(ExportError, match="cannot write"):
        export(CLASS, f"otter:{tmp_path / 'file' / 'a.csv'}")
    with pytest.raises(ExportError, match=r"none\.csv: No such file"):
        export(CLASS, "otter", tmp_path, roster=tmp_path / "none.csv")
