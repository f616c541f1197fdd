"""``canvas``: the CSV that Canvas's gradebook imports.

It wants ``Student`` and ``ID`` first, then ``SIS User ID``, ``SIS Login ID`` and ``Section``, one column for each
assignment, and a row with the points possible; students are found by ID, then by SIS ids. The ids come from a roster,
best from the gradebook that Canvas itself exports.
Source: Instructure, How do I import grades in the Gradebook?; canvas-lms, lib/gradebook_importer.rb.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.grade.exports.handing import Handing
from shapedoc.grade.exports.table import table
from shapedoc.grade.result import GradedSubmission

__all__ = ["FILE", "ONE_EACH", "SUFFIX", "render"]

SUFFIX, ONE_EACH, FILE = ".csv", False, ""

_POSSIBLE = "    Points Possible"


def render(results: Sequence[GradedSubmission], handing: Handing) -> str:
    """The gradebook with one assignment."""
    title = results[0].title if results else ""
    most = results[0].max_score if results else 0.0
    rows: list[tuple[str | float, ...]] = [
        ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", title),
        (_POSSIBLE, "", "", "", "", most),
    ]
    for result in results:
        student = handing.roster.find(result.name)
        canvas_id = student.id if handing.roster.students else ""
        rows.append((student.name, canvas_id, student.sis_user_id, student.sis_login_id, student.section, result.score))
    return table(rows, as_they_are=(_POSSIBLE,))
