"""``moodle``: a CSV for Moodle's grade import, with the grade and the feedback side by side.

Moodle takes any columns and asks what they are: map ``ID number`` to ``useridnumber``, or ``Email address`` to
``useremail``. The feedback must be mapped as well: an import of feedback without the grade, or the other way round,
empties the other.
Source: Moodle documentation, Grade import, notes 3 and on mapping.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.grade.exports.feedback import in_short
from shapedoc.grade.exports.handing import Handing
from shapedoc.grade.exports.table import table
from shapedoc.grade.result import GradedSubmission

__all__ = ["FILE", "ONE_EACH", "SUFFIX", "render"]

SUFFIX, ONE_EACH, FILE = ".csv", False, ""


def render(results: Sequence[GradedSubmission], handing: Handing) -> str:
    """One row a student."""
    title = results[0].title if results else ""
    rows: list[tuple[str | float, ...]] = [
        ("First name", "Last name", "ID number", "Email address", f"{title} (Real)", f"{title} (Feedback)")
    ]
    for result in results:
        student = handing.roster.find(result.name)
        feedback = in_short(result, published=handing.published)
        number = student.id_number or (student.id if handing.roster.students else "")
        rows.append((student.first_name, student.last_name, number, student.email, result.score, feedback))
    return table(rows)
