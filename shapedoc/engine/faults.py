"""The tool's own faults, said as such."""

from __future__ import annotations

import traceback
from pathlib import Path

__all__ = ["internal_error"]

_PACKAGE = Path(__file__).resolve().parent.parent


def internal_error(problem: BaseException) -> str:
    """Return one line for a fault of the tool: its type, the last place in the tool, and what to do about it."""
    frames = traceback.extract_tb(problem.__traceback__)
    places = [(Path(frame.filename), frame.lineno) for frame in frames]
    ours = [(path.relative_to(_PACKAGE.parent), line) for path, line in places if path.is_relative_to(_PACKAGE)]
    place = f" at {ours[-1][0].as_posix()}:{ours[-1][1]}" if ours else ""
    words = " ".join(str(problem).split())
    said = f": {words[:200]}" if words else ""
    return (
        f"internal error{place}: {type(problem).__name__}{said}; this is a fault of shapedoc, not of the code: "
        "report it with the file (SHAPEDOC_DEBUG=1 shows where it arose)"
    )
