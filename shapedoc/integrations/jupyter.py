"""Jupyter: ``%load_ext shapedoc``, and ``%%shapedoc`` before a cell explains its error in a small table."""

from __future__ import annotations

import html
import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os.path import basename
from pathlib import Path
from typing import Any

from shapedoc.core.finding import Finding
from shapedoc.integrations.told import hide_own_frames, text_of_finding

__all__ = ["load_ipython_extension", "table"]

_COLOURS = {"error": "#b3261e", "warning": "#8a5a00", "note": "#4a4a4a"}


def load_ipython_extension(shell: Any) -> None:
    """Register the magic ``%%shapedoc``."""
    shell.register_magic_function(_magic(shell), magic_kind="cell", magic_name="shapedoc")


def _magic(shell: Any) -> Any:
    def shapedoc(line: str, cell: str) -> None:
        """Run the cell, list what was silently wrong in it, and explain its error."""
        from IPython.display import display

        from shapedoc.runtime.program import under
        from shapedoc.runtime.recording import record

        inside = under(Path.cwd())
        with record(lambda path: _is_cell(path) or inside(path)) as recording, _without_own_frames(shell):
            result = shell.run_cell(cell)
        recording.error = result.error_in_exec
        findings = [f for f in recording.findings() if f.severity != "note"]
        explanation = recording.explanation()
        if explanation is not None and not any(_covers(f, explanation) for f in findings):
            findings.insert(0, explanation)
        for finding in findings:
            display(Table(finding))

    return shapedoc


class Table:
    """One finding as a notebook shows it."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding

    def __repr__(self) -> str:
        return text_of_finding(self.finding)

    def _repr_html_(self) -> str:
        return table(self.finding)


def table(finding: Finding) -> str:
    """A finding as a small table: the line, the tensors and their shapes, why, and the step to take."""
    colour = _COLOURS[finding.severity]
    shapes = _shapes(finding)
    columns = 3 if any(expected for _, _, expected in shapes) else 2
    rows = [_row(*shape[:columns]) for shape in shapes]
    head = _row(*("tensor", "is", "should be")[:columns], cell="th") if rows else ""
    said = [label.text for label in finding.labels if " is (" not in label.text]
    where = [("here", text) for text in dict.fromkeys(said)]
    more = [*where, ("why", finding.why), *(("note", n) for n in finding.notes), ("help", finding.help)]
    lines = [f"<div><b>{key}</b>: {_text(text)}</div>" for key, text in more if text]
    return (
        f'<div style="border-left:4px solid {colour};padding:4px 10px">'
        f'<div><b style="color:{colour}">{finding.severity}[{finding.code}] {finding.name}</b>: '
        f"{_text(finding.message)}</div>{_source(finding, colour)}"
        f'<table style="margin:4px 0">{head}{"".join(rows)}</table>{"".join(lines)}</div>'
    )


def _shapes(finding: Finding) -> list[tuple[str, str, str]]:
    """Tensors with what they are and should be, the one that is wrong first."""
    found = {finding.tensor: (finding.actual, finding.expected)} if finding.actual else {}
    for label in finding.labels:
        name, is_, shape = label.text.partition(" is (")
        if is_:
            found.setdefault(name, ("(" + shape.partition(", should be ")[0], ""))
    return [(name, actual, expected) for name, (actual, expected) in found.items()]


def _row(*cells: str, cell: str = "td") -> str:
    style = "text-align:left;padding:1px 12px 1px 0"
    return "<tr>" + "".join(f'<{cell} style="{style}">{_coded(c, cell)}</{cell}>' for c in cells) + "</tr>"


def _coded(text: str, cell: str) -> str:
    return html.escape(text) if cell == "th" or not text else f"<code>{html.escape(text)}</code>"


def _source(finding: Finding, colour: str) -> str:
    """The lines that it stands on, four at most, its place underlined."""
    span, lines = finding.span, []
    for number in range(span.line, min(span.end_line, span.line + 3) + 1):
        line = linecache.getline(finding.path, number).rstrip()
        start = span.column if number == span.line else len(line) - len(line.lstrip())
        end = span.end_column if number == span.end_line else len(line)
        before, marked, after = (html.escape(p) for p in (line[:start], line[start:end], line[end:]))
        lines.append(f'{number:>3}  {before}<span style="border-bottom:2px solid {colour}">{marked}</span>{after}')
    text = "\n".join(lines)
    return f'<pre style="margin:4px 0">{text}</pre>'


def _text(text: str) -> str:
    """Text with what stands in backticks as code."""
    parts = html.escape(text).split("`")
    if len(parts) % 2 == 0:
        return html.escape(text)
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


@contextmanager
def _without_own_frames(shell: Any) -> Iterator[None]:
    """Tracebacks that the shell shows in this block are of the author's code."""
    shown = shell.showtraceback

    def showtraceback(*args: Any, **options: Any) -> Any:
        problem = sys.exc_info()[1]
        if problem is not None:
            hide_own_frames(problem)
        return shown(*args, **options)

    shell.showtraceback = showtraceback
    try:
        yield
    finally:
        shell.showtraceback = shown


def _is_cell(path: str) -> bool:
    return path.startswith("<ipython-input") or "ipykernel_" in path or basename(path).startswith("ipykernel")


def _covers(finding: Finding, other: Finding) -> bool:
    spans = [finding.span, *(label.span for label in finding.labels)]
    return finding.path == other.path and any(s.line <= other.span.line <= s.end_line for s in spans)
