"""``gradescope``: the ``results.json`` that an autograder leaves for Gradescope, with every field of its specification.

Gradescope itself holds back a test that is hidden, or shown after the due date or after publication. A hidden one
carries its property only all the same: what is not there cannot leak. The leaderboard, which the whole class sees,
has nothing of items that are not visible to all.
Source: Gradescope Autograder Documentation, Autograder Specifications, Output format.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from shapedoc.grade.exports.clean import Json, clean
from shapedoc.grade.exports.handing import Handing
from shapedoc.grade.messages import say
from shapedoc.grade.pages import markdown
from shapedoc.grade.pages.text import number, safe_line
from shapedoc.grade.pages.told import standing
from shapedoc.grade.result import GradedSubmission, ItemResult
from shapedoc.version import __version__

__all__ = ["FILE", "ONE_EACH", "SUFFIX", "render"]

SUFFIX, ONE_EACH, FILE = ".json", True, "results.json"


def render(results: Sequence[GradedSubmission], handing: Handing) -> str:
    """The document of the one result."""
    (result,) = results
    document: dict[str, Json] = {
        "score": round(result.score, 4),
        "execution_time": round(result.execution_time_s, 3),
        "output": _summary(result),
        "output_format": "md",
        "test_output_format": "md",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {
            "tool": f"shapedoc {__version__}",
            "assignment": result.assignment,
            "submission": result.name,
            "status": result.status,
            "digest": result.digest,
        },
        "tests": [_test(item, place, result) for place, item in enumerate(result.items, 1)],
        "leaderboard": _leaderboard(result),
    }
    return json.dumps(clean(document), ensure_ascii=False, indent=1) + "\n"


def _summary(result: GradedSubmission) -> str:
    parts = [markdown.escaped(standing(result)[1])]
    if result.message:
        parts.append(markdown.fenced(result.message))
    if result.findings:
        parts.append(f"**{markdown.escaped(say(result.language, 'report.findings'))}**")
        parts += [
            markdown.escaped(
                f"{say(result.language, 'report.line', line=one.line)}: {one.code} {one.name}: {one.message}"
            )
            for one in result.findings
        ]
    return "\n\n".join(parts)


def _test(item: ItemResult, place: int, result: GradedSubmission) -> Json:
    seen = item.for_student(published=True)
    told: dict[str, Json] = {"id": item.id}
    if item.is_shown(published=True):
        told |= {"mistake": seen.mistake, "cases": seen.cases, "right": seen.right}
        if seen.evidence and seen.evidence.gap is not None:
            told["gap"] = seen.evidence.gap
    return {
        "score": round(item.points, 4),
        "max_score": round(item.max_points, 4),
        "status": "passed" if item.status == "passed" else "failed",
        "name": safe_line(item.title),
        "name_format": "text",
        "number": str(place),
        "output": markdown.of_item(item, result, published=True),
        "output_format": "md",
        "tags": [item.id],
        "visibility": item.visibility,
        "extra_data": told,
    }


def _leaderboard(result: GradedSubmission) -> list[Json]:
    visible = {item.id: item for item in result.items if item.visibility == "visible"}
    points = sum(item.points for item in visible.values())
    rows: list[Json] = [{"name": "points", "value": round(points, 4), "order": "desc"}]
    for curve in result.pictures.accuracy:
        if curve.item in visible and curve.accuracy:
            value = float(number(curve.accuracy[-1], 4))
            rows.append({"name": f"accuracy at length {curve.lengths[-1]}", "value": value, "order": "desc"})
    return rows
