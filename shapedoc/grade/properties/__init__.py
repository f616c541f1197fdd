"""The library of properties that an assignment's rubric names, one file each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapedoc.grade.assignment import Assignment

__all__ = ["check_parameters"]


def check_parameters(name: str, parameters: Mapping[str, object], assignment: Assignment) -> str:
    """Why an item cannot be marked by a property with these parameters, or nothing."""
    return ""
