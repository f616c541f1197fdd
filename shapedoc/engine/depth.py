"""How deep an analysis may go: code that Python parses is nested some hundred deep, with several calls for a level."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["room_to_nest"]

_FRAMES = 5_000


@contextmanager
def room_to_nest() -> Iterator[None]:
    """Let calls nest more deeply than Python does by default."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
