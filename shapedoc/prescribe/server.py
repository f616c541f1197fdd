"""Runs programs one after the other, each in a child of its own; a script, started by `execution` and never imported.

A request is one line of JSON on standard input, an answer one line on standard output. This process imports the
libraries that the programs need and never the programs themselves.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

_KEPT = 100_000


def main() -> None:
    """Answer requests until standard input is closed."""
    for line in sys.stdin:
        request = json.loads(line)
        code, output, errors = _run(request) if hasattr(os, "fork") else _start(request)
        print(json.dumps({"code": code, "output": output, "errors": errors}), flush=True)


def _run(request: dict[str, Any]) -> tuple[int | None, str, str]:
    for name in request["libraries"]:
        with contextlib.suppress(ImportError):
            library = import_module(name)
            if name == "torch":
                library.set_num_threads(1)
    folder = Path(request["folder"])
    streams = [folder / "stdout.txt", folder / "stderr.txt"]
    child = os.fork()
    if child == 0:
        _child(request, streams)
    code = _wait(child, request["timeout_s"])
    return code, _text(streams[0]), _text(streams[1])


def _text(place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8", errors="replace")[-_KEPT:]
    except OSError:
        return ""


def _child(request: dict[str, Any], streams: list[Path]) -> None:
    code = 70
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        for number, place in enumerate(streams, start=1):
            os.dup2(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        os.chdir(request["folder"])
        sys.path[:] = [request["folder"], *sys.path[1:], request["neighbours"]]
        sys.argv = [request["place"]]
        _limit(request["memory_bytes"], request["timeout_s"])
        code = _execute(request)
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _execute(request: dict[str, Any]) -> int:
    names = {"__name__": "__main__", "__file__": request["place"]}
    try:
        exec(compile(request["source"], request["place"], "exec"), names)
    except SystemExit as problem:
        return problem.code if isinstance(problem.code, int) else int(problem.code is not None)
    except BaseException as problem:
        print("raised", type(problem).__name__, str(problem).partition("\n")[0], file=sys.stderr)
        return 2
    return 0


def _limit(memory_bytes: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _wait(child: int, timeout_s: float) -> int | None:
    """The exit code of a child; None where it had to be stopped."""
    until, pause = time.monotonic() + timeout_s, 0.002
    code: int | None = None
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            break
        if time.monotonic() > until:
            break
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    if code is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return code


def _start(request: dict[str, Any]) -> tuple[int | None, str, str]:
    """The same in a fresh interpreter, where a process cannot fork."""
    place = Path(request["folder"]) / "program_of_shapedoc.py"
    place.write_text(f"__file__ = {request['place']!r}\n{request['source']}", encoding="utf-8")
    path = os.pathsep.join((request["folder"], request["neighbours"]))
    try:
        ran = subprocess.run(
            [sys.executable, str(place)],
            cwd=request["folder"],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=request["timeout_s"],
        )
    except subprocess.TimeoutExpired:
        return None, "", ""
    return ran.returncode, ran.stdout, ran.stderr


if __name__ == "__main__":
    main()
