"""Accuracy against length: the curve that was measured, its baseline, and the band in which it passes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite

from shapedoc.report.svg.canvas import INK, MUTED, RIGHT, WRONG, Picture, label, path, width_of
from shapedoc.report.svg.words import ENGLISH, Words

__all__ = ["accuracy_curve"]

_WIDE, _TALL, _LEFT, _TOP = 420.0, 220.0, 56.0, 48.0
_LINE, _BASE, _BAND = "#0b5cad", "#8c959f", "#dff3e4"


def accuracy_curve(
    lengths: Sequence[float],
    accuracy: Sequence[float],
    *,
    baseline: Sequence[float] = (),
    band: Sequence[tuple[float, float]] = (),
    name: str = "",
    title: str = "",
    words: Words = ENGLISH,
) -> Picture:
    """Draw accuracy (N,) between 0 and 1 over lengths (N,), in rising order.

    baseline: the accuracy without attention at the same lengths, dashed. band: for every length the least and the most
    accuracy that passes, shaded; a point outside it is a red cross. name: what the measured curve is called. A value
    that is not finite is left out, and the line is broken there.

    Raises ValueError for lengths that do not rise, or baseline or band of another length.
    """
    for what, given in (("accuracy", accuracy), ("baseline", baseline or lengths), ("band", band or lengths)):
        if len(given) != len(lengths):
            raise ValueError(f"{what} has {len(given)} entries, there are {len(lengths)} lengths")
    if any(b <= a for a, b in pairwise(lengths)):
        raise ValueError(f"the lengths do not rise: {list(lengths)}")
    title = title or f"{words.accuracy} / {words.length}"
    scale = _Scale(lengths)
    parts = [label(16, 26, title, bold=True, size=15)]
    if band:
        parts.append(_shade(scale, lengths, band))
    parts += _axes(scale, lengths, words)
    if baseline:
        parts += _line(scale, lengths, baseline, _BASE, 'stroke-dasharray="6 4"')
    parts += _line(scale, lengths, accuracy, _LINE, "")
    for i, (x, y) in enumerate(zip(lengths, accuracy, strict=True)):
        if isfinite(y):
            low, high = band[i] if band else (0.0, 1.0)
            parts.append(_point(scale.x(x), scale.y(y), low <= y <= high))
            parts.append(_number(scale, x, y, low <= y <= high))
    below = _TOP + _TALL + 62
    end = _legend(below, [(name or words.accuracy, _LINE, ""), *_other(baseline, band, words)], parts)
    return Picture.of(parts, max(_LEFT + _WIDE + 30, end, width_of(title, 15) + 32), below + 20, title)


class _Scale:
    """From values to places in the picture; accuracy always runs from 0 to 1."""

    def __init__(self, lengths: Sequence[float]) -> None:
        low, high = (lengths[0], lengths[-1]) if lengths else (0.0, 1.0)
        margin = (high - low) * 0.06 or 1.0
        self._low, self._span = low - margin, high - low + 2 * margin

    def x(self, length: float) -> float:
        return _LEFT + _WIDE * (length - self._low) / self._span

    def y(self, accuracy: float) -> float:
        return _TOP + _TALL * (1 - min(max(accuracy, 0.0), 1.0))


def _axes(scale: _Scale, lengths: Sequence[float], words: Words) -> list[str]:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = scale.y(share)
        parts.append(path(f"M {_LEFT:.1f} {y:.1f} H {_LEFT + _WIDE:.1f}", "#d0d7de", 0.8))
        parts.append(label(_LEFT - 8, y + 4, f"{share:.2f}", anchor="end", size=12, fill=MUTED))
    bottom, shown = _TOP + _TALL, -100.0
    for length in lengths:
        x = scale.x(length)
        if x - shown < width_of(f"{length:g}", 12) + 8:
            continue
        shown = x
        parts.append(path(f"M {x:.1f} {bottom:.1f} V {bottom + 5:.1f}", MUTED, 1))
        parts.append(label(x, bottom + 19, f"{length:g}", anchor="middle", size=12, fill=INK))
    parts.append(label(_LEFT + _WIDE / 2, bottom + 38, words.length, anchor="middle", size=12, fill=MUTED))
    return parts


def _shade(scale: _Scale, lengths: Sequence[float], band: Sequence[tuple[float, float]]) -> str:
    """The band; where there is but one length, a strip around it."""
    places = [scale.x(x) for x in lengths]
    if len(places) == 1:
        places, band = [places[0] - 14, places[0] + 14], [band[0], band[0]]
    up = [f"{x:.1f} {scale.y(high):.1f}" for x, (_, high) in zip(places, band, strict=True)]
    down = [f"{x:.1f} {scale.y(low):.1f}" for x, (low, _) in zip(places, band, strict=True)]
    outline = " L ".join([*up, *reversed(down)])
    return f'<path class="band" d="M {outline} Z" fill="{_BAND}" stroke="{RIGHT}" stroke-width="0.8"/>'


def _line(scale: _Scale, lengths: Sequence[float], values: Sequence[float], stroke: str, more: str) -> list[str]:
    """The values joined by lines, broken where one is not finite."""
    runs: list[list[str]] = [[]]
    for x, y in zip(lengths, values, strict=True):
        if isfinite(y) and len(lengths) == 1:
            runs[-1] += [f"{scale.x(x) - 14:.1f} {scale.y(y):.1f}", f"{scale.x(x) + 14:.1f} {scale.y(y):.1f}"]
        elif isfinite(y):
            runs[-1].append(f"{scale.x(x):.1f} {scale.y(y):.1f}")
        elif runs[-1]:
            runs.append([])
    return [
        f'<path d="M {" L ".join(run)}" fill="none" stroke="{stroke}" stroke-width="2" {more}/>' for run in runs if run
    ]


def _point(x: float, y: float, passes: bool) -> str:
    if passes:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{_LINE}"/>'
    return path(f"M {x - 5:.1f} {y - 5:.1f} l 10 10 m 0 -10 l -10 10", WRONG, 2.6)


def _number(scale: _Scale, x: float, y: float, passes: bool) -> str:
    """The value beside its point: over it; under it where it is too low, or where the top is near."""
    place = scale.y(y) + (18 if y > 0.9 or (not passes and y > 0.1) else -10)
    ink = INK if passes else WRONG
    return label(scale.x(x), place, f"{y:.2f}", anchor="middle", size=11, fill=ink, bold=not passes, halo=True)


def _other(baseline: Sequence[float], band: Sequence[tuple[float, float]], words: Words) -> list[tuple[str, str, str]]:
    return [
        *([(words.baseline, _BASE, 'stroke-dasharray="6 4"')] if baseline else []),
        *([(words.band, _BAND, "band")] if band else []),
    ]


def _legend(y: float, entries: list[tuple[str, str, str]], parts: list[str]) -> float:
    """Draw the entries side by side; return the right edge."""
    x = _LEFT
    for text, colour, kind in entries:
        if kind == "band":
            parts.append(
                f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="24" height="12" fill="{colour}" stroke="{RIGHT}"'
                ' stroke-width="0.8"/>'
            )
        else:
            parts.append(
                f'<path d="M {x:.1f} {y - 4:.1f} h 24" fill="none" stroke="{colour}" stroke-width="2" {kind}/>'
            )
        parts.append(label(x + 30, y, text, size=12))
        x += 30 + width_of(text, 12) + 22
    return x
