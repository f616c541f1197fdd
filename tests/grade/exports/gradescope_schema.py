"""What Gradescope's documentation says of `results.json`, as a JSON schema; no other field may stand there.

Source: Gradescope Autograder Documentation, Autograder Specifications, Output format (the fields and their types),
Output String Formatting, Visibility, Test case status, Leaderboards.
"""

from __future__ import annotations

__all__ = ["GRADESCOPE"]

_FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
_VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}


def _object(required: list[str], properties: dict[str, object]) -> dict[str, object]:
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


_TEST = _object(
    [],
    {
        "score": {"type": "number"},
        "max_score": {"type": "number", "minimum": 0},
        "status": {"enum": ["passed", "failed"]},
        "name": {"type": "string"},
        "name_format": _FORMAT,
        "number": {"type": "string"},
        "output": {"type": "string"},
        "output_format": _FORMAT,
        "tags": {"type": "array", "items": {"type": "string"}},
        "visibility": _VISIBILITY,
        "extra_data": {"type": "object"},
    },
)
_ROW = _object(
    ["name", "value"],
    {"name": {"type": "string"}, "value": {"type": ["number", "string"]}, "order": {"enum": ["asc", "desc"]}},
)
GRADESCOPE: dict[str, object] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object(
        [],
        {
            "score": {"type": "number"},
            "execution_time": {"type": "number", "minimum": 0},
            "output": {"type": "string"},
            "output_format": _FORMAT,
            "test_output_format": _FORMAT,
            "test_name_format": _FORMAT,
            "visibility": _VISIBILITY,
            "stdout_visibility": _VISIBILITY,
            "extra_data": {"type": "object"},
            "tests": {"type": "array", "items": _TEST},
            "leaderboard": {"type": "array", "items": _ROW},
        },
    ),
    # A score on top, or one on every test.
    "anyOf": [
        {"required": ["score"]},
        {"required": ["tests"], "properties": {"tests": {"items": {"required": ["score"]}}}},
    ],
}
