"""Notebooks: the code cells of an ``.ipynb`` file as one text, and the way back from its lines to the cells.

Everything between reading and reporting knows only the joined text. A ``Notebook`` says in which cell, and where in it,
a place of that text lies; reports ask it, and so does whoever writes edits back.
Source: Jupyter, The Notebook file format (nbformat 3 and 4).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from textwrap import dedent

from shapedoc.core.fix import Edit, OverlappingEdits
from shapedoc.core.span import Span
from shapedoc.core.text import split_lines
from shapedoc.source.magics import plain_python
from shapedoc.source.notebook_json import CodeLiteral, Replacement, code_literals, rewritten
from shapedoc.source.parse import SourceError, TooDeep, parse

__all__ = ["SUFFIX", "Cell", "NotANotebook", "Notebook", "UneditablePlace", "is_notebook"]

# What an exercise leaves to the reader: ``<YOUR CODE HERE>``, ``<...>``; no comparison looks like it.
_GAP = re.compile(
    r"(?:^|[=(,.:]|return)\s*<(?:\.\.\.|[A-Za-z][^<>=\n]*)>|#.*\b(?:your code|code here)\b",
    re.MULTILINE | re.IGNORECASE,
)

SUFFIX = ".ipynb"


class NotANotebook(ValueError):
    """A text that is no notebook, and why."""


class UneditablePlace(ValueError):
    """An edit that cannot be written back: it reaches over two cells, or changes what only IPython reads."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number among all cells from 1, its first line in the joined text, and its source as written."""

    number: int
    first: int
    source: str
    python: str

    @property
    def lines(self) -> int:
        """How many lines of the joined text are its own."""
        return len(split_lines(self.source))


class Notebook:
    """A notebook as one Python file.

    text: the code cells, one below the other, with all that is no Python replaced, lines and columns kept. shown: the
    same lines as the author wrote them. broken: the cells that do not parse, blank in `text`, with what is wrong.
    """

    def __init__(self, written: str) -> None:
        """`written` is the content of the file. Raises NotANotebook."""
        self._written = written
        self.cells: list[Cell] = []
        self.broken: list[SourceError] = []
        first = 1
        for number, source in _code(written):
            cell = Cell(number, first, source, self._python(source, first))
            self.cells.append(cell)
            first += cell.lines
        self.text = "".join(_whole_lines(cell.python) for cell in self.cells)
        self.shown = "".join(_whole_lines(cell.source) for cell in self.cells)
        self._firsts = [cell.first for cell in self.cells]

    def _python(self, source: str, first: int) -> str:
        """The Python of a cell; blank where it does not parse, which is noted unless the cell has a gap to fill in."""
        wrong: SourceError | None = None
        for timed in (True, False):
            python = plain_python(source, timed=timed)
            try:
                parse(python)
            except TooDeep:
                return python
            except SourceError as problem:
                wrong = problem
            else:
                return python
        if wrong is not None and not _GAP.search(source) and not _parses(dedent(python)):
            wrong.line += first - 1
            self.broken.append(wrong)
        return "".join("\n" for _ in split_lines(source))

    def cell_at(self, line: int) -> Cell:
        """The cell in which a line of the joined text lies."""
        return self.cells[max(0, bisect_right(self._firsts, line) - 1)]

    def within(self, span: Span) -> tuple[int, Span]:
        """The number of the cell in which a span of the joined text begins, and the span in the lines of that cell."""
        cell = self.cell_at(span.line)
        above = cell.first - 1
        end = min(span.end_line - above, max(cell.lines, 1))
        return cell.number, replace(span, line=span.line - above, end_line=end)

    def file_line(self, line: int) -> int:
        """The line of the file itself, which is JSON, on which a line of the joined text is written."""
        cell = self.cell_at(line)
        literal = self._literals[cell.number]
        offset = self._offset(cell, line, 0)
        start = literal.start
        for start, end in literal.strings:
            length = len(json.loads(f'"{self._written[start:end]}"'))
            if offset < length:
                break
            offset -= length
        return self._written.count("\n", 0, start) + 1

    def edited(self, edits: Iterable[Edit]) -> str:
        """The content of the file after edits of the joined text; nothing but the strings that change is touched.

        Raises OverlappingEdits, and UneditablePlace for an edit that a cell cannot take.
        """
        changes: defaultdict[int, list[Replacement]] = defaultdict(list)
        for edit in edits:
            cell, change = self._change(edit)
            changes[cell.number].append(change)
        for replacements in changes.values():
            replacements.sort()
            for (_, end, _), (start, _, _) in pairwise(replacements):
                if start < end:
                    raise OverlappingEdits(f"two edits want the text at offset {start} of a cell")
        return rewritten(self._written, changes)

    def _change(self, edit: Edit) -> tuple[Cell, Replacement]:
        span = edit.span
        cell = self.cell_at(span.line)
        after = cell.first + cell.lines
        if span.line >= after:
            start = end = len(cell.source)
            opened = "" if cell.source.endswith(("\n", "\r")) or not cell.source else "\n"
            return cell, (start, end, opened + edit.text)
        if (span.end_line, span.end_column) > (after, 0):
            raise UneditablePlace(f"the edit reaches from cell {cell.number} into the next one")
        self._refuse_magic(cell, span)
        start = self._offset(cell, span.line, span.column)
        end = self._offset(cell, span.end_line, span.end_column)
        return cell, (start, end, edit.text)

    @staticmethod
    def _refuse_magic(cell: Cell, span: Span) -> None:
        """Refuse to change what is not in the notebook as it was analysed; adding beside it does no harm."""
        shown, python = split_lines(cell.source), split_lines(cell.python)
        for number in range(span.line, span.end_line + 1):
            index = number - cell.first
            if index >= len(shown):
                return
            column = span.column if number == span.line else 0
            untouched = number == span.end_line and span.end_column == 0
            if not untouched and shown[index][column:].rstrip("\r\n") != python[index][column:].rstrip("\r\n"):
                raise UneditablePlace(f"line {index + 1} of cell {cell.number} is not all Python")
        if span.column == 0 and shown[span.line - cell.first].lstrip().startswith("%%"):
            raise UneditablePlace(f"nothing can stand before the magic of cell {cell.number}")

    @staticmethod
    def _offset(cell: Cell, line: int, column: int) -> int:
        """The offset of a place of the joined text in the source of its cell."""
        lines = split_lines(cell.source)[: line - cell.first]
        return sum(map(len, lines)) + column

    @cached_property
    def _literals(self) -> dict[int, CodeLiteral]:
        return code_literals(self._written)


def is_notebook(path: str) -> bool:
    """Whether a file of this name is read as a notebook."""
    return path.endswith(SUFFIX)


def _whole_lines(source: str) -> str:
    return source if not source or source.endswith(("\n", "\r")) else f"{source}\n"


def _parses(text: str) -> bool:
    try:
        parse(text)
    except SourceError:
        return False
    return True


def _code(written: str) -> Iterator[tuple[int, str]]:
    """The sources of code cells and their numbers among all cells; none of a notebook in another language."""
    try:
        document = json.loads(written)
    except json.JSONDecodeError as problem:
        raise NotANotebook(_broken(written, problem)) from None
    except RecursionError:
        raise NotANotebook("is nested too deeply to be read") from None
    cells = _all_cells(document)
    if cells is None:
        raise NotANotebook("has no list of cells")
    if _language(document) not in ("", "python", "ipython", "ipython3", "ipython2", "python3", "python2"):
        return
    for number, cell in enumerate(cells, 1):
        match cell:
            case {"cell_type": "code", "language": str(language)} if language.lower() != "python":
                pass
            case {"cell_type": "code", "source": source} | {"cell_type": "code", "input": source}:
                yield number, _joined(source, number)


def _broken(written: str, problem: json.JSONDecodeError) -> str:
    if not written.strip():
        return "is empty"
    if problem.pos >= len(written.rstrip()):
        return "breaks off before its end"
    what = f"{problem.msg[:1].lower()}{problem.msg[1:]}"
    return f"is not valid JSON: {what} (line {problem.lineno}, column {problem.colno})"


def _all_cells(document: object) -> Sequence[object] | None:
    match document:
        case {"cells": [*cells]}:
            return cells
        case {"worksheets": [*sheets]}:
            return [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells") or ()]
    return None


def _language(document: object) -> str:
    match document:
        case {"metadata": {"language_info": {"name": str(name)}}}:
            return name.lower()
        case {"metadata": {"kernelspec": {"language": str(name)}}}:
            return name.lower()
    return ""


def _joined(source: object, number: int) -> str:
    if isinstance(source, str):
        return source
    if isinstance(source, list):
        lines = [line for line in source if isinstance(line, str)]
        if len(lines) == len(source):
            return "".join(lines)
    raise NotANotebook(f"has a source in cell {number} that is no text")
