"""Edits of a source text, and what may be said of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from shapedoc.core.span import Span
from shapedoc.core.text import split_lines

__all__ = ["Edit", "Fix", "OverlappingEdits", "Safety", "Verified", "apply_edits", "overlap", "solid"]

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


def overlap(one: Edit, other: Edit) -> bool:
    """Whether two edits want the same text, or the same place."""
    a, b = one.span, other.span
    crossed = (a.line, a.column) < (b.end_line, b.end_column) and (b.line, b.column) < (a.end_line, a.end_column)
    return crossed or (a.line, a.column) == (b.line, b.column)


def solid(text: str, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The same change in edits that each replace some text, and that do not touch.

    An insertion stands between two characters, so that the same one made twice would be there twice; replacing the
    character before it is refused the second time.
    """
    starts = _line_starts(text)
    places: list[tuple[int, int, str]] = []
    for edit in sorted(edits, key=lambda e: (e.span.line, e.span.column, e.span.end_line, e.span.end_column)):
        start = _offset(starts, edit.span.line, edit.span.column)
        end = _offset(starts, edit.span.end_line, edit.span.end_column)
        new = edit.text
        if start == end and start > 0 and text[start - 1] != "\n":
            start -= 1
            new = text[start] + new
        if places and places[-1][1] > start:
            before = places.pop()
            new = before[2] + new[before[1] - start :]
            start = before[0]
        places.append((start, end, new))
    return tuple(Edit(_span(starts, start, end), new) for start, end, new in places)


def _span(starts: Sequence[int], start: int, end: int) -> Span:
    line, end_line = bisect_right(starts, start), bisect_right(starts, end)
    return Span(line, start - starts[line - 1], end_line, end - starts[end_line - 1])


def _line_starts(text: str) -> Sequence[int]:
    starts = [0]
    for line in split_lines(text):
        starts.append(starts[-1] + len(line))
    return starts


def _offset(starts: Sequence[int], line: int, column: int) -> int:
    return starts[line - 1] + column
