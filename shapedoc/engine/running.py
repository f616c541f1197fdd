"""The run: from a request to a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from os.path import realpath
from pathlib import Path

from shapedoc.cache import Cache
from shapedoc.core.finding import FileError, Finding, Report
from shapedoc.core.statistics import Statistics, together
from shapedoc.core.trace import Trace
from shapedoc.engine.examine import Examined, Task, read
from shapedoc.engine.pool import examine_all
from shapedoc.engine.request import Request, RequestError, Settings, StandardInput
from shapedoc.engine.selection import Selection
from shapedoc.engine.spelling import Spelling
from shapedoc.rules import all_rules
from shapedoc.rules.tool import sd901, sd902
from shapedoc.source.discover import discover
from shapedoc.source.notebook import Notebook, is_notebook
from shapedoc.source.parse import SourceError
from shapedoc.source.read import Source

__all__ = [
    "CACHE_FOLDER",
    "cache_folder",
    "look",
    "notebook_reader",
    "run",
    "settings_of",
    "source_reader",
    "text_reader",
]

CACHE_FOLDER = ".shapedoc_cache"


def run(request: Request, told: Callable[[int, int], None] | None = None) -> Report:
    """Examine every file that the request names and return what is told of them, in the order of paths.

    `told` hears how many of the files to be analysed are done, and of how many.

    Raises RequestError when the configuration selects no rule, or when there is no file to read.
    """
    folder = cache_folder(request)
    selection = Selection(request.config, _kept_names(folder) or _names())
    tasks, errors = _tasks(request)
    settings = settings_of(request)
    examined = examine_all(tasks, settings, folder, request.jobs, told)
    _keep_names(folder)
    spelled = Spelling(one.path for one in examined)
    silencing = {(realpath(path), line) for one in examined for path, line in one.silencing}
    findings = _once(
        spelled.finding(finding)
        for one in examined
        for finding in sorted(selection.told(one.findings), key=_place)
        if not (finding.code == sd902.RULE.code and (realpath(finding.path), finding.span.line) in silencing)
    )
    return Report(
        files=sum(one.error is None for one in examined),
        findings=findings,
        errors=[*errors, *(one.error for one in examined if one.error is not None)],
        statistics=_statistics(examined, findings),
        paths=[one.path for one in examined if one.error is None],
        old=sum(any(_is_old(finding, selection) for finding in one.findings) for one in examined),
    )


def _names() -> dict[str, str]:
    """The name of every rule, by its code."""
    return {rule.code: rule.name for rule in all_rules()}


def _kept_names(folder: Path | None) -> dict[str, str]:
    """The same as an earlier run found it: loading the rules takes as long as looking up a hundred results."""
    if folder is None or not folder.is_dir():
        return {}
    cache = Cache(folder)
    match cache.get(cache.key(_NAMES)):
        case {**names} if all(isinstance(name, str) for name in names.values()):
            return {str(code): str(name) for code, name in names.items()}
    return {}


def _keep_names(folder: Path | None) -> None:
    if folder is not None and folder.is_dir() and not _kept_names(folder):
        cache = Cache(folder)
        cache.put(cache.key(_NAMES), _names(), {})


_NAMES = "the names of the rules"


def cache_folder(request: Request) -> Path | None:
    """Where results are kept between runs; None where they are not."""
    return request.config.root / CACHE_FOLDER if request.cache else None


def settings_of(request: Request) -> Settings:
    """How the files of a request are analysed, the folders inside which imports are followed included."""
    named = [*request.paths, *([Path(request.stdin.name)] if request.stdin else [])]
    return replace(request.settings, roots=_roots(named, request.config.root))


def look(path: Path, stdin: StandardInput | None, settings: Settings) -> Trace:
    """Return everything that the interpreter saw in one file.

    Raises RequestError when the file cannot be read, does not parse, or is a notebook without Python.
    """
    from shapedoc.engine.analysis import trace

    source = read(_task(str(path), stdin))
    if isinstance(source, FileError):
        raise RequestError(f"{source.path}: {source.message}")
    if source.notebook is not None and not source.notebook.cells:
        raise RequestError(f"{source.path}: this notebook has no Python cells")
    try:
        return trace(source.path, source.text, replace(settings, roots=_roots([path], Path.cwd())))
    except SourceError as problem:
        raise RequestError(f"{path}:{problem.line}:{problem.column + 1}: {problem.message}") from None


def text_reader(stdin: StandardInput | None) -> Callable[[str], str | None]:
    """Return a function that gives the text of a path as findings name it, or None where it cannot be read."""

    @cache
    def text_of(path: str) -> str | None:
        source = read(_task(path, stdin))
        return None if isinstance(source, FileError) else source.shown

    return text_of


def source_reader(stdin: StandardInput | None) -> Callable[[str], Source | None]:
    """Return a function that reads a path as findings name it: the text that was analysed, and the way to write it."""

    @cache
    def source_of(path: str) -> Source | None:
        source = read(_task(path, stdin))
        return None if isinstance(source, FileError) else source

    return source_of


def notebook_reader(stdin: StandardInput | None) -> Callable[[str], Notebook | None]:
    """Return a function that gives the notebook at a path as findings name it, or None where there is none."""

    @cache
    def notebook_of(path: str) -> Notebook | None:
        source = read(_task(path, stdin)) if is_notebook(path) else None
        return source.notebook if isinstance(source, Source) else None

    return notebook_of


def _tasks(request: Request) -> tuple[list[Task], list[FileError]]:
    try:
        found = discover(request.paths, request.config.exclude, request.config.root, force_exclude=True)
    except ValueError as problem:
        raise RequestError(f"`exclude` {problem}") from None
    names = [str(path) for path in found.files]
    if request.stdin is not None:
        names.append(request.stdin.name)
    if not names and not found.errors and any(path.is_dir() for path in request.paths):
        raise RequestError(
            f"there are no Python files or notebooks in {', '.join(str(path) for path in request.paths)}"
        )
    return [_task(name, request.stdin) for name in names], found.errors


def _roots(paths: Iterable[Path], project: Path) -> tuple[str, ...]:
    """The folders inside which imports are followed: the project's for what lies in it, else the named ones."""
    root = Path(realpath(project))
    folders = {path if path.is_dir() else path.parent for path in (Path(realpath(path)) for path in paths)}
    return tuple(sorted({str(root if folder.is_relative_to(root) else folder) for folder in folders}))


def _task(name: str, stdin: StandardInput | None) -> Task:
    return Task(name, stdin.content if stdin is not None and name == stdin.name else None)


def _is_old(finding: Finding, selection: Selection) -> bool:
    """Whether a finding says that a file is written for an older Python, and is not told for being a note."""
    return (
        (finding.code, finding.severity) == (sd901.RULE.code, "note")
        and not selection.told([finding])
        and bool(selection.told([replace(finding, severity="warning")]))
    )


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """Each finding once: code that several files import is followed from every one of them."""
    seen: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        place = replace(finding.span, path="")
        key = (realpath(finding.path), finding.code, place, finding.severity)
        seen.setdefault(key, finding)
    return list(seen.values())


def _place(finding: Finding) -> tuple[object, ...]:
    span = finding.span
    return (span.line, span.column, finding.code, finding.message)


def _statistics(examined: Sequence[Examined], findings: Iterable[Finding]) -> Statistics:
    return Statistics(
        lines=sum(one.lines for one in examined),
        analysed=sum(one.analysed for one in examined),
        rules=dict(sorted(Counter(finding.code for finding in findings).items())),
        understanding=together(one.understood for one in examined),
    )
