"""What a format may know besides the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shapedoc.report.colour import PLAIN, Palette

__all__ = ["Context"]


def _no_text(path: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Context:
    """``text_of`` gives the source of a path as findings name it, or None; ``statistics`` asks for the counts.

    ``root`` is the folder that paths are told relative to in formats for other programs; the current one when empty.
    """

    text_of: Callable[[str], str | None] = _no_text
    palette: Palette = PLAIN
    statistics: bool = False
    root: str = ""
