"""The shape flow of one call: every operation a row, every axis a coloured chip, the first wrong axis red."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from shapedoc.core.finding import Finding
from shapedoc.core.shape import Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Tensor
from shapedoc.report.svg.canvas import MUTED, RIGHT, WRONG, Picture, box, hue, label, path, width_of
from shapedoc.report.svg.words import ENGLISH, Words

__all__ = ["shape_flow"]

_ROW, _LEFT, _GAP, _CHIP = 30.0, 16.0, 28.0, 20.0
_MOST_ROWS = 120
_TEXT = 56


@dataclass(slots=True)
class _Row:
    """One operation as it is drawn."""

    event: Event
    text: str
    sizes: tuple[str, ...]
    sources: list[int] = field(default_factory=list)
    wrong: list[tuple[str, tuple[str, ...], int | None]] = field(default_factory=list)
    says: str = ""
    right: tuple[str, ...] = ()


def shape_flow(
    trace: Trace, findings: Sequence[Finding] = (), entry: str | None = None, *, words: Words = ENGLISH
) -> Picture:
    """Draw what one entry of a trace does to shapes.

    entry: its name, such as ``Attention.forward``; the one with the first fault where it is not given, else the
    longest. findings: the rules' findings of the file; the first one that stands on a row makes it red, as does the
    first problem that an operation met itself.

    Raises KeyError, with the names there are, for an entry that the trace does not have.
    """
    start, end, name = _chosen(trace, findings, entry)
    rows = _rows(trace, start, end)
    _mark(trace, rows, findings)
    return _drawn(rows, name or PurePath(trace.path).name, words)


def _chosen(trace: Trace, findings: Sequence[Finding], entry: str | None) -> tuple[int, int, str]:
    entries = [(first, last, name) for name, first, last, _ in trace.entries]
    if entry is not None:
        for first, last, name in entries:
            if name == entry:
                return first, last, name
        raise KeyError(f"no entry {entry!r}; there are {', '.join(repr(n) for _, _, n in entries) or 'none'}")
    if not entries:
        return 0, len(trace.events), ""
    # A finding may stand on a constructor, which makes no tensor; then its labels say where it shows.
    stand = {f.span.line for f in findings}
    for lines in (stand, stand | {one.span.line for f in findings for one in f.labels}):
        for first, last, name in entries:
            drawn = [e for e in trace.events[first:last] if e.problems or isinstance(e.result, Tensor)]
            if any(e.problems or e.span.line in lines for e in drawn):
                return first, last, name
    return max(entries, key=lambda e: sum(isinstance(event.result, Tensor) for event in trace.events[e[0] : e[1]]))


def _rows(trace: Trace, start: int, end: int) -> list[_Row]:
    """The operations that made a tensor, or met a problem; each place in the text once."""
    rows: list[_Row] = []
    at: dict[int, int] = {}
    seen: dict[tuple[object, ...], int] = {}
    for event in trace.events[start:end]:
        if not (isinstance(event.result, Tensor) or event.problems):
            continue
        sizes = _sizes(event)
        key = (event.span, event.op, sizes, bool(event.problems))
        if event.op == "phi" or key in seen:
            at[event.index] = seen.get(key, _first_source(event, at))
            continue
        if len(rows) == _MOST_ROWS:
            break
        text = trace.source(event.span)
        row = _Row(event, f"{event.target} = {text}" if event.target else text, sizes)
        made_by = [value.event for value in _tensors(event.operands) if value.event is not None]
        row.sources = sorted({at[i] for i in made_by if at.get(i, -1) >= 0})
        at[event.index] = seen[key] = len(rows)
        rows.append(row)
    return rows


def _first_source(event: Event, at: dict[int, int]) -> int:
    return next((at[v.event] for v in _tensors(event.operands) if v.event is not None and v.event in at), -1)


def _tensors(operands: Sequence[Operand]) -> list[Tensor]:
    found: list[Tensor] = []
    for operand in operands:
        if isinstance(operand.value, Tensor):
            found.append(operand.value)
        found += _tensors(operand.parts)
    return found


def _sizes(event: Event) -> tuple[str, ...]:
    return _spelt(event, event.result.shape) if isinstance(event.result, Tensor) else ()


def _spelt(event: Event, shape: Shape | None) -> tuple[str, ...]:
    """The sizes of a shape in the author's spelling."""
    if event.sizes is None or shape is None:
        return ()
    return _parts(event.sizes.show_shape(shape))


def _mark(trace: Trace, rows: list[_Row], findings: Sequence[Finding]) -> None:
    """Mark the first fault: the operation that a finding stands on, else the first that met a problem itself."""
    real = sorted((f for f in findings if f.severity != "note"), key=lambda f: f.span)
    row, finding = next(((row, f) for f in real if (row := _under(rows, f.span)) is not None), (None, None))
    if row is None:
        shown = ((one.span, f) for f in real for one in f.labels)
        row, finding = next(((row, f) for span, f in shown if (row := _under(rows, span)) is not None), (None, None))
    row = row or next((row for row in rows if row.event.problems), None)
    if row is None:
        return
    for problem in row.event.problems:
        for name, axis in zip(problem.operands, (*problem.axes, *[None] * len(problem.operands)), strict=False):
            operand = row.event.operand(name)
            if operand is not None:
                text = operand.text or (trace.source(operand.span) if operand.span else name)
                row.wrong.append((text, _spelt(row.event, operand.shape), axis))
        row.says = problem.kind
    if finding is not None:
        row.says = f"{finding.code} {finding.message}"
        expected = _parts(finding.expected)
        row.right = expected if expected != row.sizes else ()
    if not row.wrong:
        row.wrong.append(("", row.sizes, _dim(row.event)))


def _under(rows: list[_Row], span: Span) -> _Row | None:
    """The row of the smallest operation around a place; where there is none, one on its line."""
    around = [row for row in rows if row.event.span.contains(span)]
    if around:
        return min(around, key=lambda row: len(row.text))
    return next((row for row in rows if row.event.span.line == span.line), None)


def _parts(shape: str) -> tuple[str, ...]:
    """The sizes in a shape's text, such as ``(batch_size, 2*d_h)``."""
    return tuple(part.strip() for part in shape.strip("()").split(",") if part.strip())


def _dim(event: Event) -> int | None:
    """The axis that a softmax or a reduction names."""
    value = event.value("dim") or event.value("axis")
    return value.value if isinstance(value, Int) else None


def _drawn(rows: list[_Row], name: str, words: Words) -> Picture:
    title = words.flow_of.format(name=name)
    hues = {size: hue(i) for i, size in enumerate(dict.fromkeys(s for r in rows for s in r.sizes))}
    arcs = max((i - s for i, r in enumerate(rows) for s in r.sources), default=1)
    left = _LEFT + min(14 * arcs**0.5, 70) + 10
    texts = [_cut(row.text) for row in rows]
    shapes_at = left + 44 + max((width_of(t) for t in texts), default=60) + _GAP
    parts = [label(_LEFT, 26, title, bold=True, size=15)]
    tops, y = [], 46.0
    for row in rows:
        tops.append(y)
        y += _ROW * (1 + len([w for w in row.wrong if w[0]]) + bool(row.says) + bool(row.right))
    for i, row in enumerate(rows):
        parts += [_arc(left, tops[s] + _ROW / 2, tops[i] + _ROW / 2, bool(row.wrong)) for s in row.sources]
    wide = max(shapes_at, width_of(title, 15) + _LEFT)
    for row, text, top in zip(rows, texts, tops, strict=True):
        colour = WRONG if row.wrong else MUTED
        parts.append(f'<circle cx="{left:.1f}" cy="{top + _ROW / 2:.1f}" r="3.5" fill="{colour}"/>')
        parts.append(label(left + 36, top + 19, str(row.event.span.line), fill=MUTED, anchor="end", size=12))
        parts.append(label(left + 44, top + 19, text))
        own = next((axis for name_, _, axis in row.wrong if not name_), None)
        drawn, end = _chips(shapes_at, top + 5, row.sizes, hues, own, any(not w[0] for w in row.wrong), words)
        parts += drawn
        wide = max(wide, end)
        below = top + _ROW
        for operand, sizes, axis in (w for w in row.wrong if w[0]):
            parts.append(label(left + 60, below + 19, _cut(operand), fill=WRONG))
            drawn, end = _chips(shapes_at, below + 5, sizes, hues, axis, axis is None, words)
            parts += drawn
            wide = max(wide, end)
            below += _ROW
        if row.right:
            parts.append(label(left + 60, below + 19, words.should_be, fill=RIGHT))
            drawn, end = _chips(shapes_at, below + 5, row.right, hues, None, False, words)
            parts += drawn
            wide = max(wide, end)
            below += _ROW
        if row.says:
            parts.append(label(left + 44, below + 18, f"\u2717 {row.says}", fill=WRONG, bold=True, size=12))
            wide = max(wide, left + 44 + width_of(row.says, 12) + 20)
    return Picture.of(parts, wide + _LEFT, y + 12, title)


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "\u2026"


def _arc(x: float, top: float, bottom: float, wrong: bool) -> str:
    bow = min(14 * max((bottom - top) / _ROW, 0.4) ** 0.5, 70)
    middle = (top + bottom) / 2
    d = f"M {x:.1f} {top:.1f} Q {x - bow:.1f} {middle:.1f} {x:.1f} {bottom:.1f}"
    return path(d, WRONG if wrong else "#afb8c1", 1.6 if wrong else 1.1)


def _chips(
    x: float, y: float, sizes: tuple[str, ...], hues: dict[str, str], axis: int | None, whole: bool, words: Words
) -> tuple[list[str], float]:
    """The axes of a shape, side by side; the wrong one, or all of them, framed in red. Returns the right edge too."""
    if not sizes:
        return [label(x, y + 14, words.no_axes, fill=MUTED, size=12)], x + width_of(words.no_axes, 12)
    wrong = axis % len(sizes) if axis is not None and -len(sizes) <= axis < len(sizes) else None
    parts = []
    for i, size in enumerate(sizes):
        width = width_of(size) + 12
        red = i == wrong or (wrong is None and whole)
        parts.append(
            box(x, y, width, _CHIP, hues.get(size, "#eeeeee"), WRONG if red else "#8c959f", 2.4 if red else 0.8)
        )
        parts.append(label(x + width / 2, y + 14.5, size, anchor="middle", bold=red, fill=WRONG if red else "#1f2328"))
        x += width + 4
    return parts, x
