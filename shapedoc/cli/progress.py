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
"""Takes how much is done, and of how much."""


@contextmanager
def progress(
    stream: TextIO,
    environment: Mapping[str, str],
    clock: Callable[[], float] = time.monotonic,
    *,
    unit: str = "files",
    rate: bool = False,
) -> Iterator[Told]:
    """Give a function to tell progress to; whatever was drawn is gone from `stream` at the end, come what may.

    rate: also draw how many are done in a minute, and how much time is left.
    """
    bar = _Bar(stream, clock, unit, rate) if wanted(stream.isatty(), environment) else None
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

    def __init__(self, stream: TextIO, clock: Callable[[], float], unit: str, rate: bool) -> None:
        self._stream = stream
        self._clock = clock
        self._unit = unit
        self._rate = rate
        self._began: tuple[float, int] | None = None
        self._next = clock() + _AFTER_S
        self._drawn = 0

    def told(self, done: int, of: int) -> None:
        """Draw how far the run is, not more often than eyes follow."""
        now = self._clock()
        if self._began is None:
            self._began = now, done
        if now < self._next or not of:
            return
        self._next = now + _EVERY_S
        full = _WIDTH * done // of
        speed = self._speed(now, done, of) if self._rate else ""
        self._draw(f"[{'#' * full}{'-' * (_WIDTH - full)}] {done} of {of} {self._unit}{speed}")

    def _speed(self, now: float, done: int, of: int) -> str:
        """What was done since the first telling, by the minute; nothing before there is something to count."""
        assert self._began is not None
        since, before = self._began
        if done <= before or now <= since:
            return ""
        each_s = (now - since) / (done - before)
        return f", {60 / each_s:,.0f} a minute, {_duration(each_s * (of - done))} left"

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


def _duration(seconds: float) -> str:
    """Seconds below a minute and a half, minutes below an hour and a half, then hours and minutes."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
