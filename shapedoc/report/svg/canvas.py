"""SVG pieces: text, boxes, lines, escaped; and the picture that they make."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from shapedoc.core.text import split_lines
from shapedoc.report.plain import one_line, plain
from shapedoc.report.width import shown, shown_width

__all__ = [
    "CHAR",
    "INK",
    "MUTED",
    "PAPER",
    "RIGHT",
    "WRONG",
    "Picture",
    "box",
    "hatch",
    "hue",
    "label",
    "path",
    "width_of",
    "written",
]

INK, MUTED, PAPER, RULE, WRONG, RIGHT = "#1f2328", "#656d76", "#ffffff", "#d0d7de", "#c62828", "#1a7f37"
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SIZE = 13
# The advance of one character of a monospaced face at SIZE; a little wide, so that no text leaves its box.
CHAR = 7.9
# Okabe and Ito's colours, lightened for dark text and told apart with any colour vision; red is kept for what is wrong.
_HUES = ("#bfe3f7", "#ffdf9e", "#bdeadb", "#f6c8e2", "#f3eb9a", "#c4d3f5", "#e3cfb8", "#d9d9d9")


class Picture(str):
    """An SVG text; shown as a picture by a notebook, written to a file by `save`."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    @property
    def width(self) -> float:
        """How wide it is drawn, in pixels."""
        found = re.match(r'<svg [^>]*?\bwidth="(\d+)"', self)
        return float(found[1]) if found else 0.0

    def save(self, path: str | Path) -> None:
        """Write the picture; the folder must exist."""
        Path(path).write_text(self, encoding="utf-8")

    @classmethod
    def of(cls, parts: list[str], width: float, height: float, title: str) -> Picture:
        """A whole picture; `title` is what a screen reader says."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
            f' height="{height:.0f}" role="img" font-family="{escape(FONT, quote=True)}" font-size="{SIZE}">'
        )
        back = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
        return cls("\n".join([head, f"<title>{escape(one_line(title))}</title>", back, *parts, "</svg>\n"]))


def hue(index: int) -> str:
    """The colour of the n-th axis name."""
    return _HUES[index % len(_HUES)]


def width_of(text: str, size: float = SIZE) -> float:
    """About how wide a text is drawn; a Chinese character takes two columns."""
    return shown_width(text) * CHAR * size / SIZE


def label(
    x: float,
    y: float,
    text: str,
    *,
    fill: str = INK,
    anchor: str = "start",
    size: float = SIZE,
    bold: bool = False,
    halo: bool = False,
) -> str:
    """A line of text whose baseline is at y; a halo in the colour of the paper keeps it apart from lines under it."""
    weight = ' font-weight="bold"' if bold else ""
    weight += f' stroke="{PAPER}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    kept = written(text)
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" text-anchor="{anchor}" font-size="{size:g}"{weight}>{kept}</text>'
    )


def written(text: str) -> str:
    """A text as it may stand in XML: escaped, on one line, control characters as signs, runs of spaces kept."""
    return escape(plain(shown(" ".join(line.rstrip("\r\n") for line in split_lines(text))))).replace("  ", "\u00a0 ")


def box(x: float, y: float, width: float, height: float, fill: str, stroke: str = "none", thick: float = 1) -> str:
    """A rectangle with soft corners."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3" fill="{fill}"'
        f' stroke="{stroke}" stroke-width="{thick:g}"/>'
    )


def path(d: str, stroke: str = MUTED, thick: float = 1.2) -> str:
    """A line."""
    return f'<path d="{d}" fill="none" stroke="{stroke}" stroke-width="{thick:g}"/>'


def hatch(name: str) -> str:
    """The pattern that padding is filled with, to be used as ``url(#name)``."""
    return (
        f'<defs><pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="6" height="6" fill="#f6f8fa"/><line x1="0" y1="0" x2="0" y2="6" stroke="#8c959f"'
        ' stroke-width="1.6"/></pattern></defs>'
    )
