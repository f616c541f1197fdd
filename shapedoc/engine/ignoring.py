"""``--add-ignores``: a comment for every finding there is, so that an old code base starts clean."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from shapedoc.core.finding import FileError, Finding
from shapedoc.core.fix import OverlappingEdits
from shapedoc.core.span import Span
from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Request, Settings
from shapedoc.engine.running import run, settings_of
from shapedoc.rules.tool import sd901, sd902
from shapedoc.source.ignore_comments import ignore_edits, lines_to_ignore_on
from shapedoc.source.lowered import lowered
from shapedoc.source.notebook import UneditablePlace
from shapedoc.source.parse import SourceError
from shapedoc.source.read import Source, decode, read_source
from shapedoc.source.write import replace_file

__all__ = ["Added", "Ignored", "add_ignores"]

# A fault in an imported file is told once, however many files reach it: each round silences it in one more of them.
_ROUNDS = 50
_WITHOUT_COMMENT = frozenset((sd901.RULE.code, sd902.RULE.code))

_Key = tuple[str, str, Span]


@dataclass(frozen=True, slots=True)
class Added:
    """What was written at the end of one line."""

    path: str
    span: Span
    codes: tuple[str, ...]


@dataclass(slots=True)
class Ignored:
    """What was written, which files could not be, and which findings are left."""

    added: list[Added] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    left: list[Finding] = field(default_factory=list)


def add_ignores(request: Request) -> Ignored:
    """Silence by a comment whatever the request finds, and say what was done; files are written whole or not at all.

    A comment is written only where it silences what it names and changes nothing else that is found: the text is
    analysed with the comment before it is written. Raises RequestError as `run` does.
    """
    done = Ignored()
    settings = settings_of(request)
    refused: set[str] = set()
    for _ in range(_ROUNDS):
        report = run(request)
        done.left = report.findings
        wrote = False
        for path, findings in _by_file(report.findings):
            if path in refused:
                continue
            added = _add(path, findings, settings)
            if isinstance(added, FileError):
                done.errors.append(added)
            if isinstance(added, FileError) or not added:
                refused.add(path)
                continue
            done.added += added
            wrote = True
        if not wrote:
            done.errors += report.errors
            break
    return done


def _by_file(findings: Iterable[Finding]) -> Iterator[tuple[str, list[Finding]]]:
    """The findings for which there can be comments, by the file whose comments count for them."""
    by_file: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.code not in _WITHOUT_COMMENT:
            by_file[finding.reached.path if finding.reached else finding.path].append(finding)
    yield from by_file.items()


def _add(path: str, findings: Sequence[Finding], settings: Settings) -> list[Added] | FileError:
    source = read_source(Path(path))
    if isinstance(source, FileError):
        return source
    try:
        before = _keys(path, source.text, settings)
        chosen = lines_to_ignore_on(source.text, lowered(source.text), findings)
    except SourceError:
        return []
    whole = _written(source, chosen, before, settings)
    if whole is None:
        kept: dict[int, list[Finding]] = {}
        for line, here in chosen.items():
            tried = _written(source, {**kept, line: here}, before, settings)
            if tried is not None:
                kept[line], whole = here, tried
        chosen = kept
    if whole is None or whole == source.data:
        return []
    problem = replace_file(Path(path), source.data, whole)
    if problem is not None:
        return problem
    return [Added(path, Span(line, 0, line, 0), _codes(here)) for line, here in sorted(chosen.items())]


def _written(
    source: Source, chosen: Mapping[int, Sequence[Finding]], before: Counter[_Key], settings: Settings
) -> bytes | None:
    """The file with comments on these lines; None where that leaves one of them, or brings something new."""
    edits = ignore_edits(source.text, lowered(source.text), {line: _codes(here) for line, here in chosen.items()})
    try:
        whole = source.edited(edits)
    except (OverlappingEdits, UneditablePlace, UnicodeEncodeError):
        return None
    edited = decode(whole, source.path)
    if isinstance(edited, FileError):
        return None
    after = _keys(source.path, edited.text, settings)
    silenced = {_key(finding) for here in chosen.values() for finding in here}
    return whole if after <= before and not silenced & set(after) else None


def _keys(path: str, text: str, settings: Settings) -> Counter[_Key]:
    return Counter(_key(finding) for finding in analyse(path, text, settings).findings)


def _key(finding: Finding) -> _Key:
    """A finding apart from its end, which a comment about a comment moves."""
    span = finding.span
    return finding.code, finding.message, replace(span, end_line=span.line, end_column=span.column, path="")


def _codes(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(sorted({finding.code for finding in findings}))
