"""Students' attention exercises, marked: assignments, the jail, marking, feedback, exports."""

from __future__ import annotations

from shapedoc.grade.assignment import Assignment, AssignmentError, RubricItem, load
from shapedoc.grade.result import GradedSubmission, ItemResult

__all__ = ["Assignment", "AssignmentError", "GradedSubmission", "ItemResult", "RubricItem", "load"]
