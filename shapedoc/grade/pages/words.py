"""The words of pictures, from the catalogue."""

from __future__ import annotations

from dataclasses import fields

from shapedoc.grade.assignment import Language
from shapedoc.grade.messages import catalogue
from shapedoc.report.svg import Words

__all__ = ["picture_words"]


def picture_words(language: Language) -> Words:
    """What stands in pictures, in a language."""
    texts = catalogue(language)
    return Words(**{field.name: texts[f"report.picture.{field.name}"] for field in fields(Words)})
