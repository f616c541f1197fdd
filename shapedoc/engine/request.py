"""What a run is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shapedoc.config import Config

__all__ = ["KNOWLEDGE", "Request", "RequestError", "Settings", "StandardInput"]

KNOWLEDGE = ("comments", "driver", "constructor", "unpacking", "later-use")
"""The sources of knowledge that can be switched off, to see what rests on each."""


class RequestError(ValueError):
    """A run that cannot start; the text says why and what would do."""


@dataclass(frozen=True, slots=True)
class StandardInput:
    """A file that comes through standard input: its bytes, and the name it goes by (``-`` when it has none)."""

    content: bytes
    name: str = "-"


@dataclass(frozen=True, slots=True)
class Settings:
    """How each file is analysed; results depend on nothing else but the files.

    ``screen`` looks at the abstract syntax first, and at the concrete only where that has something to say.
    ``without`` names sources of knowledge, of KNOWLEDGE, to do without. ``roots`` are the folders inside which imports
    are followed.
    """

    screen: bool = True
    without: frozenset[str] = frozenset()
    roots: tuple[str, ...] = ()

    def key(self) -> str:
        """Return a text that differs where the settings do."""
        return "\0".join((f"screen={self.screen}", *sorted(self.without), *self.roots))


@dataclass(frozen=True, slots=True)
class Request:
    """A run: which paths, under which configuration, and how.

    ``jobs`` 0 takes a process for each processor where there is enough to do; any other number is taken at its word.
    """

    paths: tuple[Path, ...]
    config: Config
    settings: Settings = Settings()
    stdin: StandardInput | None = None
    jobs: int = 0
    cache: bool = True
