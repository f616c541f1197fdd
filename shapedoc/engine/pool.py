"""Many files, in this process or in several; results stand in the order of the files."""

from __future__ import annotations

import atexit
import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from shapedoc.cache import Cache
from shapedoc.core.finding import FileError
from shapedoc.engine.examine import Examined, Pending, Task, examine, prepare
from shapedoc.engine.garbage import collecting_seldom
from shapedoc.engine.request import Settings

__all__ = ["examine_all", "in_processes", "processors"]

_Result = TypeVar("_Result")

# A new process needs half a second before its first file; in that time this one analyses about 200 kB.
_WORTH_A_PROCESS = 400_000
_CHUNK = 150_000


def examine_all(
    tasks: Sequence[Task],
    settings: Settings,
    cache_folder: Path | None,
    jobs: int,
    told: Callable[[int, int], None] | None = None,
) -> list[Examined]:
    """Return what each task gives; `told` hears how many of the files to be analysed are done, and of how many.

    `jobs` 0 takes as many processes as there are processors and as the text that must be analysed is worth; any
    other number is taken at its word. A process that dies costs the files that it had in hand, which say so.
    """
    cache = Cache(cache_folder) if cache_folder else None
    prepared = [prepare(task, settings, cache) for task in tasks]
    pending = [one for one in prepared if isinstance(one, Pending)]
    size = sum(len(one.text) for one in pending)
    workers = min(len(pending), jobs or min(processors(), size // _WORTH_A_PROCESS))
    analysed = (
        _in_turn(pending, settings, cache)
        if workers < 2
        else _in_processes(_chunks(pending, size // (2 * workers)), settings, cache_folder, workers)
    )
    examined: list[Examined] = []
    for done, one in enumerate(analysed, 1):
        examined.append(one)
        if told is not None:
            told(done, len(pending))
    answers = iter(examined)
    return [next(answers) if isinstance(one, Pending) else one for one in prepared]


def _in_turn(pending: Sequence[Pending], settings: Settings, cache: Cache | None) -> Iterator[Examined]:
    with collecting_seldom() as collect:
        for one in pending:
            yield examine(one, settings, cache)
            collect()


def _in_processes(
    chunks: Sequence[Sequence[Pending]], settings: Settings, cache_folder: Path | None, workers: int
) -> Iterator[Examined]:
    message = "internal error: a process ended before it could say anything of this file; try it with --jobs 1"
    calls = [(chunk, settings, cache_folder) for chunk in chunks]
    for chunk, done in zip(chunks, in_processes(_examine_chunk, calls, workers), strict=True):
        yield from (
            done if done is not None else [Examined(one.path, error=FileError(one.path, message)) for one in chunk]
        )


def in_processes(
    function: Callable[..., _Result], calls: Sequence[tuple[object, ...]], workers: int
) -> Iterator[_Result | None]:
    """What a function gives for each of these arguments, in order; None where its process ended before."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # A forked child inherits locks that threads of the parent may hold; a spawned one starts clean everywhere.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)
    try:
        futures = [executor.submit(function, *arguments) for arguments in calls]
        for future in futures:
            try:
                yield future.result()
            except BrokenProcessPool:
                yield None
    finally:
        executor.shutdown(cancel_futures=True)


def _examine_chunk(chunk: Sequence[Pending], settings: Settings, cache_folder: Path | None) -> list[Examined]:
    return list(_in_turn(chunk, settings, Cache(cache_folder) if cache_folder else None))


def _begin() -> None:
    """Leave interrupts to the parent, never look for garbage between two calls, and give nothing back at the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    atexit.register(os._exit, 0)


def _chunks(pending: Sequence[Pending], size: int) -> list[list[Pending]]:
    """Neighbours together, about `size` characters at most, so that no process waits long for the last one."""
    limit = max(1, min(_CHUNK, size))
    chunks: list[list[Pending]] = []
    room = 0
    for one in pending:
        if room <= 0:
            chunks.append([])
            room = limit
        chunks[-1].append(one)
        room -= len(one.text)
    return chunks


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
