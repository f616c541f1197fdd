"""How the process of `shapedoc lint` ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# What is told of the end, and what would be given back one by one after it.
_PROCESS = """
import atexit, gc, sys

class Kept:
    def __del__(self):
        print("given back")

kept = Kept()
atexit.register(print, "told of the end")
atexit.register(lambda: print("collecting:", gc.isenabled()))
sys.argv = ["shapedoc", *sys.argv[1:]]
from shapedoc.cli import main
main()
"""


def _process(folder: Path, *arguments: str) -> tuple[int, list[str]]:
    ran = subprocess.run([sys.executable, "-c", _PROCESS, *arguments], cwd=folder, capture_output=True, text=True)
    assert ran.stderr == ""
    return ran.returncode, ran.stdout.splitlines()


@pytest.mark.parametrize(("text", "code"), [("import torch\n", 0), ("import torch\n\nx = (\n", 1)])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_all_is_said_and_nothing_given_back(tmp_path: Path, text: str, code: int, jobs: str) -> None:
    for name in ("first.py", "second.py"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    ended, lines = _process(tmp_path, "lint", "--no-cache", "--jobs", jobs, "--output-format", "concise")
    assert ended == code
    assert lines[-2:] == ["collecting: False", "told of the end"]
    assert lines[-3].endswith("in 2 files")


def test_other_commands_end_as_every_process_does(tmp_path: Path) -> None:
    ended, lines = _process(tmp_path, "--version")
    assert ended == 0
    assert lines[1:] == ["collecting: True", "told of the end", "given back"]
