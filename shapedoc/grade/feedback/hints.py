"""The hint for a mistake: what it is, and one approach, 80 to 160 words; and the one step to take."""

from __future__ import annotations

from shapedoc.grade.assignment import Language
from shapedoc.grade.messages import catalogue, say

__all__ = ["fix_of", "hint_of", "mistakes"]


def hint_of(mistake: str, language: Language) -> str:
    """What the mistake is and how to think about it, then how to see for oneself that it is gone."""
    concept = catalogue(language)[f"mistake.{mistake}.concept"]
    return f"{say(language, f'mistake.{mistake}.hint')} {say(language, f'concept.{concept}')}"


def fix_of(mistake: str, language: Language) -> str:
    """The step to take, where there is one that suits all."""
    return catalogue(language).get(f"mistake.{mistake}.fix", "")


def mistakes(language: Language = "en") -> tuple[str, ...]:
    """Every mistake that the catalogue explains."""
    return tuple(
        key.split(".")[1] for key in catalogue(language) if key.startswith("mistake.") and key.endswith(".title")
    )
