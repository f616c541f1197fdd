"""Feedback on one line, for a cell of a gradebook."""

from __future__ import annotations

from shapedoc.grade.messages import say
from shapedoc.grade.pages.text import number, safe_line
from shapedoc.grade.result import GradedSubmission

__all__ = ["in_short"]


def in_short(result: GradedSubmission, *, published: bool = False) -> str:
    """The items that a student may see, each with its points, and what is wrong with those that fail."""
    told = [safe_line(result.message)] if result.message else []
    for item in result.items:
        if not item.is_shown(published=published):
            continue
        head = f"{safe_line(item.title)}: {number(item.points)}/{number(item.max_points)}"
        seen = item.for_student(published=published)
        wrong = seen.evidence.says if seen.evidence else seen.reason or seen.says
        told.append(f"{head} ({safe_line(wrong)})" if item.status != "passed" else head)
    return "; ".join(told) or say(result.language, f"report.status.{result.status}")
