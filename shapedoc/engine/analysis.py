"""The thin place where lowering, interpreter, rules and suppressions meet: one text to what is found in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from shapedoc.cache import ABSENT
from shapedoc.core.finding import FileError, Finding, Severity
from shapedoc.core.span import Span
from shapedoc.core.statistics import Understanding
from shapedoc.core.trace import Trace
from shapedoc.engine.elsewhere import Comment, named_labels, not_silenced
from shapedoc.engine.own import syntax_error, unused_suppression
from shapedoc.engine.request import Settings
from shapedoc.engine.understanding import understanding
from shapedoc.infer import Sources
from shapedoc.infer import analyse as infer
from shapedoc.infer.entries.imports import FileLoader
from shapedoc.rules import all_rules
from shapedoc.source import ir
from shapedoc.source.comments import find_comments
from shapedoc.source.lowered import lowered
from shapedoc.source.parse import SourceError, TooDeep
from shapedoc.source.suppress import parse_suppressions, skips_file

__all__ = ["Analysis", "Study", "analyse", "study", "study_one", "trace"]

_GRAVITY: Mapping[Severity, int] = {"note": 0, "warning": 1, "error": 2}


@dataclass(slots=True)
class Analysis:
    """What one text gave.

    `inputs` holds the digests of other files that were read for it, `silencing` the comments in them that silenced
    something.
    """

    findings: list[Finding] = field(default_factory=list)
    error: FileError | None = None
    understood: Understanding = field(default_factory=Understanding)
    inputs: dict[str, str] = field(default_factory=dict)
    silencing: list[Comment] = field(default_factory=list)


def analyse(path: str, text: str, settings: Settings) -> Analysis:
    """Return what is found in `text`, suppressions honoured and checked.

    Without the screen it is the concrete syntax that is analysed, unless libcst cannot read what Python can. Both
    lower to the same form, so that the same is found.
    """
    try:
        module = lowered(text)
    except TooDeep as problem:
        return Analysis(error=FileError(path, problem.message))
    except SourceError as problem:
        return Analysis([] if skips_file(find_comments(text)) else [syntax_error(path, problem)])
    if skips_file(module.comments):
        return Analysis()
    if not settings.screen:
        module = _concrete(text) or module
    seen, findings = _look(module, path, text, settings)
    findings, elsewhere = not_silenced(named_labels(findings, path), path)
    kept, unused = parse_suppressions(module.comments).split(findings, module)
    kept += [unused_suppression(path, suppression) for suppression in unused]
    return Analysis(kept, None, understanding(seen), dict(seen.inputs), elsewhere)


@dataclass(frozen=True, slots=True)
class Study:
    """Everything about one text: what the interpreter saw, and what the rules found in it, notes left out."""

    trace: Trace
    findings: list[Finding]


def study(path: str, text: str, settings: Settings, only: str = "") -> Study:
    """Return what is seen and found in `text`, suppressions left out of account.

    only: the one class or function that is walked by itself; "" for all of them. Raises SourceError when the text does
    not parse.
    """
    seen, findings = _look(lowered(text), path, text, settings, only)
    return Study(seen, [finding for finding in findings if finding.severity != "note"])


def study_one(path: str, text: str, module: ir.Module, name: str) -> Study:
    """Return what is seen and found in one class or function of a file, its driver left out; `module`: what is read."""
    seen = infer(module, text, path, Sources(driver=False), FileLoader(path, ()), name)
    found = _causes(_once(finding for rule in all_rules() for finding in rule.check(seen)))
    return Study(seen, [finding for finding in found if finding.severity != "note"])


def trace(path: str, text: str, settings: Settings) -> Trace:
    """Return everything that the interpreter saw in `text`.

    Raises SourceError when the text does not parse.
    """
    return _infer(lowered(text), path, text, settings)


def _look(module: ir.Module, path: str, text: str, settings: Settings, only: str = "") -> tuple[Trace, list[Finding]]:
    seen = _infer(module, path, text, settings, only)
    return seen, _causes(_once(finding for rule in all_rules() for finding in rule.check(seen)))


def _causes(findings: list[Finding]) -> list[Finding]:
    """The findings without those that only follow from another: one fault, told once."""
    causes = [finding for finding in findings if not finding.follows and finding.severity != "note"]
    return [finding for finding in findings if not finding.follows] if causes else findings


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for a rule and a span, the gravest: a function is followed by itself and as it is called.

    Of those that are as grave, one that does not follow from another.
    """
    best: dict[tuple[str, str, Span], Finding] = {}
    for finding in findings:
        key = (finding.path, finding.code, finding.span)
        if key not in best or _weight(finding) > _weight(best[key]):
            best[key] = finding
    return list(best.values())


def _weight(finding: Finding) -> tuple[int, bool]:
    return _GRAVITY[finding.severity], not finding.follows


def _concrete(text: str) -> ir.Module | None:
    from shapedoc.source import lower_cst

    try:
        return lower_cst.lower(text).module
    except SourceError:
        return None


def _infer(module: ir.Module, path: str, text: str, settings: Settings, only: str = "") -> Trace:
    off = settings.without
    loader = FileLoader(path, settings.roots)
    sources = Sources(
        comments="comments" not in off,
        driver="driver" not in off,
        constructor="constructor" not in off,
        unpacking="unpacking" not in off,
        later_use="later-use" not in off,
    )
    seen = infer(module, text, path, sources, loader, only)
    seen.inputs.update((place, ABSENT) for place in loader.absent)
    return seen
