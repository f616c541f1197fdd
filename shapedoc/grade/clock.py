"""A bound on the time of our own code, where the text that it works on is a stranger's."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["TooSlow", "within"]


class TooSlow(BaseException):
    """The time is up; no `except Exception` on the way keeps it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooSlow in this block when it takes longer; in another thread than the main one there is no bound."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
