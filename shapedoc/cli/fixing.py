"""``lint --fix`` and ``lint --diff``: fixes written, or shown as they would be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from shapedoc.core.finding import Finding
    from shapedoc.core.fix import Edit
    from shapedoc.engine import Request
    from shapedoc.source.read import Source

__all__ = ["mended"]


def mended(request: Request, *, unsafe: bool, write: bool) -> int:
    """Apply the fixes of a run, or show them as a diff; return how many findings they mend.

    Of two fixes that want the same text the first is made and the other left for the next run. What cannot be
    written (a file that changed meanwhile, a character that its encoding lacks) is left as it is, and said.
    """
    from shapedoc.engine import cache_folder, run, settings_of, source_reader
    from shapedoc.prescribe.attach import attach

    report, source_of = run(request), source_reader(request.stdin)
    attach(report, source_of, settings_of(request), cache_folder(request), request.jobs)
    wanted = [f for f in report.findings if f.fix is not None and (unsafe or f.fix.safety == "safe")]
    held_back = sum(f.fix is not None and f.fix.safety == "unsafe" for f in report.findings) if not unsafe else 0
    count = 0
    for path in dict.fromkeys(finding.path for finding in wanted):
        source = source_of(path)
        edits, mends = _together(finding for finding in wanted if finding.path == path)
        if source is not None and edits:
            count += mends if _done(path, source, edits, write=write) else 0
    _say(count, held_back, write=write)
    return count


def _together(findings: Iterable[Finding]) -> tuple[list[Edit], int]:
    """The edits of these fixes that do not want the same text, and how many findings they mend."""
    from shapedoc.core.fix import overlap

    taken: list[Edit] = []
    count = 0
    for finding in findings:
        edits = finding.fix.edits if finding.fix is not None else ()
        new = [edit for edit in edits if edit not in taken]
        if any(overlap(one, other) for one in new for other in taken):
            continue
        taken += new
        count += 1
    return taken, count


def _done(path: str, source: Source, edits: list[Edit], *, write: bool) -> bool:
    from shapedoc.core.fix import OverlappingEdits, apply_edits
    from shapedoc.source.notebook import UneditablePlace
    from shapedoc.source.write import replace_file

    try:
        content = source.edited(edits)
    except (OverlappingEdits, UneditablePlace, UnicodeEncodeError) as problem:
        click.echo(f"shapedoc: {path}: left as it is: {problem}", err=True)
        return False
    if not write:
        after = apply_edits(source.text, edits)
        lines = (source.text.splitlines(keepends=True), after.splitlines(keepends=True))
        for line in unified_diff(*lines, fromfile=path, tofile=path):
            click.echo(line, nl=not line.endswith("\n"))
        return True
    if path == "-" or not Path(path).is_file():
        click.echo(f"shapedoc: {path}: is no file that can be written; --diff shows the change", err=True)
        return False
    refused = replace_file(Path(path), source.data, content)
    if refused is not None:
        click.echo(f"shapedoc: {refused.path}: {refused.message}", err=True)
    return refused is None


def _say(count: int, held_back: int, *, write: bool) -> None:
    done = "mended" if write else "would mend"
    noun = "finding" if count == 1 else "findings"
    more = f"; {held_back} more with --unsafe-fixes" if held_back else ""
    click.echo(f"shapedoc: {done} {count} {noun}{more}", err=True)
