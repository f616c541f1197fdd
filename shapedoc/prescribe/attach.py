"""Findings of a report with the fixes that are offered for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shapedoc.cache import Cache
from shapedoc.core.finding import Finding, Report
from shapedoc.core.fix import Fix, Safety, solid
from shapedoc.engine import Settings
from shapedoc.engine.pool import in_processes, processors
from shapedoc.engine.stored import NotStored, finding_from_plain, finding_to_plain
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.choose import Prescribed, prescribe
from shapedoc.prescribe.regression import regression_test
from shapedoc.source.parse import SourceError
from shapedoc.source.read import Source

__all__ = ["SAFE", "attach", "fix_of"]

# What these rules mend computes the same wherever it ran before.
SAFE = frozenset(("SD110", "SD702"))
# A new process needs half a second; for a finding its file is read again some ten times, 400 kB a second.
_WORTH_A_PROCESS = 40_000


@dataclass(frozen=True, slots=True)
class _Work:
    """The findings of one file that are to be mended, and what they are kept by."""

    path: str
    text: str
    wanted: list[Finding]
    key: str


def attach(
    report: Report,
    source_of: Callable[[str], Source | None],
    settings: Settings,
    folder: Path | None = None,
    jobs: int = 1,
) -> None:
    """Put fix and test on every finding that they are known for.

    What was worked out is kept in `folder`, so that a file that has not changed costs nothing the next time. `jobs` 0
    takes as many processes as there are processors and as the work is worth; any other number is taken at its word.
    """
    cache = Cache(folder) if folder is not None else None
    told: dict[str, list[Finding]] = {}
    work: list[_Work] = []
    for path in dict.fromkeys(f.path for f in report.findings if not f.code.startswith("SD9")):
        source = source_of(path)
        if source is None or path not in report.paths:
            continue
        wanted = [finding for finding in report.findings if finding.path == path]
        key = _key(cache, path, source.text, settings, wanted) if cache is not None else ""
        stored = _stored(cache, key, len(wanted)) if cache is not None else None
        if stored is not None:
            told[path] = stored
        else:
            work.append(_Work(path, source.text, wanted, key))
    for one, (found, inputs) in zip(work, _all_worked_out(work, settings, jobs), strict=True):
        told[one.path] = found
        if cache is not None and inputs is not None:
            cache.put(one.key, [finding_to_plain(finding) for finding in found], inputs)
    answers = {path: iter(found) for path, found in told.items()}
    report.findings[:] = [next(answers[one.path]) if one.path in answers else one for one in report.findings]


def _all_worked_out(
    work: Sequence[_Work], settings: Settings, jobs: int
) -> Iterator[tuple[list[Finding], Mapping[str, str] | None]]:
    """What can be done about each file's findings; of a process that dies they stay as they are."""
    calls = [(one.path, one.text, settings, one.wanted) for one in work]
    size = sum(len(one.text) * len(one.wanted) for one in work)
    workers = min(len(work), jobs or min(processors(), size // _WORTH_A_PROCESS))
    if workers < 2:
        for call in calls:
            yield _worked_out(*call)
        return
    for one, done in zip(work, in_processes(_worked_out, calls, workers), strict=True):
        yield done if done is not None else (one.wanted, None)


def _key(cache: Cache, path: str, text: str, settings: Settings, wanted: Sequence[Finding]) -> str:
    return cache.key("fixes", path, text, repr(settings), *(f"{one.code} {one.span}" for one in wanted))


def _stored(cache: Cache, key: str, count: int) -> list[Finding] | None:
    kept = cache.get(key)
    if not isinstance(kept, list) or len(kept) != count:
        return None
    try:
        return [finding_from_plain(one) for one in kept]
    except NotStored:
        return None


def _worked_out(
    path: str, text: str, settings: Settings, wanted: Sequence[Finding]
) -> tuple[list[Finding], Mapping[str, str] | None]:
    """The findings of one file with what can be done about them, and the digests of what was read for it."""
    try:
        bench = Bench.of(path, text, settings)
    except SourceError:
        return list(wanted), None
    answers = {(one.finding.code, one.finding.span): one for one in prescribe(bench, wanted)}
    told = []
    for finding in wanted:
        answer = answers.get((finding.code, finding.span))
        told.append(with_fix(bench, finding, answer) if answer is not None else finding)
    return told, bench.trace.inputs


def with_fix(bench: Bench, finding: Finding, answer: Prescribed) -> Finding:
    """The finding with fix and test; choices that tie are told as notes, neither as the fix."""
    notes = tuple(f"one of several ways: {choice.candidate.description}" for choice in answer.choices)
    return replace(
        finding,
        fix=fix_of(bench.text, finding, answer),
        test=regression_test(bench, answer),
        notes=(*finding.notes, *notes, *answer.refused),
    )


def fix_of(text: str, finding: Finding, answer: Prescribed) -> Fix | None:
    """The fix as it is reported."""
    if answer.fix is None:
        return None
    candidate = answer.fix.candidate
    safety: Safety = "safe" if finding.code in SAFE else "unsafe"
    return Fix(candidate.description, solid(text, candidate.edits), safety, "reanalysed")
