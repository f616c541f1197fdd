"""Colours for terminals, and when to use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shapedoc.core.finding import Severity

__all__ = ["COLOURED", "PLAIN", "Palette", "palette_for"]

_RESET = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Palette:
    """Escape sequences by use; all empty for plain text."""

    error: str = ""
    warning: str = ""
    note: str = ""
    gutter: str = ""
    label: str = ""
    strong: str = ""
    help: str = ""

    def severity(self, severity: Severity) -> str:
        """Return the colour of a severity."""
        match severity:
            case "error":
                return self.error
            case "warning":
                return self.warning
            case "note":
                return self.note

    def paint(self, colour: str, text: str) -> str:
        """Return `text` in `colour`, or as it is when there is no colour or no text."""
        return f"{colour}{text}{_RESET}" if colour and text else text


PLAIN = Palette()
COLOURED = Palette(
    error="\x1b[1;31m",
    warning="\x1b[1;33m",
    note="\x1b[1;36m",
    gutter="\x1b[34m",
    label="\x1b[36m",
    strong="\x1b[1m",
    help="\x1b[32m",
)


def palette_for(is_terminal: bool, environment: Mapping[str, str]) -> Palette:
    """Return the palette for a stream: colours on a terminal only.

    A non-empty ``NO_COLOR`` takes them away, else a non-empty ``FORCE_COLOR`` other than 0 gives them anywhere;
    a terminal called ``dumb`` has none.
    """
    if environment.get("NO_COLOR"):
        return PLAIN
    forced = environment.get("FORCE_COLOR")
    if forced:
        return PLAIN if forced == "0" else COLOURED
    return COLOURED if is_terminal and environment.get("TERM") != "dumb" else PLAIN
