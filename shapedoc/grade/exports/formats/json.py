"""``json``: all results for other tools, ``shapedoc-grade/1``; they come back with ``GradedSubmission.from_json``.

Hidden items are told in full: this is for the instructor. The time that a submission took is left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from shapedoc.grade.exports.clean import Json, clean
from shapedoc.grade.exports.handing import Handing
from shapedoc.grade.result import GradedSubmission
from shapedoc.version import __version__

__all__ = ["FILE", "ONE_EACH", "SUFFIX", "render"]

SUFFIX, ONE_EACH, FILE = ".json", False, ""


def render(results: Sequence[GradedSubmission], handing: Handing) -> str:
    """One JSON document."""
    told = [cast(Json, json.loads(result.to_json(timed=False))) for result in results]
    document: dict[str, Json] = {
        "schema": "shapedoc-grade/1",
        "tool": {"name": "shapedoc", "version": __version__},
        "results": told,
    }
    return json.dumps(clean(document), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
