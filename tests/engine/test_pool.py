"""Many files in several processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapedoc.engine import pool
from shapedoc.engine.examine import Examined, Pending, Task
from shapedoc.engine.pool import _chunks, examine_all
from shapedoc.engine.request import Settings

_PENDING = st.lists(st.builds(Pending, st.just("a.py"), st.text("x", max_size=30)), max_size=20)


@given(_PENDING, st.integers(0, 100))
def test_chunks_hold_every_file_once_and_in_order(pending: list[Pending], size: int) -> None:
    chunks = _chunks(pending, size)
    assert [one for chunk in chunks for one in chunk] == pending
    for chunk in chunks:
        assert chunk
        assert sum(len(one.text) for one in chunk[:-1]) < max(1, size)


def dies(*_: object) -> list[Examined]:
    os._exit(1)


def test_a_process_that_dies_costs_only_what_it_had_in_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_examine_chunk", dies)
    pending = [Pending("a.py", ""), Pending("b.py", "")]
    results = list(pool._in_processes([pending], Settings(), None, 1))
    assert [(one.path, one.error is not None) for one in results] == [("a.py", True), ("b.py", True)]
    assert results[0].error is not None
    assert results[0].error.message == (
        "internal error: a process ended before it could say anything of this file; try it with --jobs 1"
    )


def test_results_stand_in_the_order_of_the_files_whatever_needs_analysis(tmp_path: Path) -> None:
    texts = {"a.py": "x = 1\n", "b.py": "import torch\n", "c.py": "import torch\nx = (\n", "d.py": "\0"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    tasks = [Task(str(tmp_path / name)) for name in [*texts, "none.py"]]
    examined = examine_all(tasks, Settings(), tmp_path / "cache", 1)
    assert [one.path for one in examined] == [task.path for task in tasks]
    assert [one.analysed for one in examined] == [False, True, True, False, False]
    assert [[finding.code for finding in one.findings] for one in examined] == [[], [], ["SD901"], [], []]
    assert [one.error.message if one.error else "" for one in examined] == [
        "",
        "",
        "",
        "is a binary file (it holds null bytes)",
        "no such file or directory",
    ]
    assert examine_all(tasks, Settings(), tmp_path / "cache", 1) == examined
