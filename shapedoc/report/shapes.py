"""A file with what was inferred of it: shapes beside their lines, and where knowledge was lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from shapedoc.core.text import split_lines
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Tensor
from shapedoc.report.colour import Palette
from shapedoc.report.summary import count
from shapedoc.report.width import shown, shown_width

__all__ = ["shapes", "unknowns"]

_WIDEST = 96


def shapes(trace: Trace, palette: Palette) -> Iterator[str]:
    """Yield every line of the file, with the shapes of what it assigns, or else of what it makes, beside it.

    A name that has several shapes, because its function was followed by itself and as it is called, has them all.
    """
    beside = _beside(trace)
    lines = [shown(line.rstrip("\r\n")) for line in split_lines(trace.text)]
    width = len(str(len(lines)))
    annotated = [shown_width(lines[number - 1]) for number in beside if number <= len(lines)]
    column = min(max(annotated, default=0), _WIDEST)
    for number, line in enumerate(lines, 1):
        gutter = palette.paint(palette.gutter, f"{number:>{width}} |")
        if number in beside:
            blanks = " " * max(0, column - shown_width(line))
            yield f"{gutter} {line}{blanks}  {palette.paint(palette.help, beside[number])}"
        else:
            yield f"{gutter} {line}".rstrip()


def unknowns(trace: Trace, path: str) -> Iterator[str]:
    """Yield one line for each place where knowledge was lost, and why; then how often each reason came up."""
    places: dict[tuple[int, int], dict[str, None]] = defaultdict(dict)
    for event in trace.events:
        if event.lost:
            places[event.span.line, event.span.column][f"{event.op}: {event.lost}"] = None
    for (line, column), reasons in sorted(places.items()):
        for reason in reasons:
            yield f"{path}:{line}:{column + 1}: {reason}"
    for reason, times in sorted(trace.unknown.items(), key=lambda item: (-item[1], item[0])):
        yield f"{reason}: {count(times, 'time')}"


def _beside(trace: Trace) -> Mapping[int, str]:
    by_line: dict[int, list[Event]] = defaultdict(list)
    for event in trace.events:
        if isinstance(event.result, Tensor) and not event.span.path:
            by_line[event.span.end_line].append(event)
    return {line: text for line, events in by_line.items() if (text := _line(events))}


def _line(events: list[Event]) -> str:
    named = [event for event in events if event.target]
    if not named:
        widest = min(events, key=lambda event: (event.span.line, event.span.column, -event.span.end_column))
        named = [event for event in events if event.span == widest.span]
    by_name: dict[str, dict[str, None]] = defaultdict(dict)
    for event in named:
        by_name[event.target][_shape(event)] = None
    return ", ".join(f"{name} {' | '.join(found)}".strip() for name, found in by_name.items())


def _shape(event: Event) -> str:
    if event.shape is not None:
        return str(event.shape)
    return str(event.result.shape) if isinstance(event.result, Tensor) else "?"
