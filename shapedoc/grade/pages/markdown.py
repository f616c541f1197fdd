"""A submission's report as Markdown (CommonMark): for a pull request, an issue, or Gradescope's ``md`` fields.

What a student wrote stands in code, or with every character that Markdown gives a meaning escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from shapedoc.grade.messages import say
from shapedoc.grade.pages.text import number, safe, safe_line
from shapedoc.grade.pages.told import Piece, finding_pieces, pieces, points_of, standing
from shapedoc.grade.result import GradedSubmission, ItemResult

__all__ = ["escaped", "fenced", "of_item", "render"]

# What Markdown gives a meaning anywhere; what it gives one at the start of a line (lists, headings, rules); and what
# many readers make a link of. An underscore inside of a word is one.
_ANYWHERE = re.compile(r"([\\`*\[\]<>~$&|@#]|(?<![^\W_])_|_(?![^\W_]))")
_START = re.compile(r"^([-+=]|\d+(?=[.)](?:\s|$)))")
_LINK = re.compile(r"(?i)(:(?=//)|(?<=www)\.)")
_SPAN = re.compile(r"`([^`\n]+)`")
_SIGNS = {"passed": "✓", "partial": "◐", "failed": "✗", "not_run": "-"}


def render(result: GradedSubmission, *, published: bool = False) -> str:
    """The whole report of a submission, as its student may see it."""
    return "\n\n".join(_blocks(result, published)) + "\n"


def of_item(item: ItemResult, result: GradedSubmission, *, published: bool = False) -> str:
    """What is told of one item, without its title."""
    return "\n\n".join(_laid(pieces(item, result.language, published=published)))


def _blocks(result: GradedSubmission, published: bool) -> Iterator[str]:
    language = result.language
    points, most, rest = points_of(result.items, published=published)
    yield f"# {escaped(result.title)}: {escaped(safe_line(result.name))}"
    marks = say(language, "report.marks", points=number(points), most=number(most))
    yield f"**{escaped(marks)}**, {escaped(standing(result, published=published)[1])}"
    if rest:
        yield escaped(say(language, "report.hidden_marks", points=number(rest)))
    if result.message:
        yield fenced(result.message)
    for item in result.items:
        shown = item.is_shown(published=published)
        sign = _SIGNS[item.status] if shown else "?"
        share = f"{number(item.points)} / {number(item.max_points)}" if shown else f"? / {number(item.max_points)}"
        yield f"## {sign} {escaped(safe_line(item.title))} ({share})"
        yield from _laid(pieces(item, language, published=published))
    if result.findings:
        yield f"## {escaped(say(language, 'report.findings'))}"
        for finding in result.findings:
            yield from _laid(finding_pieces(finding, language))


def _laid(told: Iterable[Piece]) -> Iterator[str]:
    for piece in told:
        if piece.heading:
            yield f"**{escaped(safe_line(piece.heading))}**"
        if piece.text:
            yield fenced(piece.text) if piece.code else escaped(piece.text)


def escaped(text: str) -> str:
    """Prose that stays prose: spans in backticks are code, every other character stands for itself."""
    parts: list[str] = []
    end = 0
    line = safe_line(text)
    for span in _SPAN.finditer(line):
        parts += [_plain(line[end : span.start()]), span[0]]
        end = span.end()
    made = "".join([*parts, _plain(line[end:])])
    return _START.sub(lambda m: f"\\{m[1]}" if not m[1][0].isdigit() else f"{m[1]}\\", made)


def _plain(text: str) -> str:
    return _LINK.sub(r"\\\1", _ANYWHERE.sub(r"\\\1", text))


def fenced(text: str) -> str:
    """A block of code, in a fence that is longer than any run of backticks in it."""
    kept = safe(text)
    longest = max((len(run) for run in re.findall(r"`+", kept)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{kept}\n{fence}"
