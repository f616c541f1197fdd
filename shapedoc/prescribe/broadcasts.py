"""Silent broadcasting: what a fix may not rest on.

An axis may be stretched only where the author's meaning asks for it: a query ``(B, 1, d)`` added to ``(B, T, d)``. A
fix is refused where the operands of an operation that it touches are stretched against each other, each along an axis
that the other one has, although neither was before: their axes have other names than the axes they meet.
"""

from __future__ import annotations

from collections.abc import Iterable

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event
from shapedoc.engine.analysis import Study
from shapedoc.rules.reading.flow import shape_at

__all__ = ["stretched"]

_ELEMENTWISE = frozenset(
    (
        "add",
        "sub",
        "mul",
        "div",
        "pow",
        "where",
        "masked_fill",
        "maximum",
        "minimum",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
    )
)
_NEW_ONES = ("unsqueeze", "None", "newaxis", "keepdim", "expand_dims", "view", "reshape", "expand")


def stretched(finding: Finding, after: Study, edits: Iterable[Edit]) -> str:
    """Why a fix that makes axes of size 1 is refused, or "" where it broadcasts nothing against another name."""
    edits = tuple(edits)
    made = next((word for edit in edits for word in _NEW_ONES if word in edit.text), "")
    if not made:
        return ""
    lines = {line for edit in edits for line in range(edit.span.line, edit.span.end_line + 1)}
    lines |= set(range(finding.span.line, finding.span.end_line + 1))
    for event in after.trace.events:
        names = _against(event)
        if names is not None and any(event.span.covers(line) for line in lines):
            written = next(edit.text.strip(" .,") for edit in edits if made in edit.text)
            return f"`{written}` would run, by broadcasting {names[0]} against {names[1]}; not a fix"
    return ""


def _against(event: Event) -> tuple[str, str] | None:
    """The names of two axes that are stretched against each other in an event, if there are any."""
    if event.short not in _ELEMENTWISE or event.sizes is None:
        return None
    shapes = [shape for o in event.operands if (shape := shape_at(event, o)) is not None and shape.rank is not None]
    if len(shapes) < 2:
        return None
    one, other = shapes[0].axes, shapes[1].axes
    mine = theirs = ""
    for back in range(1, max(len(one), len(other)) + 1):
        a, b = _back(one, back), _back(other, back)
        if _wide(a) and not _wide(b) and a is not None and not mine:
            mine = event.sizes.show(a.dim)
        if _wide(b) and not _wide(a) and b is not None and not theirs:
            theirs = event.sizes.show(b.dim)
    return (mine, theirs) if mine and theirs else None


def _back(axes: tuple[Axis, ...], back: int) -> Axis | None:
    return axes[-back] if back <= len(axes) else None


def _wide(axis: Axis | None) -> bool:
    return axis is not None and axis.dim.const != 1
