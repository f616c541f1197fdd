"""The command: what it prints and writes, what it refuses, and what a kill leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shapedoc.grade.assignment import SHIPPED
from shapedoc.grade.jail.client import sandbox_problem

ROOT = Path(__file__).resolve().parents[2]
RIGHT = (SHIPPED / "masked-softmax" / "reference.py").read_text(encoding="utf-8")
WRONG = "import torch\ndef masked_softmax(scores, lengths):\n    return torch.softmax(scores, -1)\n"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture(autouse=True)
def _needs_sandbox() -> None:
    if (problem := sandbox_problem()) is not None:
        pytest.skip(problem)


def _command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "shapedoc", "grade", *map(str, arguments)]


def _grade(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(_command(*arguments), capture_output=True, text=True, env=ENVIRONMENT, check=False)


def _class(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"s{number:03}.py").write_text(f"# {number}\n{WRONG if number % 3 else RIGHT}")
    return folder


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_one_class_with_everything_wrong_in_it(tmp_path: Path) -> None:
    folder = _class(tmp_path / "class", 2)
    (folder / "empty.py").write_text("")
    (folder / "misnamed.py").write_text("def masked_softmx(scores, lengths): pass\n")
    (folder / "loop.py").write_text("def masked_softmax(scores, lengths):\n    import os\n    os.fork()\n")
    done = _grade("masked-softmax", folder, "--out", tmp_path / "out", "--no-lint")
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert done.returncode == 1, done.stderr
    assert lines["s000"].split()[1:] == ["20/20", "passed"]
    assert lines["s001"].endswith("failed")
    assert "not_gradable  the submission is empty" in lines["empty"]
    assert "you defined `masked_softmx`, and `masked_softmax` is asked for: rename it" in lines["misnamed"]
    assert lines["loop"].split()[1:3] == ["0/20", "blocked"]
    assert lines["5"] == "5 submissions: 2 not_gradable, 1 blocked, 1 passed, 1 failed"
    assert {"class.html", "results.json", "s000.html", "s000.md"} <= set(_files(tmp_path / "out"))


@pytest.mark.full
def test_killed_anywhere_and_resumed_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    folder = _class(tmp_path / "class", 60)
    (tmp_path / "whole").mkdir()
    whole = _grade("masked-softmax", folder, "--out", tmp_path / "whole", "--seed", 5, "--no-lint", "--jobs", 2)
    assert whole.returncode == 1, whole.stderr
    journal = tmp_path / "run.jsonl"
    arguments = ("masked-softmax", folder, "--seed", 5, "--no-lint", "--journal", journal, "--resume", "--jobs", 2)
    for wanted in (5, 23, 41):
        with subprocess.Popen(
            _command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT
        ) as process:
            while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") <= wanted):
                time.sleep(0.005)
            assert process.poll() is None
            process.send_signal(signal.SIGKILL)
        with journal.open("ab") as torn:
            torn.write(b'{"key": "torn')
    resumed = _grade(*arguments, "--out", tmp_path / "resumed")
    assert "submissions stand in" in resumed.stderr
    assert resumed.stdout == whole.stdout.replace("whole", "resumed")
    assert _files(tmp_path / "resumed") == _files(tmp_path / "whole")
    keys = [json.loads(line)["key"] for line in journal.read_text().splitlines()[1:]]
    assert len(keys) == len(set(keys)) == 60


def test_what_cannot_be_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(WRONG)
    for arguments, said in (
        ((), "which assignment? A folder with an assignment.toml, or one of copy-task,"),
        (("masked-softmax",), "which submissions?"),
        (("masked-softmx", tmp_path / "a.py"), "did you mean `masked-softmax`?"),
        (("masked-softmax", tmp_path / "b.py"), "b.py: there is no such file or folder"),
        (("masked-softmax", tmp_path / "a.py", "--resume"), "`--resume` needs `--journal FILE`"),
        (("masked-softmax", tmp_path / "a.py", "--export", "gradscope"), "did you mean `gradescope`?"),
        (("masked-softmax", tmp_path / "a.py", "--export", "json"), "where is the export to be written?"),
        (("masked-softmax", tmp_path / "a.py", "--journal", tmp_path / "a.py"), "this is no journal"),
        (("masked-softmax", tmp_path / "a.py", "--scheduler", "host:1"), "it begins with tcp:// or tls://"),
    ):
        done = _grade(*arguments)
        assert done.returncode == 2, arguments
        assert said in done.stderr
        assert "Traceback" not in done.stderr
