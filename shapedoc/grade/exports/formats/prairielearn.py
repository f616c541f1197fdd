"""``prairielearn``: the ``results.json`` of PrairieLearn's external grading.

A student sees all of it, so every item that is not shown is told by its property alone, without points; their points
stand together on one line, so that the sum is the score. What could not be graded is said to be so, and costs nothing.
The pictures of weights and accuracy are added as long as the document stays under the limit of 1 MB.
Source: PrairieLearn documentation, External grading, Grading results; elements/pl-external-grader-results.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence

from shapedoc.grade.exports.clean import Json, clean
from shapedoc.grade.exports.handing import Handing
from shapedoc.grade.messages import say
from shapedoc.grade.pages.pictures import of_item
from shapedoc.grade.pages.text import number, safe, safe_line
from shapedoc.grade.pages.told import Piece, finding_pieces, pieces, standing
from shapedoc.grade.result import GradedSubmission, ItemResult

__all__ = ["FILE", "MOST_BYTES", "ONE_EACH", "SUFFIX", "render"]

SUFFIX, ONE_EACH, FILE = ".json", True, "results.json"

MOST_BYTES = 1_000_000
_SHARE = 16_000


def render(results: Sequence[GradedSubmission], handing: Handing) -> str:
    """The document of the one result."""
    (result,) = results
    if result.status == "not_gradable":
        message = safe(result.message) or say(result.language, "report.status.not_gradable")
        return _text({"gradable": False, "format_errors": [message[:_SHARE]]})
    for pictures in (True, False):
        text = _text(_graded(result, handing.published, pictures))
        if len(text.encode("utf-8")) < MOST_BYTES:
            break
    return text


def _graded(result: GradedSubmission, published: bool, pictures: bool) -> dict[str, Json]:
    language = result.language
    told = [_told(finding_pieces(finding, language)) for finding in result.findings[:20]]
    return {
        "gradable": True,
        "score": round(min(max(result.score / result.max_score, 0.0), 1.0), 6) if result.max_score else 0.0,
        "message": safe(result.message)[:_SHARE] or standing(result, published=published)[1],
        "output": "\n\n".join(told)[: 2 * _SHARE],
        "images": [],
        "tests": _tests(result, published, pictures),
    }


def _tests(result: GradedSubmission, published: bool, pictures: bool) -> list[Json]:
    tests: list[Json] = []
    rest = [item for item in result.items if not item.is_shown(published=published)]
    for item in result.items:
        if item in rest:
            tests.append(_entry(item, say(result.language, "report.hidden_item"), 0.0, 0.0))
        else:
            told = _told(list(pieces(item, result.language, published=published))[1:])[:_SHARE]
            images = of_item(result.for_student(published=published), item.id) if pictures else []
            tests.append(_entry(item, told, item.points, item.max_points, [(p.title, str(p.svg)) for p in images]))
    if rest:
        points, most = sum(item.points for item in rest), sum(item.max_points for item in rest)
        tests.append(
            {
                "name": say(result.language, "report.hidden_marks", points=number(most)),
                "points": round(points, 4),
                "max_points": round(most, 4),
            }
        )
    return tests


def _entry(
    item: ItemResult, message: str, points: float, most: float, images: Sequence[tuple[str, str]] = ()
) -> dict[str, Json]:
    return {
        "name": safe_line(item.title),
        "description": safe_line(item.says),
        "points": round(points, 4),
        "max_points": round(most, 4),
        "message": message,
        "images": [
            {"label": safe_line(title), "url": f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"}
            for title, svg in images
        ],
    }


def _told(told: Iterable[Piece]) -> str:
    lines: list[str] = []
    for piece in told:
        lines += [safe_line(piece.heading)] if piece.heading else []
        lines += [safe(piece.text)] if piece.text else []
    return "\n".join(lines)


def _text(document: dict[str, Json]) -> str:
    return json.dumps(clean(document), ensure_ascii=False, indent=1) + "\n"
