"""A bar on standard error while a run takes long: in a terminal only, and gone when the run is done."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

__all__ = ["progress", "wanted"]

_AFTER_S = 0.7
_EVERY_S = 0.1
_WIDTH = 30

Told = Callable[[int, int], None]
"""Takes how many files are done, and of how many."""


@contextmanager
def progress(
    stream: TextIO, environment: Mapping[str, str], clock: Callable[[], float] = time.monotonic
) -> Iterator[Told]:
    """Give a function to tell progress to; whatever was drawn is gone from `stream` at the end, come what may."""
    bar = _Bar(stream, clock) if wanted(stream.isatty(), environment) else None
    try:
        yield bar.told if bar is not None else lambda done, of: None
    finally:
        if bar is not None:
            bar.erase()


def wanted(is_terminal: bool, environment: Mapping[str, str]) -> bool:
    """Whether anybody sees a bar: a person at a terminal that can redraw a line, and no build server."""
    return is_terminal and environment.get("TERM") != "dumb" and not environment.get("CI")


class _Bar:
    """One line, drawn over itself; ASCII alone, without colours."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._next = clock() + _AFTER_S
        self._drawn = 0

    def told(self, done: int, of: int) -> None:
        """Draw how far the run is, not more often than eyes follow."""
        now = self._clock()
        if now < self._next or not of:
            return
        self._next = now + _EVERY_S
        full = _WIDTH * done // of
        self._draw(f"[{'#' * full}{'-' * (_WIDTH - full)}] {done} of {of} files")

    def erase(self) -> None:
        """Take the line away."""
        if self._drawn:
            self._draw("")
            self._stream.write("\r")
            self._stream.flush()

    def _draw(self, text: str) -> None:
        shown = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write(f"\r{shown}{' ' * (self._drawn - len(shown))}")
        self._stream.flush()
        self._drawn = len(shown)
