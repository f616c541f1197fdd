"""The worked example of the documentation, run as it is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shapedoc.grade.jail.client import sandbox_problem

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]


def test_every_command_prints_what_the_page_says(tmp_path: Path) -> None:
    if why := sandbox_problem():
        print(f"SKIPPED: the worked example: {why}")
        pytest.skip(why)
    page = (ROOT / "docs" / "grade-exports.md").read_text(encoding="utf-8")
    example = page.partition("## A worked example\n")[2].partition("\n## Reports\n")[0]
    files = re.findall(r"`([\w/.-]+)` [^`]*?:\n\n```(?:python|csv)\n(.*?)```", example, re.DOTALL)
    assert [name for name, _ in files] == ["handed-in/li_wei.py", "handed-in/anne.py", "students.csv"]
    for name, text in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (console,) = re.findall(r"```console\n(.*?)```", example, re.DOTALL)
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", console, re.MULTILINE)
    assert len(commands) == 3
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for command, printed in commands:
        run = command.replace("shapedoc", f"{sys.executable} -m shapedoc", 1)
        done = subprocess.run(
            run, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.stdout == printed, done.stderr
