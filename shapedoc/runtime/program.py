"""Running a program as Python would, with its own code watched."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from os.path import realpath
from pathlib import Path
from types import CodeType, FrameType

from shapedoc.runtime.recording import Recording, record

__all__ = ["Ran", "run_program", "under"]


@dataclass(frozen=True, slots=True)
class Ran:
    """A program that has run: what was recorded, its exit code, and what it raised (an exit apart)."""

    recording: Recording
    code: int
    error: BaseException | None


def under(*folders: Path) -> Callable[[str], bool]:
    """A test for files that lie in one of these folders, installed packages left out."""
    own = str(Path(__file__).resolve().parents[1]) + os.sep
    roots = tuple(realpath(folder) + os.sep for folder in folders)

    @cache
    def watched(path: str) -> bool:
        if path.startswith("<"):
            return False
        full = realpath(path)
        return (
            full.startswith(roots)
            and not full.startswith(own)
            and "site-packages" not in full
            and f"{os.sep}lib{os.sep}python" not in full
        )

    return watched


def run_program(script: str, arguments: Sequence[str], *, module: bool = False) -> Ran:
    """Run a script, or with `module` a module, and record the code under the working folder and beside the script.

    An exit with a message prints it, as Python does. Raises FileNotFoundError where there is no such script.
    """
    folders = [Path.cwd()]
    if not module:
        if not Path(script).is_file():
            raise FileNotFoundError(script)
        folders.append(Path(script).resolve().parent)
    # Compiled code shows no operations: it is run as it is written.
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
    kept, path = sys.argv[:], sys.path[:]
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(folders[-1]) if not module else str(folders[0]))
    recording: Recording | None = None
    error: BaseException | None = None
    code = 0
    try:
        with record(under(*folders)) as recording, _noting(recording):
            if module:
                runpy.run_module(script, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(str(Path(script).resolve()), run_name="__main__")
    except SystemExit as problem:
        code = _exit_code(problem)
    except BaseException as problem:
        error, code = problem, 130 if isinstance(problem, KeyboardInterrupt) else 1
    finally:
        sys.argv, sys.path[:] = kept, path
    assert recording is not None
    return Ran(recording, code, error)


@contextmanager
def _noting(recording: Recording) -> Iterator[None]:
    """Note every watched function that is called, tensors or not; a debugger that is at work is left alone."""
    activations = recording.recorder.activations
    seen: set[CodeType] = set()

    def called(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code not in seen:
            seen.add(code)
            if activations.watched(code.co_filename):
                function = code.co_qualname.rpartition("<locals>.")[2]
                activations.executed.add((code.co_filename, "" if function == "<module>" else function))

    if sys.gettrace() is not None:
        yield
        return
    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(None)


def _exit_code(problem: SystemExit) -> int:
    if problem.code is None:
        return 0
    if isinstance(problem.code, int):
        return problem.code
    print(problem.code, file=sys.stderr)
    return 1
