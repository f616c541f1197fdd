"""The run: from a request to a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from shapedoc.core.finding import FileError, Finding, Report
from shapedoc.engine.analysis import rule_names
from shapedoc.engine.examine import Examined, Task
from shapedoc.engine.pool import examine_all
from shapedoc.engine.request import Request, RequestError, StandardInput
from shapedoc.engine.selection import Selection

__all__ = ["CACHE_FOLDER", "run", "text_reader"]

CACHE_FOLDER = ".shapedoc_cache"


def run(request: Request) -> Report:
    """Examine every file that the request names and return what is told of them, in the order of paths.

    Raises RequestError when the configuration selects no rule, or when there is no file to read.
    """
    selection = Selection(request.config, rule_names())
    tasks, errors = _tasks(request)
    folder = request.config.root / CACHE_FOLDER if request.cache else None
    examined = list(examine_all(tasks, request.settings, folder, request.jobs))
    findings = [finding for one in examined for finding in sorted(selection.told(one.findings), key=_place)]
    return Report(
        files=sum(one.error is None for one in examined),
        findings=findings,
        errors=[*errors, *(one.error for one in examined if one.error is not None)],
        statistics=_statistics(examined, findings),
    )


def text_reader(stdin: StandardInput | None) -> Callable[[str], str | None]:
    """Return a function that gives the text of a path as findings name it, or None where it cannot be read."""
    from functools import cache

    from shapedoc.source.read import ReadError, decode, read_bytes

    @cache
    def text_of(path: str) -> str | None:
        try:
            return decode(stdin.content if stdin and path == stdin.name else read_bytes(Path(path)))
        except ReadError:
            return None

    return text_of


def _tasks(request: Request) -> tuple[list[Task], list[FileError]]:
    from shapedoc.source.discover import discover

    found = discover(request.paths, request.config.exclude, request.config.root)
    tasks = [Task(_shown(path)) for path in found.files]
    if request.stdin is not None:
        tasks.append(Task(request.stdin.name, request.stdin.content))
    errors = [FileError(_shown(path), message) for path, message in found.errors]
    if not tasks and not errors:
        named = ", ".join(str(path) for path in request.paths)
        raise RequestError(f"there are no Python files in {named}")
    return tasks, errors


def _shown(path: Path) -> str:
    """A path as findings name it: relative to the working folder where it lies inside."""
    absolute, here = path.absolute(), Path.cwd()
    return str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)


def _place(finding: Finding) -> tuple[object, ...]:
    span = finding.span
    return (finding.cell or 0, span.line, span.column, finding.code, finding.message)


def _statistics(examined: Sequence[Examined], findings: Iterable[Finding]) -> dict[str, object]:
    rules = Counter(finding.code for finding in findings)
    unknown: Counter[str] = Counter()
    for one in examined:
        unknown.update(one.unknown)
    return {
        "lines": sum(one.lines for one in examined),
        "analysed": sum(one.analysed for one in examined),
        "rules": dict(sorted(rules.items())),
        "unknown_operations": dict(sorted(unknown.items(), key=lambda item: (-item[1], item[0]))),
    }
