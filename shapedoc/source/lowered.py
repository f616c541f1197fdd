"""The ir of texts, kept for a while: a file is analysed by itself, and read again for every file that imports it."""

from __future__ import annotations

from shapedoc.source import ir
from shapedoc.source.lower_ast import lower
from shapedoc.source.parse import SourceError

__all__ = ["lowered"]

# Characters of text whose ir is kept: some 45 MB of memory.
_ROOM = 2_000_000

_kept: dict[str, ir.Module | SourceError] = {}
_kept_characters = 0


def lowered(text: str) -> ir.Module:
    """The ir of a text, which is never changed. SourceError, TooDeep: as `lower_ast.lower`."""
    found = _kept.pop(text, None)
    if found is None:
        try:
            found = lower(text)
        except SourceError as problem:
            found = problem
        _make_room(len(text))
    _kept[text] = found  # The last used stands last.
    if isinstance(found, SourceError):
        raise found.with_traceback(None)
    return found


def _make_room(needed: int) -> None:
    """Forget what was asked for longest ago, until there is room for a text of so many characters."""
    global _kept_characters
    _kept_characters += needed
    while _kept and _kept_characters > _ROOM:
        oldest = next(iter(_kept))
        _kept_characters -= len(oldest)
        del _kept[oldest]
