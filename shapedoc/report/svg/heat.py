"""A heat map of attention weights: queries down, keys across, padding hatched."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.report.svg.canvas import INK, MUTED, Picture, hatch, label, width_of, written
from shapedoc.report.svg.words import ENGLISH, Words

__all__ = ["heat_map"]

_CELL, _SMALL, _MOST_NUMBERS = 38.0, 14.0, 14


def heat_map(
    weights: Sequence[Sequence[float]],
    *,
    queries: Sequence[str] = (),
    keys: Sequence[str] = (),
    padding: Sequence[bool] | Sequence[Sequence[bool]] = (),
    title: str = "",
    words: Words = ENGLISH,
    pattern: str = "padding",
) -> Picture:
    """Draw weights (T_dec, T_enc) between 0 and 1.

    queries, keys: what stands on the axes, positions where they are not given. padding: for every key, or for every
    query and key, whether it is padding; such a cell is hatched, and a weight that it got all the same is written in
    it. What is no weight (NaN, infinite, below 0 or above 1) is written in red. pattern: the id of the hatching, which
    must be another one for every picture of a page.

    Raises ValueError for rows of unequal length, or labels or padding of another length than the axis.
    """
    title = title or words.weights
    rows, columns = len(weights), len(weights[0]) if weights else 0
    if any(len(row) != columns for row in weights):
        raise ValueError(f"the rows of weights have unequal lengths: {sorted({len(row) for row in weights})}")
    for name, given, wanted in (("queries", queries, rows), ("keys", keys, columns)):
        if given and len(given) != wanted:
            raise ValueError(f"{name} has {len(given)} entries, the axis has {wanted}")
    hidden = _hidden(padding, rows, columns)
    down = list(queries) or [str(i) for i in range(rows)]
    across = list(keys) or [str(i) for i in range(columns)]
    large = max(rows, columns) <= _MOST_NUMBERS
    cell = _CELL if large else _SMALL
    # Tokens stand upright where they fit over their column, else they are turned.
    turned = max((width_of(t, 12) for t in across), default=0) > cell - 4
    left = 34 + max((width_of(t, 12) for t in down), default=0)
    top = 62 + (max((width_of(t, 12) for t in across), default=0) * 0.75 if turned else 14)
    parts = [hatch(pattern), label(16, 26, title, bold=True, size=15)]
    parts += _names(across, down, left, top, cell, turned, large)
    over: list[str] = []  # what is framed in red lies over its neighbours
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            filled = f"url(#{pattern})" if hidden[i][j] else ""
            wrong = _wrong(weight, bool(filled))
            drawn = _cell(left + j * cell, top + i * cell, cell, float(weight), filled, large, wrong)
            (over if wrong else parts).extend(drawn)
    parts += over
    right, bottom = left + columns * cell, top + rows * cell
    parts += _legend(right + 26, top, max(rows * cell, 90), pattern if any(map(any, hidden)) else "", words)
    beside = max(width_of(words.weight, 12), width_of(words.padding, 12))
    width = max(right + 26 + 20 + beside + 16, width_of(title, 15) + 32)
    parts.append(label(left + columns * cell / 2, bottom + 24, words.keys, fill=MUTED, anchor="middle", size=12))
    middle = top + rows * cell / 2
    parts.append(
        f'<text transform="translate(14 {middle:.1f}) rotate(-90)" fill="{MUTED}" text-anchor="middle" font-size="12">'
        f"{written(words.queries)}</text>"
    )
    return Picture.of(parts, width, max(bottom + 38, top + 134), title)


def _hidden(padding: Sequence[bool] | Sequence[Sequence[bool]], rows: int, columns: int) -> list[list[bool]]:
    """Whether each cell (rows, columns) is padding."""
    if not padding:
        return [[False] * columns for _ in range(rows)]
    for_keys = [bool(entry) for entry in padding if not isinstance(entry, Sequence)]
    if for_keys:
        if len(for_keys) != columns:
            raise ValueError(f"padding has {len(for_keys)} entries, the axis has {columns}")
        return [for_keys] * rows
    table = [[bool(entry) for entry in row] for row in padding if isinstance(row, Sequence)]
    if len(table) != rows or any(len(row) != columns for row in table):
        raise ValueError(f"padding has another shape than the weights, ({rows}, {columns})")
    return table


def colour(weight: float) -> str:
    """White for 0 to deep blue for 1."""
    share = min(max(weight, 0.0), 1.0)
    red, green, blue = (round(255 + (end - 255) * share**0.8) for end in (8, 48, 107))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _wrong(weight: float, hidden: bool) -> bool:
    """Whether this can be no weight of its cell; NaN, which is equal to nothing, never can."""
    return not (abs(weight) <= 1e-6 if hidden else -1e-6 <= weight <= 1 + 1e-4)


def _cell(x: float, y: float, side: float, weight: float, filled: str, large: bool, leaked: bool) -> list[str]:
    """One weight; `filled` is the hatching of a cell of padding."""
    fill = filled or ("#ffffff" if leaked else colour(weight))
    edge = "#c62828" if leaked else "#d0d7de"
    thick = 2.2 if leaked else 0.6
    parts = [
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{side:g}" height="{side:g}" fill="{fill}" stroke="{edge}"'
        f' stroke-width="{thick}"/>'
    ]
    if large and (not filled or leaked):
        ink = "#c62828" if leaked else ("#ffffff" if weight > 0.5 else INK)
        parts.append(
            label(
                x + side / 2,
                y + side / 2 + 4,
                _short(weight),
                fill=ink,
                anchor="middle",
                size=11,
                bold=leaked,
                halo=leaked,
            )
        )
    return parts


def _short(weight: float) -> str:
    """A weight in at most five characters."""
    text = f"{weight:.2f}"
    return text if len(text) <= 5 else f"{weight:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def _names(
    across: list[str], down: list[str], left: float, top: float, cell: float, turned: bool, large: bool
) -> list[str]:
    every = 1 if large else max(1, round(max(len(across), len(down)) / 20))
    parts = []
    for j, text in enumerate(across):
        if j % every:
            continue
        x = left + (j + 0.5) * cell
        if turned:
            place = f'transform="translate({x:.1f} {top - 6:.1f}) rotate(-50)"'
            parts.append(f'<text {place} fill="{INK}" font-size="12">{written(text)}</text>')
        else:
            parts.append(label(x, top - 8, text, anchor="middle", size=12))
    for i, text in enumerate(down):
        if not i % every:
            parts.append(label(left - 6, top + (i + 0.5) * cell + 4, text, anchor="end", size=12))
    return parts


def _legend(x: float, y: float, height: float, pattern: str, words: Words) -> list[str]:
    steps, tall = 20, min(height, 160)
    parts = [
        f'<rect x="{x:.1f}" y="{y + tall * i / steps:.1f}" width="14" height="{tall / steps + 0.5:.1f}"'
        f' fill="{colour(1 - i / (steps - 1))}"/>'
        for i in range(steps)
    ]
    parts.append(label(x + 20, y + 10, "1", size=12))
    parts.append(label(x + 20, y + tall, "0", size=12))
    parts.append(label(x + 20, y + tall / 2 + 4, words.weight, size=12, fill=MUTED))
    if pattern:
        parts.append(
            f'<rect x="{x:.1f}" y="{y + tall + 12:.1f}" width="14" height="14" fill="url(#{pattern})"'
            ' stroke="#d0d7de"/>'
        )
        parts.append(label(x + 20, y + tall + 23, words.padding, size=12, fill=MUTED))
    return parts
