"""What a finding says after its message: the reason, notes, the step to take, and where to read more."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding

__all__ = ["remarks", "told"]


def remarks(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield (key, text) for each remark, in the order of reading."""
    if finding.why:
        yield "why", finding.why
    for note in finding.notes:
        yield "note", note
    step = finding.help or (finding.fix.description if finding.fix else "")
    if step:
        yield "help", step
    yield "more", f"shapedoc explain {finding.code}"


def told(finding: Finding) -> str:
    """Return the message and every remark, each from a line of its own."""
    return "\n".join([finding.message, *(f"{key}: {text}" for key, text in remarks(finding))])
