"""Source lines with marks under them: the fault with carets, every other place with dashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.text import split_lines
from shapedoc.report.colour import Palette
from shapedoc.report.context import Context, Place
from shapedoc.report.width import shown, shown_width

__all__ = ["gutter_width", "snippets"]

_LONGEST = 160
_MOST = 10  # places of one finding that are shown


@dataclass(frozen=True, slots=True)
class _Mark:
    """One underlining: of the fault, or of a label; `place` is where `span`, which counts as the text does, stands."""

    span: Span
    place: Place
    text: str
    fault: bool

    def listing(self) -> tuple[str, int | None]:
        """What is shown in one listing: a file, or a cell of a notebook."""
        return self.place.path, self.place.cell


def gutter_width(finding: Finding, context: Context) -> int:
    """Return how many digits the largest line number in the snippets of `finding` has."""
    return max(len(str(mark.place.span.line)) for mark in _marks(finding, context))


def snippets(finding: Finding, context: Context, palette: Palette) -> Iterator[str]:
    """Yield the lines that show where `finding` stands: its own file first, then every other file with a label.

    The cells of a notebook are shown as files are. Marks stand in the order of lines; on one line the fault comes
    first, then labels from left to right. A place in a file that cannot be read is named and not shown.
    """
    width = gutter_width(finding, context)
    bar = palette.paint(palette.gutter, f"{' ' * width} |")
    marks = _marks(finding, context)
    for listing in dict.fromkeys(mark.listing() for mark in marks):
        here = sorted(
            (m for m in marks if m.listing() == listing), key=lambda m: (m.span.line, not m.fault, m.span.column)
        )
        head = next((mark for mark in here if mark.fault), here[0])
        arrow = palette.paint(palette.gutter, f"{' ' * width}{'-->' if listing == marks[0].listing() else ':::'}")
        yield f"{arrow} {head.place}"
        text = context.text_of(head.place.path)
        if text is None:
            yield from (f"{bar} {mark.text}" for mark in here if mark.text and not mark.fault)
            continue
        yield bar
        yield from _listing(here, split_lines(text), width, palette, palette.severity(finding.severity))


def _marks(finding: Finding, context: Context) -> list[_Mark]:
    own = next((label.text for label in finding.labels if label.span == finding.span), _stated(finding))
    others = [(label.span, label.text) for label in finding.labels if label.span != finding.span]
    marks = [(finding.span, own), *others[: _MOST - 1]]
    return [
        _Mark(span, context.place(finding.path, span), context.words(finding, text), fault=number == 0)
        for number, (span, text) in enumerate(marks)
    ]


def _stated(finding: Finding) -> str:
    if not finding.actual:
        return ""
    subject = f"{finding.tensor} is {finding.actual}" if finding.tensor else f"is {finding.actual}"
    return f"{subject}, should be {finding.expected}" if finding.expected else subject


def _listing(
    marks: Sequence[_Mark], lines: Sequence[str], width: int, palette: Palette, fault_colour: str
) -> Iterator[str]:
    for number, here in groupby(marks, key=lambda mark: mark.span.line):
        group = list(here)
        whole = lines[number - 1].rstrip("\r\n") if number <= len(lines) else ""
        line, shift = _clipped(whole, min(mark.span.column for mark in group))
        gutter = palette.paint(palette.gutter, f"{group[0].place.span.line:>{width}} |")
        yield f"{gutter} {shown(line)}".rstrip()
        for mark in group:
            colour = fault_colour if mark.fault else palette.label
            indent, length = _extent(mark.span, line, shift)
            underline = palette.paint(colour, ("^" if mark.fault else "-") * length)
            bar = palette.paint(palette.gutter, f"{' ' * width} |")
            text = palette.paint(colour, mark.text)
            yield f"{bar} {' ' * indent}{underline} {text}".rstrip()


def _clipped(line: str, first: int) -> tuple[str, int]:
    """A line short enough to read, in which the column `first` is seen, and how far its columns have moved left."""
    if len(line) <= _LONGEST:
        return line, 0
    start = max(0, first - _LONGEST // 4)
    end = start + _LONGEST
    clipped = f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
    return clipped, max(0, start - 1)


def _extent(span: Span, line: str, shift: int) -> tuple[int, int]:
    """Return (columns before the mark, columns of the mark); a span of many lines is marked on its first."""
    start = min(span.column - shift, len(line))
    end = span.end_column - shift if span.end_line == span.line else len(line.rstrip())
    before, until = shown_width(line[:start]), shown_width(line[:end])
    return before, max(1, until - before)
