"""What a finding says after its message: the reason, notes, the step to take, and where to read more."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.report.context import Context

__all__ = ["remarks", "told"]


def remarks(finding: Finding, context: Context) -> Iterator[tuple[str, str]]:
    """Yield (key, text) for each remark, in the order of reading."""
    if finding.why:
        yield "why", context.words(finding, finding.why)
    for note in finding.notes:
        yield "note", context.words(finding, note)
    step = finding.help or (finding.fix.description if finding.fix else "")
    if step:
        yield "help", context.words(finding, step)
    yield "more", f"shapedoc explain {finding.code}"


def told(finding: Finding, context: Context) -> str:
    """Return the message and every remark, each from a line of its own; in a notebook, the place comes first."""
    place = context.place(finding.path, finding.span)
    where = "" if place.cell is None else f"cell {place.cell}, line {place.span.line}: "
    message = f"{where}{context.words(finding, finding.message)}"
    return "\n".join([message, *(f"{key}: {text}" for key, text in remarks(finding, context))])
