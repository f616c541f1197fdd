"""What a format may know besides the report."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.report.colour import PLAIN, Palette
from shapedoc.source.notebook import Notebook

__all__ = ["Context", "Place"]

_LINE = re.compile(r"\bline (\d+)\b")


def _no_text(path: str) -> str | None:
    return None


def _no_notebook(path: str) -> Notebook | None:
    return None


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands as its author counts: in a notebook the cell, and the lines of that cell."""

    path: str
    cell: int | None
    span: Span

    def __str__(self) -> str:
        """``model.py:4:12``, or ``model.ipynb:cell 3:4:12``."""
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.path}:{cell}{self.span.line}:{self.span.column + 1}"


@dataclass(frozen=True, slots=True)
class Context:
    """``text_of`` gives the source of a path as findings name it, or None; ``statistics`` asks for the counts.

    ``notebook_of`` gives the notebook that lies at a path, or None where none does. ``root`` is the folder that paths
    are told relative to in formats for other programs; the current one when empty.
    """

    text_of: Callable[[str], str | None] = _no_text
    palette: Palette = PLAIN
    statistics: bool = False
    root: str = ""
    notebook_of: Callable[[str], Notebook | None] = _no_notebook

    def place(self, path: str, span: Span) -> Place:
        """Return where a span of a file stands; one that names another file stands there."""
        path = span.path or path
        notebook = self.notebook_of(path)
        if notebook is None:
            return Place(path, None, span)
        cell, within = notebook.within(span)
        return Place(path, cell, within)

    def file_lines(self, path: str, span: Span) -> tuple[int, int]:
        """Return the first and last line of the file itself on which a span is written."""
        notebook = self.notebook_of(span.path or path)
        if notebook is None:
            return span.line, span.end_line
        first = notebook.file_line(span.line)
        return first, max(first, notebook.file_line(span.end_line))

    def words(self, finding: Finding, text: str) -> str:
        """Return a text of a finding, with the lines that it names counted as the author does."""
        notebook = self.notebook_of(finding.path)
        if notebook is None or finding.code == "SD901":  # Python's own words, which it found in the cell alone
            return text

        def counted(match: re.Match[str]) -> str:
            place = self.place(finding.path, Span(int(match[1]), 0, int(match[1]), 0))
            return f"cell {place.cell}, line {place.span.line}"

        return _LINE.sub(counted, text)
