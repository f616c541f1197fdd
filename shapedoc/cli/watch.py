"""``lint --watch``: lint again whenever a file changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from shapedoc.engine import Request

__all__ = ["watched"]

# A look at the files costs time too: between two of them passes at least this, and ten times what the last one took.
_PAUSE_S = 0.3
_SHARE = 10

Stamps = dict[str, tuple[int, int, int]]
"""By path, a file's number, size and time of change."""


def watched(prepare: Callable[[], Request], lint: Callable[[Request], int]) -> int:
    """Lint now and after every change, until Ctrl-C; return the exit code of the last time.

    `prepare` makes the request anew each time, since the configuration may be what changed. What cannot be run at all
    ends the watch at the first time, and later is told and waited over.
    """
    from shapedoc.cli.options import said
    from shapedoc.engine import RequestError

    code: int | None = None
    seen: Stamps = {}
    try:
        while True:
            try:
                with said():
                    request = prepare()
                    if request.stdin is not None:
                        raise RequestError("`--watch` waits for files to change, and standard input is none")
                    seen = _stamps(request)
                    click.clear()
                    first, code = code is None, lint(request)
                if first and code == 2:
                    return code
            except click.exceptions.Exit as end:
                if code is None:
                    raise
                code = end.exit_code
            sys.stdout.flush()
            click.echo("watching for changes; Ctrl-C ends", err=True)
            _wait(request, seen)
    except KeyboardInterrupt:
        return code or 0


def _wait(request: Request, seen: Stamps) -> None:
    """Return when the files are no longer as they were seen, and have stopped changing."""
    before = seen
    while True:
        started = time.monotonic()
        now = _stamps(request)
        if now != seen and now == before:
            return
        before = now
        time.sleep(max(_PAUSE_S, _SHARE * (time.monotonic() - started)))


def _stamps(request: Request) -> Stamps:
    return {path: stamp for path in _paths(request) if (stamp := _stamp(path)) is not None}


def _paths(request: Request) -> Iterator[str]:
    """The files that are linted, and those that decide how."""
    from shapedoc.source.discover import discover

    config = request.config
    found = discover(request.paths, config.exclude, config.root, force_exclude=True)
    yield from map(str, found.files)
    for folder in {path if path.is_dir() else path.parent for path in request.paths}:
        yield str(folder / "pyproject.toml")
    if config.file is not None:
        yield str(config.file)


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
