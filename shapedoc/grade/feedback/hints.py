"""The hint for a mistake: what it is, and one approach, 80 to 160 words; and the one step to take."""

from __future__ import annotations

from shapedoc.grade.assignment import Language
from shapedoc.grade.messages import catalogue

__all__ = ["fix_of", "hint_of", "mistakes", "title_of"]


def hint_of(mistake: str, language: Language) -> str:
    """What the mistake is and how to think about it, then how to see for oneself that it is gone."""
    texts = catalogue(language)
    concept = texts.get(f"mistake.{mistake}.concept", "")
    pieces = [texts.get(f"mistake.{mistake}.hint", ""), texts.get(f"concept.{concept}", "")]
    return ("" if language == "zh" else " ").join(piece for piece in pieces if piece)


def fix_of(mistake: str, language: Language) -> str:
    """The step to take, where there is one that suits all."""
    return catalogue(language).get(f"mistake.{mistake}.fix", "")


def title_of(mistake: str, language: Language) -> str:
    """The mistake in a few words, a sentence without its full stop."""
    return catalogue(language).get(f"mistake.{mistake}.title", "")


def mistakes() -> tuple[str, ...]:
    """Every mistake that the catalogue explains."""
    return tuple(key.split(".")[1] for key in catalogue("en") if key.startswith("mistake.") and key.endswith(".title"))
