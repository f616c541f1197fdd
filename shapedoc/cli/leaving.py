"""How a process that has linted ends: at once.

Hundreds of thousands of objects would be looked through for cycles and given back one by one, only for the process to
end: a third of its time. mypy leaves in the same way.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import NoReturn

__all__ = ["at_once", "without_collecting"]


def without_collecting() -> None:
    """Never look for garbage in this process, except where an analysis asks for it: what it makes, it keeps."""
    gc.disable()


def at_once(code: int) -> NoReturn:
    """End this process with an exit code: what wanted to be told of the end is, and what was printed is written."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
