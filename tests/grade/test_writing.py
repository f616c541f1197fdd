"""The folder of reports: all files, the same bytes again, and a clear error where it cannot be written."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from shapedoc.grade.writing import ExportError, write_reports
from tests.grade.samples import CLASS, HOSTILE


def test_every_submission_has_its_pages_and_the_class_links_them(tmp_path: Path) -> None:
    results = [*CLASS, *HOSTILE]
    made = write_reports(results, tmp_path / "a" / "out")
    assert sorted(made) == sorted((tmp_path / "a" / "out").iterdir())
    assert len(made) == 2 * len(results) + 2
    page = (tmp_path / "a" / "out" / "class.html").read_text(encoding="utf-8")
    links = set(re.findall(r'href="([^"]+)"', page))
    assert len(links) == len(results)
    assert all((tmp_path / "a" / "out" / unquote(link)).is_file() for link in links)
    told = json.loads((tmp_path / "a" / "out" / "results.json").read_text(encoding="utf-8"))
    assert len(told["results"]) == len(results)


def test_the_same_results_give_the_same_bytes_whatever_time_they_took(tmp_path: Path) -> None:
    first = write_reports(CLASS, tmp_path / "one")
    second = write_reports([replace(r, execution_time_s=7.5) for r in CLASS], tmp_path / "two")
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match=r"cannot write .*file"):
        write_reports(CLASS, tmp_path / "file")
