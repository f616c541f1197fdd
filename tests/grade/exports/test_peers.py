"""Our tables beside those that otter and nbgrader write themselves of the same marks, and read by otter.

The peers live in an environment of their own, since their dependencies are theirs: ``SHAPEDOC_PEERS`` names its Python.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shapedoc.grade.exports import export
from tests.grade.samples import FAILED, PASSED

pytestmark = pytest.mark.full

_HERE = Path(__file__).parent
_RESULTS = [FAILED, replace(PASSED, name="anne.ipynb"), replace(FAILED, name="李伟.py")]


def peers(package: str) -> str:
    """The Python that has a peer, or a skip that says so."""
    python = os.environ.get("SHAPEDOC_PEERS", "")
    why = "SHAPEDOC_PEERS names no Python"
    if python:
        found = subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False)
        if found.returncode == 0:
            return python
        why = f"{python} has no {package}"
    print(f"SKIPPED: the exports read by {package}: {why}")
    pytest.skip(why)


def run(python: str, script: str, *arguments: Path) -> str:
    command = [python, "-W", "ignore", str(_HERE / script), *map(str, arguments)]
    path = f"{Path(python).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # nbgrader calls alembic by its name
    environment = {**os.environ, "PATH": path, "PYTHONPATH": ""}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=arguments[0].parent, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(path: Path) -> list[list[str | float]]:
    """The cells of a table, numbers as numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        return [[_cell(cell) for cell in row] for row in csv.reader(file, strict=True)]


def _cell(cell: str) -> str | float:
    try:
        return round(float(cell), 4)
    except ValueError:
        return cell


def test_otter_reads_our_table_and_writes_the_same(tmp_path: Path) -> None:
    python = peers("otter")
    (table,) = export(_RESULTS, f"otter:{tmp_path / 'ours.csv'}")
    marks: list[dict[str, Any]] = [
        {
            "file": result.name,
            "score": result.score,
            "possible": result.max_score,
            "questions": {item.id: [item.points, item.max_points] for item in result.items},
        }
        for result in _RESULTS
    ]
    (tmp_path / "marks.json").write_text(json.dumps(marks), encoding="utf-8")
    told = json.loads(run(python, "peer_otter.py", table, tmp_path / "marks.json", tmp_path / "theirs.csv"))
    assert told == {"columns": rows(table)[0], "same": True, "rows": 4}
    assert rows(tmp_path / "theirs.csv") == rows(table)


def test_nbgrader_writes_the_same_table(tmp_path: Path) -> None:
    python = peers("nbgrader")
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "id,first_name,last_name,email\nli_wei,Wei,Li,wei@x.edu\nanne,Anne,O'Hara,anne@x.edu\n李伟,伟,李,w@x.edu\n",
        encoding="utf-8",
    )
    (table,) = export(_RESULTS, f"nbgrader:{tmp_path / 'ours.csv'}", roster=roster)
    students = [
        {"id": "li_wei", "first_name": "Wei", "last_name": "Li", "email": "wei@x.edu", "score": 2.5},
        {"id": "anne", "first_name": "Anne", "last_name": "O'Hara", "email": "anne@x.edu", "score": 9},
        {"id": "李伟", "first_name": "伟", "last_name": "李", "email": "w@x.edu", "score": 2.5},
    ]
    marks = {"assignment": "masked-softmax", "possible": 9, "students": students}
    (tmp_path / "marks.json").write_text(json.dumps(marks), encoding="utf-8")
    run(python, "peer_nbgrader.py", tmp_path / "marks.json", tmp_path / "theirs.csv")
    theirs, ours = rows(tmp_path / "theirs.csv"), rows(table)
    assert theirs[0] == ours[0]
    assert sorted(map(str, theirs[1:])) == sorted(map(str, ours[1:]))
