"""Jupyter: ``%load_ext shapedoc``, and ``%%shapedoc`` before a cell explains its error in a small table."""

from __future__ import annotations

import html
from os.path import basename
from pathlib import Path
from typing import Any

from shapedoc.core.finding import Finding
from shapedoc.integrations.told import text_of_finding

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
        with record(lambda path: _is_cell(path) or inside(path)) as recording:
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
    """A finding as a small table: what, where each size came from, why, and the step to take."""
    colour = _COLOURS[finding.severity]
    rows = [(finding.tensor, finding.actual)]
    rows += [(label.text.partition(" is ")[0], label.text.partition(" is ")[2]) for label in finding.labels]
    cells = [f"<tr><td><code>{_text(a)}</code></td><td><code>{_text(b)}</code></td></tr>" for a, b in rows if b]
    more = [("why", finding.why), ("help", finding.help)]
    cells += [f"<tr><td>{key}</td><td>{_text(text)}</td></tr>" for key, text in more if text]
    return (
        f'<div style="border-left:4px solid {colour};padding:4px 10px">'
        f'<b style="color:{colour}">{finding.severity}[{finding.code}] {finding.name}</b>: {_text(finding.message)}'
        f'<table style="margin-top:6px">{"".join(cells)}</table></div>'
    )


def _text(text: str) -> str:
    return html.escape(text)


def _is_cell(path: str) -> bool:
    return path.startswith("<ipython-input") or "ipykernel_" in path or basename(path).startswith("ipykernel")


def _covers(finding: Finding, other: Finding) -> bool:
    spans = [finding.span, *(label.span for label in finding.labels)]
    return finding.path == other.path and any(s.line <= other.span.line <= s.end_line for s in spans)
