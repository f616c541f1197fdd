"""The bar of long runs: for eyes at a terminal, and nothing of it stays."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys

import pytest

from shapedoc.cli.progress import progress, wanted
from tests.cli.project import RIGHT, Project


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class _Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _screen(written: str) -> str:
    """What a terminal shows at the end of one line."""
    line = ""
    for part in written.split("\r"):
        line = part + line[len(part) :]
    return line.rstrip()


def test_a_long_run_is_drawn_and_gone_at_the_end() -> None:
    terminal, clock = _Terminal(), _Clock()
    with progress(terminal, {"TERM": "xterm"}, clock) as told:
        told(1, 40)
        assert terminal.getvalue() == ""
        clock.now = 1.0
        told(10, 40)
        assert _screen(terminal.getvalue()) == "[#######-----------------------] 10 of 40 files"
        told(11, 40)
        assert "11" not in terminal.getvalue()
        clock.now = 1.2
        told(40, 40)
        assert _screen(terminal.getvalue()) == "[##############################] 40 of 40 files"
    assert _screen(terminal.getvalue()) == ""


def test_it_is_gone_after_a_failure_too() -> None:
    terminal, clock = _Terminal(), _Clock()

    def interrupted() -> None:
        with progress(terminal, {}, clock) as told:
            clock.now = 1.0
            told(10, 40)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "10 of 40" in terminal.getvalue()
    assert _screen(terminal.getvalue()) == ""


def test_a_line_is_never_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    terminal, clock = _Terminal(), _Clock()
    with progress(terminal, {}, clock) as told:
        clock.now = 1.0
        told(10, 40)
        assert len(_screen(terminal.getvalue())) == 19


@pytest.mark.parametrize(
    ("is_terminal", "environment", "expected"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"NO_COLOR": "1"}, True),
        (False, {}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"CI": "true"}, False),
    ],
)
def test_who_sees_it(is_terminal: bool, environment: dict[str, str], expected: bool) -> None:
    assert wanted(is_terminal, environment) is expected


def test_a_run_tells_its_progress_to_a_terminal_and_nothing_to_a_pipe(project: Project) -> None:
    for number in range(3):
        project.write(f"a{number}.py", RIGHT)
    code = "from shapedoc.cli import main, progress as p; p._AFTER_S = 0; main(['lint', '--no-cache'])"
    command = [sys.executable, "-c", code]
    variables = {**{k: v for k, v in os.environ.items() if k != "CI"}, "TERM": "xterm"}
    master, slave = pty.openpty()
    ran = subprocess.run(command, cwd=project.folder, env=variables, stdout=subprocess.PIPE, stderr=slave, text=True)
    os.close(slave)
    drawn = os.read(master, 10_000).decode()
    os.close(master)
    assert ran.stdout == "no faults found in 3 files\n"
    assert "of 3 files" in drawn
    assert _screen(drawn) == ""
    piped = subprocess.run(command, cwd=project.folder, env=variables, capture_output=True, text=True)
    assert (piped.stdout, piped.stderr) == (ran.stdout, "")


def test_a_rate_counts_what_this_run_has_done() -> None:
    terminal, clock = _Terminal(), _Clock()
    with progress(terminal, {}, clock, unit="submissions", rate=True) as told:
        told(100, 600)
        clock.now = 2.0
        told(100, 600)
        assert _screen(terminal.getvalue()).endswith("] 100 of 600 submissions")
        clock.now = 4.0
        told(180, 600)
        assert _screen(terminal.getvalue()).endswith("] 180 of 600 submissions, 1,200 a minute, 21 s l")
        clock.now = 1004.0
        told(200, 60_000)
        assert "] 200 of 60000 submissions, 6 a minute, 166 h 47" in _screen(terminal.getvalue())
