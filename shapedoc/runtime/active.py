"""Whether a recorder is at work in this thread, and what it watches: there is one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["at_work", "followed", "going_as_foreseen", "is_followed", "is_foreseen", "is_recording"]


class _State(threading.local):
    watched: Callable[[str], bool] | None = None
    following = 0
    foreseen = 0


_state = _State()


def is_recording(path: str | None = None) -> bool:
    """Whether this thread's operations are being recorded; with a path, those of code in that file."""
    watched = _state.watched
    return watched is not None and (path is None or watched(path))


def is_followed() -> bool:
    """Whether this thread's operations are followed by their sites."""
    return _state.following > 0


def followed(step: int) -> None:
    """Following begins (+1) or ends (-1)."""
    _state.following += step


def is_foreseen() -> bool:
    """Whether this thread runs a call of which reading has said what it does, in the functions that it calls too."""
    return _state.foreseen > 0


def going_as_foreseen(step: int) -> None:
    """Such a call begins (+1) or ends (-1)."""
    _state.foreseen += step


@contextmanager
def at_work(watched: Callable[[str], bool]) -> Iterator[None]:
    """This thread's operations, in code of the watched files, are recorded in this block."""
    before = _state.watched
    _state.watched = watched
    try:
        yield
    finally:
        _state.watched = before
