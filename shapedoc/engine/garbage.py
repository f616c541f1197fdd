"""When Python looks for garbage: seldom, because an analysis makes hundreds of thousands of objects and keeps most.

Left alone, the collector walks the trace of a long file again and again while it grows, and everything that was
imported with it: a third of all time. Nearly all of it goes by itself when its file is done: some three hundred
objects of a file are left in cycles, while one look costs as much as ten files. What counts up is what is kept, and a
long trace.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["collecting_seldom"]

# Objects made and not freed since the last look: some 300 MB.
_DUE = 3_000_000


@contextmanager
def collecting_seldom() -> Iterator[Callable[[], None]]:
    """Switch the collector off, and give what looks for garbage where enough has come together."""
    was_enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield _collect_where_due
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()


def _collect_where_due() -> None:
    if gc.get_count()[0] > _DUE:
        gc.collect()
