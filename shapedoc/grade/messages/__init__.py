"""The one catalogue of what the grader says, by language: a TOML file each, with the same keys and the same places."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from shapedoc.grade.assignment import Language
from shapedoc.grade.plan import Cause

__all__ = ["LANGUAGES", "catalogue", "say", "tell"]

LANGUAGES: tuple[Language, ...] = ("en", "zh")


def say(language: Language, key: str, /, **values: object) -> str:
    """The text of a key, such as ``report.score``, its places such as ``{points}`` filled.

    A key that the language does not have is said in English. Raises KeyError for one that English lacks too, or for a
    place without a value.
    """
    text = catalogue(language).get(key) or catalogue("en")[key]
    return text.format(**values) if values else text


def tell(language: Language, cause: Cause) -> str:
    """A cause in words."""
    return say(language, cause.key, **cause.values)


@cache
def catalogue(language: Language) -> dict[str, str]:
    """All texts of a language, by their keys joined with dots."""
    text = (Path(__file__).parent / f"{language}.toml").read_text(encoding="utf-8")
    return dict(_flat("", tomllib.loads(text)))


def _flat(before: str, table: dict[str, object]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in table.items():
        if isinstance(value, dict):
            found += _flat(f"{before}{key}.", value)
        else:
            found.append((f"{before}{key}", str(value)))
    return found
