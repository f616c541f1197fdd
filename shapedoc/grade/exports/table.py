"""CSV that any reader takes, and that no spreadsheet runs.

Source: RFC 4180 for quoting; OWASP, CSV Injection, for the characters that start a formula.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from shapedoc.grade.pages.text import number, safe_line

__all__ = ["table"]

Cell = str | float | int

# The last four are the wide forms that East Asian spreadsheets take for the first four.
_STARTS = frozenset("=+-@|%\uff1d\uff0b\uff0d\uff20")


def table(rows: Iterable[Sequence[Cell]], *, as_they_are: Sequence[str] = ()) -> str:
    """Rows as CSV, each line ended by ``\\n``.

    Texts are put on one line and quoted where they need it; one that a spreadsheet would run as a formula gets a ``'``
    before it. Numbers have at most four digits after the point. as_they_are: texts that a reader wants with the very
    spaces that they have.
    """
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    for row in rows:
        writer.writerow([cell if cell in as_they_are else _cell(cell) for cell in row])
    return lines.getvalue()


def _cell(cell: Cell) -> str:
    if not isinstance(cell, str):
        return number(cell, 4)
    text = safe_line(cell)
    return f"'{text}" if text[:1] in _STARTS else text
