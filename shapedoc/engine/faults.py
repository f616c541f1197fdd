"""The tool's own faults, said as such."""

from __future__ import annotations

import traceback
from pathlib import PurePath

__all__ = ["internal_error"]


def internal_error(problem: BaseException) -> str:
    """Return one line for a fault of the tool: its type, its place, and what to do about it."""
    frames = traceback.extract_tb(problem.__traceback__)
    place = f" at {_short(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    words = " ".join(str(problem).split())
    said = f": {words[:200]}" if words else ""
    return (
        f"internal error{place}: {type(problem).__name__}{said}; this is a fault of shapedoc, not of the code: "
        "report it with the file (SHAPEDOC_DEBUG=1 shows where it arose)"
    )


def _short(filename: str) -> str:
    parts = PurePath(filename).parts
    return "/".join(parts[parts.index("shapedoc") :]) if "shapedoc" in parts else parts[-1]
