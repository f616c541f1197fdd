"""What PrairieLearn's documentation says of the `results.json` of external grading, as a JSON schema.

PrairieLearn takes fields that it does not know; here none may stand, so that a misspelt one is found.
Source: PrairieLearn documentation, External grading, Grading results.
"""

from __future__ import annotations

__all__ = ["PRAIRIELEARN"]

_IMAGES = {
    "type": "array",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["url"],
        "properties": {
            "label": {"type": "string"},
            "url": {"type": "string", "pattern": "^data:image/[a-z+]+;base64,[A-Za-z0-9+/]+=*$"},
        },
    },
}
_TEST = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "points", "max_points"],
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "points": {"type": "number"},
        "max_points": {"type": "number"},
        "message": {"type": "string"},
        "output": {"type": "string"},
        "images": _IMAGES,
    },
}
PRAIRIELEARN: dict[str, object] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "gradable": {"type": "boolean"},
        "format_errors": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "message": {"type": "string"},
        "output": {"type": "string"},
        "images": _IMAGES,
        "tests": {"type": "array", "items": _TEST},
    },
    # What is gradable has a score.
    "if": {"properties": {"gradable": {"const": False}}, "required": ["gradable"]},
    "else": {"required": ["score"]},
}
