"""Findings of a report with the fixes that are offered for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shapedoc.core.finding import Finding, Report
from shapedoc.core.fix import Fix, Safety
from shapedoc.engine import Settings
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.choose import Prescribed, prescribe
from shapedoc.source.parse import SourceError

__all__ = ["attach", "fix_of"]

# What these rules mend computes the same wherever it ran before.
_SAFE = frozenset(("SD110", "SD902"))


def attach(report: Report, text_of: Callable[[str], str | None], settings: Settings) -> list[Prescribed]:
    """Put a fix on every finding that one is known for; return what was worked out, file by file."""
    done: list[Prescribed] = []
    for path in dict.fromkeys(f.path for f in report.findings if f.cell is None and not f.code.startswith("SD9")):
        text = text_of(path)
        wanted = [f for f in report.findings if f.path == path and f.cell is None]
        if text is None or path not in report.paths:
            continue
        try:
            bench = Bench.of(path, text, settings)
        except SourceError:
            continue
        prescribed = prescribe(bench, wanted)
        by_place = {(p.finding.code, p.finding.span): p for p in prescribed}
        for index, finding in enumerate(report.findings):
            answer = by_place.get((finding.code, finding.span)) if finding.path == path else None
            if answer is not None and finding.cell is None:
                report.findings[index] = with_fix(finding, answer)
        done += prescribed
    return done


def with_fix(finding: Finding, answer: Prescribed) -> Finding:
    """The finding with what is offered for it; choices that tie are told as notes, neither as the fix."""
    notes = tuple(f"one of several ways: {choice.candidate.description}" for choice in answer.choices)
    return replace(finding, fix=fix_of(finding, answer), notes=(*finding.notes, *notes, *answer.refused))


def fix_of(finding: Finding, answer: Prescribed) -> Fix | None:
    """The fix as it is reported."""
    if answer.fix is None:
        return None
    candidate = answer.fix.candidate
    safety: Safety = "safe" if finding.code in _SAFE else "unsafe"
    return Fix(candidate.description, candidate.edits, safety, "reanalysed")
