"""The journal: nothing is lost, nothing counts twice, wherever a run was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapedoc.grade.journal import Journal, JournalError

MADE_WITH = {"assignment": "a", "seed": 1}


def test_what_was_added_is_there_after_a_resume(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, MADE_WITH, resume=False) as journal:
        journal.add("x", '{"score": 1, "says": "\N{SNOWMAN}"}')
        journal.add("x", '{"score": 2}')
    with Journal(path, MADE_WITH, resume=True) as journal:
        assert journal.done == {"x": '{"says": "\N{SNOWMAN}", "score": 1}'}
        journal.add("y", '{"says": "\ud800"}')
    with Journal(path, MADE_WITH, resume=True) as journal:
        assert list(journal.done) == ["x", "y"]


def test_the_first_of_two_lines_counts(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, MADE_WITH, resume=False):
        pass
    with path.open("a") as file:
        file.write('{"key": "x", "result": {"score": 1}}\n{"key": "x", "result": {"score": 2}}\n')
    with Journal(path, MADE_WITH, resume=True) as journal:
        assert journal.done == {"x": '{"score": 1}'}


@given(st.data())
def test_a_journal_cut_anywhere_goes_on(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("cut") / "run.jsonl"
    with Journal(path, MADE_WITH, resume=False) as journal:
        for key in "abc":
            journal.add(key, '{"score": 1}')
    whole = path.read_bytes()
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    path.write_bytes(cut)
    complete = max(0, cut.count(b"\n") - 1)
    with Journal(path, MADE_WITH, resume=True) as journal:
        assert list(journal.done) == list("abc")[:complete]
        for key in "abc":
            journal.add(key, '{"score": 1}')
    assert path.read_bytes() == whole


def test_a_line_torn_in_the_middle_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, MADE_WITH, resume=False) as journal:
        journal.add("a", "{}")
        journal.add("b", "{}")
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:9] + b"\0\0\xff\n" + third)
    with Journal(path, MADE_WITH, resume=True) as journal:
        assert list(journal.done) == ["b"]


def test_what_cannot_be_continued_says_so(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, MADE_WITH, resume=False) as journal:
        with pytest.raises(JournalError, match="another run is writing"):
            Journal(path, MADE_WITH, resume=True)
        journal.add("a", "{}")
    with pytest.raises(JournalError, match="1 submissions are in it already; --resume continues it"):
        Journal(path, MADE_WITH, resume=False)
    with pytest.raises(JournalError, match="it was made with seed 1, and this run has seed 2"):
        Journal(path, {**MADE_WITH, "seed": 2}, resume=True)
    other = tmp_path / "other.txt"
    other.write_text("print('mine')\n")
    with pytest.raises(JournalError, match="no journal of shapedoc grade"):
        Journal(other, MADE_WITH, resume=True)
    assert other.read_text() == "print('mine')\n"
    other.write_text("no line end")
    with pytest.raises(JournalError, match="no journal of shapedoc grade"):
        Journal(other, MADE_WITH, resume=True)
    assert other.read_text() == "no line end"


def test_a_writer_that_is_killed_leaves_whole_entries(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    program = (
        "import sys; from pathlib import Path; from shapedoc.grade.journal import Journal\n"
        "with Journal(Path(sys.argv[1]), {'seed': 1}, resume=True) as journal:\n"
        "    for number in range(len(journal.done), 10**6):\n"
        "        journal.add(str(number), '{\"words\": \"' + 'a' * 5000 + '\"}'); print(number, flush=True)\n"
    )
    root = str(Path(__file__).resolve().parents[2])
    before = 0
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(path)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": root},
        )
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with Journal(path, {"seed": 1}, resume=True) as journal:
            assert len(journal.done) >= before + len(said)
            assert list(journal.done) == [str(number) for number in range(len(journal.done))]
            before = len(journal.done)
