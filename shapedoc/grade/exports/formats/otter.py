"""``otter``: the ``final_grades.csv`` of ``otter grade``: a column a question, sorted, and the points possible first.

``percent_correct`` is a share between 0 and 1, as otter has it.
Source: otter-grader 7.0, otter/grade/utils.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.grade.exports.handing import Handing
from shapedoc.grade.exports.table import table
from shapedoc.grade.result import GradedSubmission

__all__ = ["FILE", "ONE_EACH", "SUFFIX", "render"]

SUFFIX, ONE_EACH, FILE = ".csv", False, ""

_NONE = "--"
_OWN = ("total_points_earned", "percent_correct", "grading_status")


def render(results: Sequence[GradedSubmission], handing: Handing) -> str:
    """One row a submission, sorted by its name."""
    most = {item.id: item.max_points for result in results for item in result.items}
    ids = sorted(most)
    total = results[0].max_score if results else 0.0
    rows: list[Sequence[str | float]] = [("file", *ids, *_OWN)]
    rows.append(("points-per-question", *(most[id_] for id_ in ids), total, 1, _NONE))
    for result in sorted(results, key=lambda one: one.name):
        points = {item.id: item.points for item in result.items}
        share = result.score / result.max_score if result.max_score else 0.0
        done = result.status in ("passed", "failed")
        status = "Completed" if done else f"{result.status}: {result.message}".rstrip(": ")
        rows.append((result.name, *(points.get(id_, 0.0) for id_ in ids), result.score, share, status))
    return table(rows, as_they_are=(_NONE,))
