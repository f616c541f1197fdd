"""``nbgrader``: the columns of ``nbgrader export``, quoted where nbgrader itself forgets to.

Dates are nbgrader's own and stay empty; nothing is taken off for lateness here.
Source: nbgrader 0.9, nbgrader/plugins/export.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.grade.exports.handing import Handing
from shapedoc.grade.exports.table import table
from shapedoc.grade.result import GradedSubmission

__all__ = ["FILE", "ONE_EACH", "SUFFIX", "render"]

SUFFIX, ONE_EACH, FILE = ".csv", False, ""

_WHO = ("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email")
_MARKS = ("raw_score", "late_submission_penalty", "score", "max_score")


def render(results: Sequence[GradedSubmission], handing: Handing) -> str:
    """One row a submission."""
    rows: list[Sequence[str | float]] = [(*_WHO, *_MARKS)]
    for result in results:
        who = handing.roster.find(result.name)
        person = (who.id or who.id_number or who.email, who.last_name, who.first_name, who.email)
        rows.append((result.assignment, "", "", *person, result.score, 0.0, result.score, result.max_score))
    return table(rows)
