"""A test run in a process of its own, with limits: the code is the user's, and the tool itself never imports it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["MEMORY_BYTES", "TIMEOUT_S", "Ran", "Verdict", "run_test", "verdict"]

TIMEOUT_S = 120
MEMORY_BYTES = 16 * 2**30

_RUNNER = """
import sys, traceback
sys.path.insert(0, sys.argv[1])
names = {"__name__": "shapedoc_test", "__file__": sys.argv[2]}
source = open(sys.argv[2], encoding="utf-8").read()
if "torch" in source:
    try:
        import torch
        torch.set_num_threads(1)
    except ImportError:
        pass
try:
    exec(compile(source, sys.argv[2], "exec"), names)
    tests = [value for name, value in list(names.items()) if name.startswith("test") and callable(value)]
except Exception as problem:
    print("collect", type(problem).__name__, problem, file=sys.stderr)
    sys.exit(3)
if not tests:
    print("collect there is no test function", file=sys.stderr)
    sys.exit(3)
try:
    for test in tests:
        test()
except ImportError as problem:
    print("import", problem, file=sys.stderr)
    sys.exit(4)
except BaseException as problem:
    print("failed", type(problem).__name__, str(problem).partition("\\n")[0], file=sys.stderr)
    sys.exit(1)
"""

Outcome = Literal["passed", "failed", "broken"]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a test ended: it passed, it failed, or it could not be run; and the words for it."""

    outcome: Outcome
    words: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What two runs of a test, before and after the fix, prove."""

    holds: bool
    words: str


def run_test(test: str, path: str, text: str, *, timeout_s: int = TIMEOUT_S, memory_bytes: int = MEMORY_BYTES) -> Ran:
    """Run a test module against a text of the file at `path`, in a child process; its neighbours can be imported."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / Path(path).name).write_text(text, encoding="utf-8")
        place = Path(folder) / "test_written_by_shapedoc.py"
        place.write_text(test, encoding="utf-8")
        command = [sys.executable, "-c", f"import sys\n{_RUNNER}", folder, str(place)]
        environment = {"PYTHONPATH": str(Path(path).resolve().parent), "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg"}
        try:
            ran = subprocess.run(
                command,
                cwd=folder,
                env={**_inherited(), **environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                preexec_fn=_limits(memory_bytes, timeout_s),
            )
        except subprocess.TimeoutExpired:
            return Ran("broken", f"it ran for more than {timeout_s} seconds")
        except OSError as problem:
            return Ran("broken", f"no process could be started: {problem.strerror}")
    last = (ran.stderr.strip().splitlines() or [""])[-1]
    if ran.returncode == 0:
        return Ran("passed")
    if ran.returncode == 1:
        return Ran("failed", last.removeprefix("failed ").strip())
    return Ran("broken", last.partition(" ")[2] or f"the process ended with {ran.returncode}")


def _inherited() -> dict[str, str]:
    import os

    return {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "SYSTEMROOT", "TMPDIR")}


def _limits(memory_bytes: int, seconds: int) -> Callable[[], None] | None:
    """What sets the limits in the child before it runs anything; nothing where the system has no such limits."""
    try:
        import resource
    except ImportError:
        return None

    def set_limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return set_limits


def verdict(test: str, path: str, before: str, after: str | None) -> Verdict:
    """Run a test before and after a fix: it must fail and then pass."""
    first = run_test(test, path, before)
    if first.outcome == "broken":
        return Verdict(False, f"not verified: the test could not be run: {first.words}")
    if first.outcome == "passed":
        return Verdict(False, "not verified: the test passes on the code as it is")
    if after is None:
        return Verdict(False, f"the test fails on the code as it is ({first.words}); there is no fix to try it on")
    second = run_test(test, path, after)
    if second.outcome != "passed":
        return Verdict(False, f"not verified: the test does not pass after the fix: {second.words}")
    return Verdict(True, f"verified: executed; before the fix: {first.words or 'the test fails'}")
