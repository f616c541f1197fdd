"""Places in a source text."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Label", "Span"]


@dataclass(slots=True, unsafe_hash=True, order=True)
class Span:
    """A stretch of text: lines count from 1, columns from 0 in characters, the end is exclusive.

    ``path`` is empty for the file under analysis and names another file where a fact comes from one.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    path: str = ""

    def covers(self, line: int) -> bool:
        """Whether the span touches `line`."""
        return self.line <= line <= self.end_line

    def contains(self, other: Span) -> bool:
        """Whether `other` lies inside this span of the same file."""
        return (
            self.path == other.path
            and (self.line, self.column) <= (other.line, other.column)
            and (other.end_line, other.end_column) <= (self.end_line, self.end_column)
        )


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that a finding points at, with the words that stand under it."""

    span: Span
    text: str
