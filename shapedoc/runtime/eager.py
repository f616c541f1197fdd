"""Compiled functions inside of what is watched: they run as they are written meanwhile.

A compiler that met a recorder's mode would trace the recorder. Signatures that have been verified run compiled.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

__all__ = ["as_written"]


class _Stance:
    """The compiler's stance, which all threads share: as it was again when the last of them is done."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.kept: Any = None

    def enter(self) -> None:
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.kept = torch.compiler.set_stance("force_eager")
                self.kept.__enter__()

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.kept.__exit__(None, None, None)


_stance = _Stance()


@contextmanager
def as_written() -> Iterator[None]:
    """Code that ``torch.compile`` has wrapped runs as it is written in this block."""
    if "torch._dynamo" not in sys.modules or torch.compiler.is_compiling():
        yield
        return
    _stance.enter()
    try:
        yield
    finally:
        _stance.leave()
