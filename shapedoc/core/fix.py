"""Edits of a source text, and what may be said of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from shapedoc.core.span import Span
from shapedoc.core.text import split_lines

__all__ = ["Edit", "Fix", "OverlappingEdits", "Safety", "Verified", "apply_edits"]

Safety = Literal["safe", "unsafe", "display"]
Verified = Literal["reanalysed", "executed"]


class OverlappingEdits(ValueError):
    """Two edits want the same text."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A set of edits that clears one finding.

    ``safe``: cannot change what a right program computes. ``unsafe``: changes results, as most shape
    fixes must. ``display``: shown, never applied.
    """

    description: str
    edits: tuple[Edit, ...]
    safety: Safety
    verified: Verified | None = None


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return `text` with every edit made.

    Raises OverlappingEdits when two edits want the same text; nothing is changed then.
    """
    starts = _line_starts(text)
    placed = sorted(
        (_offset(starts, e.span.line, e.span.column), _offset(starts, e.span.end_line, e.span.end_column), e.text)
        for e in edits
    )
    for (_, end, _), (start, _, _) in pairwise(placed):
        if start < end:
            raise OverlappingEdits(f"two edits want the text at offset {start}")
    for start, end, replacement in reversed(placed):
        text = text[:start] + replacement + text[end:]
    return text


def _line_starts(text: str) -> Sequence[int]:
    starts = [0]
    for line in split_lines(text):
        starts.append(starts[-1] + len(line))
    return starts


def _offset(starts: Sequence[int], line: int, column: int) -> int:
    return starts[line - 1] + column
