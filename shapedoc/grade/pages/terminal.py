"""A submission's report for a terminal, for the student who wants to know before handing in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.grade.messages import say
from shapedoc.grade.pages.text import number, safe, safe_line
from shapedoc.grade.pages.told import Piece, finding_pieces, pieces, points_of, standing
from shapedoc.grade.result import GradedSubmission
from shapedoc.report.colour import PLAIN, Palette
from shapedoc.report.width import shown_width

__all__ = ["render"]

# A character of Chinese, or a run of others, with the marks after it that must not start a line, and the space.
_CHINESE = "\u2e80-\u9fff\uff00-\uffef"
_CLOSING = "\u3001\u3002\uff01\uff09\uff0c\uff1a\uff1b\uff1f\u201d"
_WORD = re.compile(rf"(?:[{_CHINESE}]|[^\s{_CHINESE}]+)[{_CLOSING}]*\s*|\s+")
_SIGNS = {"passed": "✓", "partial": "◐", "failed": "✗", "not_run": "-"}


def render(
    result: GradedSubmission, palette: Palette = PLAIN, *, width: int = 100, published: bool = False
) -> Iterator[str]:
    """Yield the lines of a report, prose no wider than `width` columns; code keeps its lines.

    No escape sequence of a submission reaches the terminal: its control characters are shown as signs.
    """
    language = result.language
    points, most, rest = points_of(result.items, published=published)
    marks = say(language, "report.marks", points=number(points), most=number(most))
    stands, status = standing(result, published=published)
    colour = palette.help if stands == "passed" else palette.error
    title = f"{safe_line(result.title)}: {safe_line(result.name)}"
    yield f"{palette.paint(palette.strong, title)}  {palette.paint(colour, f'{marks}, {status}')}"
    if rest:
        yield say(language, "report.hidden_marks", points=number(rest))
    for line in safe(result.message).split("\n") if result.message else ():
        yield palette.paint(palette.error, f"  {line}".rstrip())
    for item in result.items:
        shown = item.is_shown(published=published)
        sign, colour = _sign(item.status if shown else "hidden", palette)
        share = f"{number(item.points) if shown else '?'}/{number(item.max_points)}"
        yield ""
        yield f"{palette.paint(colour, sign)} {palette.paint(palette.strong, safe_line(item.title))}  {share}"
        if not shown or item.status != "passed":
            for piece in pieces(item, language, published=published):
                yield from _laid(piece, palette, width)
    if result.findings:
        yield ""
        yield palette.paint(palette.strong, say(language, "report.findings"))
        for finding in result.findings:
            yield ""
            for piece in finding_pieces(finding, language):
                yield from _laid(piece, palette, width)


def _sign(status: str, palette: Palette) -> tuple[str, str]:
    colours = {"passed": palette.help, "partial": palette.warning, "failed": palette.error}
    return _SIGNS.get(status, "?"), colours.get(status, palette.note)


def _laid(piece: Piece, palette: Palette, width: int) -> Iterator[str]:
    if piece.heading:
        yield f"  {palette.paint(palette.label, safe_line(piece.heading))}"
    if not piece.text:
        return
    if piece.code:
        for line in safe(piece.text).split("\n"):
            yield f"    {palette.paint(palette.gutter, '|')} {line}".rstrip()
    else:
        for line in safe(piece.text).split("\n"):
            yield from (f"  {part}".rstrip() for part in _wrapped(line, width - 2))


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Lines of at most so many columns where words allow it; Chinese may break between any two characters."""
    line = ""
    for word in _WORD.findall(text):
        if line and shown_width(line + word.rstrip()) > width:
            yield line.rstrip()
            line = ""
        line += word if line else word.lstrip()
    yield line.rstrip()
