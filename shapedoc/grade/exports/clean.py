"""JSON that every reader takes."""

from __future__ import annotations

from math import isfinite

from shapedoc.report.plain import plain

__all__ = ["Json", "clean"]

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def clean(value: Json) -> Json:
    """The same value without control characters, halves of surrogate pairs, or numbers that JSON does not have."""
    match value:
        case str():
            return plain(value)
        case float() if not isfinite(value):
            return str(value)
        case list():
            return [clean(one) for one in value]
        case dict():
            return {plain(key): clean(one) for key, one in value.items()}
        case _:
            return value
