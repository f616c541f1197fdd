"""Many files, in this process or in several, always in the order in which they were given."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from shapedoc.cache import Cache
from shapedoc.core.finding import FileError
from shapedoc.engine.examine import Examined, Task, examine
from shapedoc.engine.request import Settings

__all__ = ["examine_all"]

# A new process needs a third of a second before its first file, in which this one reads about 100 kB.
_WORTH_A_PROCESS_BYTES = 400_000
_CHUNK_BYTES = 150_000


def examine_all(tasks: Sequence[Task], settings: Settings, cache_folder: Path | None, jobs: int) -> Iterator[Examined]:
    """Yield what each task gives.

    `jobs` 0 takes as many processes as there are processors and as the amount of text is worth; any other number
    is taken at its word. A process that dies costs the files that it had in hand, which say so.
    """
    sizes = [_size(task) for task in tasks]
    workers = min(len(tasks), jobs or min(_processors(), sum(sizes) // _WORTH_A_PROCESS_BYTES))
    if workers < 2:
        cache = Cache(cache_folder) if cache_folder else None
        yield from (examine(task, settings, cache) for task in tasks)
        return
    yield from _in_processes(_chunks(tasks, sizes, workers), settings, cache_folder, workers)


def _in_processes(
    chunks: Sequence[Sequence[Task]], settings: Settings, cache_folder: Path | None, workers: int
) -> Iterator[Examined]:
    import multiprocessing

    # A forked child inherits locks that threads of the parent may hold; a spawned one starts clean everywhere.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_interrupts_to_parent)
    try:
        futures = [executor.submit(_examine_chunk, chunk, settings, cache_folder) for chunk in chunks]
        for chunk, future in zip(chunks, futures, strict=True):
            yield from _result(chunk, future)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def _result(chunk: Sequence[Task], future: Future[list[Examined]]) -> list[Examined]:
    try:
        return future.result()
    except BrokenProcessPool:
        message = "internal error: a process ended before it could say anything of this file; try it with --jobs 1"
        return [Examined(task.path, error=FileError(task.path, message)) for task in chunk]


def _examine_chunk(chunk: Sequence[Task], settings: Settings, cache_folder: Path | None) -> list[Examined]:
    cache = Cache(cache_folder) if cache_folder else None
    return [examine(task, settings, cache) for task in chunk]


def _leave_interrupts_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _chunks(tasks: Sequence[Task], sizes: Sequence[int], workers: int) -> list[list[Task]]:
    """Neighbours together, so that files of one folder meet what was already read for them."""
    limit = min(_CHUNK_BYTES, max(1, sum(sizes) // (2 * workers)))
    chunks: list[list[Task]] = []
    room = 0
    for task, size in zip(tasks, sizes, strict=True):
        if room <= 0:
            chunks.append([])
            room = limit
        chunks[-1].append(task)
        room -= size
    return chunks


def _size(task: Task) -> int:
    if task.content is not None:
        return len(task.content)
    try:
        return Path(task.path).stat().st_size
    except OSError:
        return 0


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
