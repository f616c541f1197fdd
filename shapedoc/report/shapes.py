"""A file with what was inferred of it: shapes beside their lines, and where knowledge was lost."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from shapedoc.core.span import Span
from shapedoc.core.spelling import Spelling
from shapedoc.core.text import split_lines
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Tensor
from shapedoc.report.colour import Palette
from shapedoc.report.context import Context
from shapedoc.report.summary import count
from shapedoc.report.width import shown, shown_width
from shapedoc.source.notebook import Notebook

__all__ = ["shapes", "unknowns"]

_WIDEST = 96


def shapes(trace: Trace, palette: Palette, notebook: Notebook | None = None) -> Iterator[str]:
    """Yield every line of the file, with the shapes of what it assigns, or else of what it makes, beside it.

    A name that has several shapes, because its function was followed by itself and as it is called, has them all.
    A notebook is shown cell by cell, as it was written.
    """
    beside = _beside(trace)
    lines = [shown(line.rstrip("\r\n")) for line in split_lines(notebook.shown if notebook else trace.text)]
    width = len(str(len(lines)))
    annotated = [shown_width(lines[number - 1]) for number in beside if number <= len(lines)]
    column = min(max(annotated, default=0), _WIDEST)
    for number, line in enumerate(lines, 1):
        cell = notebook.cell_at(number) if notebook else None
        if cell is not None and number == cell.first:
            yield from ("", palette.paint(palette.strong, f"cell {cell.number}"))[number == 1 :]
        gutter = palette.paint(palette.gutter, f"{number if cell is None else number - cell.first + 1:>{width}} |")
        if number in beside:
            blanks = " " * max(0, column - shown_width(line))
            yield f"{gutter} {line}{blanks}  {palette.paint(palette.help, beside[number])}"
        else:
            yield f"{gutter} {line}".rstrip()


def unknowns(trace: Trace, path: str, context: Context) -> Iterator[str]:
    """Yield one line for each place where knowledge was lost, and why; then how often each reason came up."""
    places: dict[tuple[int, int], dict[str, None]] = defaultdict(dict)
    for event in trace.events:
        if event.lost:
            places[event.span.line, event.span.column][f"{event.op}: {event.lost}"] = None
    for (line, column), reasons in sorted(places.items()):
        for reason in reasons:
            yield f"{context.place(path, Span(line, column, line, column))}: {reason}"
    for reason, times in sorted(trace.unknown.items(), key=lambda item: (-item[1], item[0])):
        yield f"{reason}: {count(times, 'time')}"


_Beside = dict[int, dict[str, dict[str, None]]]


def _beside(trace: Trace) -> dict[int, str]:
    """What stands beside each line: names and their shapes, each once, in the order in which they came about."""
    lines = split_lines(trace.text)
    named: _Beside = defaultdict(lambda: defaultdict(dict))
    unnamed: dict[int, list[tuple[Event, str]]] = defaultdict(list)
    for event, spelling in _events(trace):
        _parameters(event, spelling, named)
        if not isinstance(event.result, Tensor):
            continue
        shape = spelling.show_shape(event.shape or event.result.shape)
        place = _place_of_name(event, lines)
        if place is not None:
            named[place][event.target][shape] = None
        if place != event.span.line:
            unnamed[event.span.line].append((event, shape))
    for line, found in named.items():
        header = "".join(lines[line - 1 :])
        named[line] = dict(sorted(found.items(), key=lambda item: header.find(item[0])))
    for line, made in unnamed.items():
        if line not in named:
            outermost = min((e.span for e, _ in made), key=lambda s: (s.column, -s.end_line, -s.end_column))
            named[line][""].update((shape, None) for event, shape in made if event.span == outermost)
    return {line: _text(found) for line, found in named.items()}


def _events(trace: Trace) -> Iterator[tuple[Event, Spelling]]:
    """What happened in this file, each with what its entry calls sizes, by what was known at the end of it."""
    for _, start, end, sizes in trace.entries:
        spelling = Spelling(trace, start, end, sizes)
        for event in trace.events[start:end]:
            if not event.span.path and event.op != "phi":
                yield event, spelling


def _parameters(event: Event, spelling: Spelling, named: _Beside) -> None:
    """Add what is known of parameters that this event uses, beside the header of a function followed by itself."""
    if len(event.calls) != 1 or event.calls[0].span.path:
        return
    for operand in event.operands:
        value = operand.value
        if isinstance(value, Tensor) and value.event < 0 and value.source:
            named[event.calls[0].span.line].setdefault(value.source, {spelling.sizes.show_shape(value.shape): None})


def _place_of_name(event: Event, lines: Sequence[str]) -> int | None:
    """The line that assigns the event's target: its own, or that of a call that returns it."""
    if not event.target:
        return None
    for span in (event.span, *(call.span for call in reversed(event.calls))):
        if not span.path and span.line <= len(lines) and _assigns(lines[span.line - 1], event.target):
            return span.line
    return event.span.line


def _assigns(line: str, target: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(target)}(?!\w).*=", line) is not None


def _text(found: Mapping[str, Mapping[str, None]]) -> str:
    """Names with their shapes; the one with the author's names before the one with numbers."""
    ordered = {name: sorted(shapes, key=lambda shape: shape.upper() == shape.lower()) for name, shapes in found.items()}
    return ", ".join(f"{name} {' | '.join(shapes)}".strip() for name, shapes in ordered.items())
