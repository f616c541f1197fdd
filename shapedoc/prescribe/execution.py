"""A test run in a process of its own, with limits: the code is the user's, and the tool itself never imports it.

A server process that holds nothing but the libraries forks a child for each run, so that torch is imported once. Where
a system cannot fork, each run starts a fresh interpreter.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

__all__ = ["MEMORY_BYTES", "TIMEOUT_S", "Ran", "Verdict", "run_program", "run_test", "verdict"]

TIMEOUT_S = 120
MEMORY_BYTES = 16 * 2**30

_SERVER = Path(__file__).with_name("server.py")

_RUNNER = """
try:
    exec(compile(SOURCE, PLACE, "exec"), globals())
    tests = [value for name, value in list(globals().items()) if name.startswith("test") and callable(value)]
except Exception as problem:
    print("collect", type(problem).__name__, problem, file=sys.stderr)
    raise SystemExit(3)
if not tests:
    print("collect there is no test function", file=sys.stderr)
    raise SystemExit(3)
try:
    for test in tests:
        test()
except ImportError as problem:
    print("import", problem, file=sys.stderr)
    raise SystemExit(4)
except BaseException as problem:
    print("failed", type(problem).__name__, str(problem).partition("\\n")[0], file=sys.stderr)
    raise SystemExit(1)
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


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended: its exit code (None: it ran out of time), and what it wrote."""

    code: int | None
    output: str
    errors: str


def run_test(test: str, path: str, text: str, *, timeout_s: int = TIMEOUT_S, memory_bytes: int = MEMORY_BYTES) -> Ran:
    """Run a test module against a text of the file at `path`, in a child process; its neighbours can be imported."""
    source = f"SOURCE = {test!r}\nPLACE = __file__\n__name__ = 'shapedoc_test'\nimport sys\n{_RUNNER}"
    try:
        ended = run_program(source, path, text, timeout_s=timeout_s, memory_bytes=memory_bytes, written=test)
    except OSError as problem:
        return Ran("broken", f"no process could be started: {problem.strerror}")
    if ended.code is None:
        return Ran("broken", f"it ran for more than {timeout_s} seconds")
    last = (ended.errors.strip().splitlines() or [""])[-1]
    if ended.code == 0:
        return Ran("passed")
    if ended.code == 1 and last.startswith("failed "):
        return Ran("failed", last.removeprefix("failed ").strip())
    known = last.startswith(("collect ", "import "))
    return Ran("broken", last.partition(" ")[2] if known else f"the process ended with {ended.code}")


def run_program(
    source: str,
    path: str,
    text: str,
    *,
    timeout_s: int = TIMEOUT_S,
    memory_bytes: int = MEMORY_BYTES,
    written: str = "",
) -> Ended:
    """Run a program in a child process that can import a text of the file at `path` under the file's name.

    written: what stands in the file that the program is run as, for those that read their own text. Raises OSError
    where no process can be started.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / Path(path).name).write_text(text, encoding="utf-8")
        place = Path(folder) / "test_written_by_shapedoc.py"
        place.write_text(written, encoding="utf-8")
        request = {
            "folder": folder,
            "place": str(place),
            "source": source,
            "neighbours": str(Path(path).resolve().parent),
            "timeout_s": timeout_s,
            "memory_bytes": memory_bytes,
            "libraries": [name for name in ("numpy", "torch") if name in written + text],
        }
        return _ask(request)


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


# -- the server


@cache
def _server() -> subprocess.Popen[str]:
    kept = ("PATH", "HOME", "LANG", "SYSTEMROOT", "TMPDIR")
    environment = {key: value for key, value in os.environ.items() if key in kept}
    process = subprocess.Popen(
        [sys.executable, str(_SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env={**environment, "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"},
    )
    atexit.register(_stop, process)
    return process


def _stop(process: subprocess.Popen[str]) -> None:
    """Let the server go; it ends when nothing more can come."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.wait()


def _ask(request: dict[str, object]) -> Ended:
    process = _server()
    if process.stdin is None or process.stdout is None:
        raise OSError(0, "it has no pipe")
    try:
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except BrokenPipeError:
        answer = ""
    if not answer:
        _server.cache_clear()
        raise OSError(0, "the process that runs tests has ended")
    told = json.loads(answer)
    return Ended(told["code"], told["output"], told["errors"])
