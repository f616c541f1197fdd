"""Texts of a submission as they may stand in a page, a terminal or a file: nothing in them acts on what shows them."""

from __future__ import annotations

from math import isfinite

from shapedoc.report.plain import one_line, plain
from shapedoc.report.width import shown

__all__ = ["number", "safe", "safe_line"]


def safe(text: str) -> str:
    """Return `text` with its lines kept and every control character made visible.

    Escape sequences, NUL, halves of surrogate pairs and marks that turn the direction of writing become signs that
    show them. What is left is what XML and UTF-8 take.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return plain("\n".join(shown(line) for line in lines))


def safe_line(text: str) -> str:
    """Return `text` as `safe` does, on one line."""
    return one_line(safe(text))


def number(value: float, digits: int = 2) -> str:
    """A number of points: at most so many digits after the point, and none that are 0."""
    if not isfinite(value):
        return str(value)
    text = f"{round(value, digits) + 0.0:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
