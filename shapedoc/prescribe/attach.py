"""Findings of a report with the fixes that are offered for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shapedoc.core.finding import Finding, Report
from shapedoc.core.fix import Fix, Safety, solid
from shapedoc.engine import Settings
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.choose import Prescribed, prescribe
from shapedoc.prescribe.regression import regression_test
from shapedoc.source.parse import SourceError
from shapedoc.source.read import Source

__all__ = ["attach", "fix_of"]

# What these rules mend computes the same wherever it ran before.
_SAFE = frozenset(("SD110", "SD702"))


def attach(report: Report, source_of: Callable[[str], Source | None], settings: Settings) -> list[Prescribed]:
    """Put a fix on every finding that one is known for; return what was worked out, file by file."""
    done: list[Prescribed] = []
    for path in dict.fromkeys(f.path for f in report.findings if not f.code.startswith("SD9")):
        source = source_of(path)
        wanted = [finding for finding in report.findings if finding.path == path]
        if source is None or path not in report.paths:
            continue
        try:
            bench = Bench.of(path, source.text, settings)
        except SourceError:
            continue
        prescribed = prescribe(bench, wanted)
        by_place = {(p.finding.code, p.finding.span): p for p in prescribed}
        for index, finding in enumerate(report.findings):
            answer = by_place.get((finding.code, finding.span)) if finding.path == path else None
            if answer is not None:
                report.findings[index] = with_fix(bench, finding, answer)
        done += prescribed
    return done


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
    safety: Safety = "safe" if finding.code in _SAFE else "unsafe"
    return Fix(candidate.description, solid(text, candidate.edits), safety, "reanalysed")
