"""One file, from its bytes to what is found in it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from shapedoc.cache import Cache
from shapedoc.core.finding import FileError, Finding
from shapedoc.core.statistics import Understanding
from shapedoc.core.text import split_lines
from shapedoc.engine.depth import room_to_nest
from shapedoc.engine.elsewhere import Comment
from shapedoc.engine.faults import internal_error
from shapedoc.engine.own import syntax_error
from shapedoc.engine.request import Settings
from shapedoc.engine.stored import (
    NotStored,
    finding_from_plain,
    finding_to_plain,
    understanding_from_plain,
    understanding_to_plain,
)
from shapedoc.source.comments import find_comments
from shapedoc.source.parse import OlderPython
from shapedoc.source.read import Source, decode, names_tensor_library, read_bytes, read_source
from shapedoc.source.suppress import skips_file

__all__ = ["Examined", "Pending", "Task", "examine", "prepare", "read"]


@dataclass(frozen=True, slots=True)
class Task:
    """A file to examine: the name that findings give it, and its bytes when they do not lie on disk."""

    path: str
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """A file whose text must be analysed: nothing kept answers for it.

    ``broken`` are the findings about cells of a notebook that do not parse and are not in the text.
    """

    path: str
    text: str
    broken: tuple[Finding, ...] = ()


@dataclass(slots=True)
class Examined:
    """What one file gave: findings before selection, or why there are none.

    ``lines`` counts the lines read, ``analysed`` says whether they name a tensor library, ``understood``
    how much of it was, ``inputs`` holds the digests of other files that were read, ``silencing``
    the comments in them that silenced something.
    """

    path: str
    findings: list[Finding] = field(default_factory=list)
    error: FileError | None = None
    lines: int = 0
    analysed: bool = False
    understood: Understanding = field(default_factory=Understanding)
    inputs: dict[str, str] = field(default_factory=dict)
    silencing: list[Comment] = field(default_factory=list)


def read(task: Task) -> Source | FileError:
    """Return the text of a task, or why there is none."""
    return read_source(Path(task.path)) if task.content is None else decode(task.content, task.path)


def prepare(task: Task, settings: Settings, cache: Cache | None) -> Examined | Pending:
    """Read one file, and answer at once where it needs no analysis: unreadable, of no concern, or known already."""
    content = read_bytes(Path(task.path)) if task.content is None else task.content
    if isinstance(content, FileError):
        return Examined(task.path, error=content)
    source = decode(content, task.path)
    if isinstance(source, FileError):
        return Examined(task.path, error=source)
    if not names_tensor_library(source.shown.encode("utf-8", "replace") if source.notebook else content):
        return Examined(task.path, lines=len(split_lines(source.text)))
    pending = Pending(task.path, source.text, _broken_cells(source))
    kept = cache.get(_key(pending, settings, cache)) if cache else None
    return _from_plain(pending, kept) or pending


def examine(pending: Pending, settings: Settings, cache: Cache | None) -> Examined:
    """Analyse one file and keep the result; whatever goes wrong becomes its error, and nothing is raised.

    With ``SHAPEDOC_DEBUG`` set, a fault of the tool is raised as it is.
    """
    from shapedoc.engine.analysis import analyse

    try:
        with room_to_nest():
            analysis = analyse(pending.path, pending.text, settings)
    except Exception as problem:
        if os.environ.get("SHAPEDOC_DEBUG"):
            raise
        return Examined(pending.path, error=FileError(pending.path, internal_error(problem)))
    lines = len(split_lines(pending.text))
    findings = [*analysis.findings, *pending.broken]
    examined = Examined(
        pending.path, findings, analysis.error, lines, True, analysis.understood, analysis.inputs, analysis.silencing
    )
    if cache and examined.error is None:
        cache.put(_key(pending, settings, cache), _to_plain(examined), examined.inputs)
    return examined


def _broken_cells(source: Source) -> tuple[Finding, ...]:
    """SD901 for cells that do not parse; for a notebook in an older Python once, as for any other file."""
    if source.notebook is None or not source.notebook.broken or skips_file(find_comments(source.text)):
        return ()
    broken = source.notebook.broken
    old = [problem for problem in broken if isinstance(problem, OlderPython)]
    return tuple(syntax_error(source.path, problem, "cell") for problem in (old[:1] or broken))


def _key(pending: Pending, settings: Settings, cache: Cache) -> str:
    broken = "\n".join(f"{finding.span.line}:{finding.span.column}:{finding.message}" for finding in pending.broken)
    return cache.key(pending.path, settings.key(), pending.text, broken)


def _to_plain(examined: Examined) -> dict[str, object]:
    return {
        "findings": [finding_to_plain(finding) for finding in examined.findings],
        "understood": understanding_to_plain(examined.understood),
        "silencing": examined.silencing,
    }


def _from_plain(pending: Pending, data: object) -> Examined | None:
    match data:
        case {"findings": [*findings], "understood": understood, "silencing": [*silencing]}:
            try:
                found = [finding_from_plain(finding) for finding in findings]
                known = understanding_from_plain(understood)
            except NotStored:
                return None
            comments = [(str(path), int(line)) for path, line in silencing]
            lines = len(split_lines(pending.text))
            return Examined(pending.path, found, None, lines, True, known, silencing=comments)
        case _:
            return None
