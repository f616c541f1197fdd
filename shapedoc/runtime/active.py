"""Whether a recorder is at work in this thread: there is one at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["at_work", "is_recording"]

_state = threading.local()


def is_recording() -> bool:
    """Whether this thread's operations are being recorded."""
    return bool(getattr(_state, "on", False))


@contextmanager
def at_work() -> Iterator[None]:
    """This thread's operations are recorded in this block."""
    before = is_recording()
    _state.on = True
    try:
        yield
    finally:
        _state.on = before
