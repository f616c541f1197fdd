"""Compiled functions inside of what is watched: they run as they are written meanwhile.

A compiler that met a recorder's mode would trace the recorder. Signatures that have been verified run compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["as_written"]


@contextmanager
def as_written() -> Iterator[None]:
    """Code that ``torch.compile`` has wrapped runs as it is written in this block."""
    if "torch._dynamo" not in sys.modules or torch.compiler.is_compiling():
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield
