"""``shapedoc lint --watch``, as a process whose files change under it."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.cli.project import RIGHT, WRONG, Project

_PATIENCE_S = 60


class _Watch:
    """A running watch, and the lines that it prints as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))

    def until(self, end: str) -> list[str]:
        """The lines up to one that starts with `end`."""
        lines = [self._lines.get(timeout=_PATIENCE_S)]
        while not lines[-1].startswith(end):
            lines.append(self._lines.get(timeout=_PATIENCE_S))
        return lines

    def interrupt(self) -> int:
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(timeout=_PATIENCE_S)


def _heed_interrupts() -> None:
    """What is started in the background of a shell ignores interrupts, and so does all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def _watching(project: Project, *arguments: str) -> Iterator[_Watch]:
    command = [sys.executable, "-m", "shapedoc", "lint", "--watch", "--output-format", "concise", *arguments]
    with subprocess.Popen(
        command,
        cwd=project.folder,
        env={**os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=_heed_interrupts,
    ) as process:
        try:
            yield _Watch(process)
        finally:
            process.kill()


def test_every_change_is_linted_and_an_interrupt_ends_with_the_last_code(project: Project) -> None:
    project.write("a.py", RIGHT)
    with _watching(project) as watch:
        assert watch.until("watching") == ["no faults found in 1 file", "watching for changes; Ctrl-C ends"]
        project.write("a.py", WRONG)
        assert watch.until("watching")[0].startswith("a.py:6:10: error[SD101]")
        project.write("b.py", RIGHT)
        assert watch.until("watching")[-2:] == ["found 1 error in 2 files", "watching for changes; Ctrl-C ends"]
        project.write("pyproject.toml", "[tool.shapedoc]\nignore = [3]\n")
        assert "`ignore` must be a list of strings" in watch.until("watching")[0]
        project.write("pyproject.toml", '[tool.shapedoc]\nignore = ["SD4"]\n')
        assert watch.until("watching")[-2] == "found 1 error in 2 files"
        assert watch.interrupt() == 1


def test_what_cannot_be_run_is_not_watched(project: Project) -> None:
    for arguments, message in (
        (("--watch", "nowhere.py"), "nowhere.py: no such file or folder"),
        (("--watch", "-"), "`--watch` waits for files to change, and standard input is none"),
        (("--watch", "--add-ignores"), "`--watch` cannot go together with `--add-ignores`"),
    ):
        ran = project.run("lint", *arguments)
        assert ran.returncode == 2
        assert ran.stderr.rstrip("\n").endswith(message)
