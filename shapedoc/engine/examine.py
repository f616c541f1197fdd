"""One file, from its bytes to what is found in it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from shapedoc.cache import Cache
from shapedoc.core.finding import FileError, Finding
from shapedoc.core.text import split_lines
from shapedoc.engine.faults import internal_error
from shapedoc.engine.request import Settings
from shapedoc.engine.stored import NotStored, finding_from_plain, finding_to_plain
from shapedoc.source.read import Source, decode, names_tensor_library, read_bytes, read_source

__all__ = ["Examined", "Task", "examine", "read"]


@dataclass(frozen=True, slots=True)
class Task:
    """A file to examine: the name that findings give it, and its bytes when they do not lie on disk."""

    path: str
    content: bytes | None = None


@dataclass(slots=True)
class Examined:
    """What one file gave: findings before selection, or why there are none.

    ``lines`` counts the lines read, ``analysed`` says whether they name a tensor library, ``unknown`` counts
    operations that the op table does not have, ``inputs`` holds the digests of other files that were read.
    """

    path: str
    findings: list[Finding] = field(default_factory=list)
    error: FileError | None = None
    lines: int = 0
    analysed: bool = False
    unknown: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)


def examine(task: Task, settings: Settings, cache: Cache | None) -> Examined:
    """Read and analyse one file; whatever goes wrong becomes its error, and nothing is raised.

    With ``SHAPEDOC_DEBUG`` set, a fault of the tool is raised as it is.
    """
    try:
        return _examine(task, settings, cache)
    except Exception as problem:
        if os.environ.get("SHAPEDOC_DEBUG"):
            raise
        return Examined(task.path, error=FileError(task.path, internal_error(problem)))


def read(task: Task) -> Source | FileError:
    """Return the text of a task, or why there is none."""
    return read_source(Path(task.path)) if task.content is None else decode(task.content, task.path)


def _examine(task: Task, settings: Settings, cache: Cache | None) -> Examined:
    content = read_bytes(Path(task.path)) if task.content is None else task.content
    if isinstance(content, FileError):
        return Examined(task.path, error=content)
    source = decode(content, task.path)
    if isinstance(source, FileError):
        return Examined(task.path, error=source)
    text = source.text
    lines = len(split_lines(text))
    if not names_tensor_library(content):
        return Examined(task.path, lines=lines)
    if cache is None:
        return _analyse(task.path, text, settings, lines)
    key = cache.key(task.path, settings.key(), text)
    kept = _from_plain(task.path, cache.get(key))
    if kept is not None:
        return kept
    fresh = _analyse(task.path, text, settings, lines)
    if fresh.error is None:
        cache.put(key, _to_plain(fresh), fresh.inputs)
    return fresh


def _analyse(path: str, text: str, settings: Settings, lines: int) -> Examined:
    from shapedoc.engine.analysis import analyse

    analysis = analyse(path, text, settings)
    return Examined(path, analysis.findings, analysis.error, lines, True, analysis.unknown, analysis.inputs)


def _to_plain(examined: Examined) -> dict[str, object]:
    return {
        "findings": [finding_to_plain(finding) for finding in examined.findings],
        "lines": examined.lines,
        "unknown": examined.unknown,
    }


def _from_plain(path: str, data: object) -> Examined | None:
    match data:
        case {"findings": [*findings], "lines": int(lines), "unknown": dict(unknown)}:
            try:
                found = [finding_from_plain(finding) for finding in findings]
            except NotStored:
                return None
            return Examined(path, found, None, lines, True, unknown)
        case _:
            return None
