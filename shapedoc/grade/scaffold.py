"""``shapedoc grade --new NAME``: a folder with an assignment that works as it stands, to be changed."""

from __future__ import annotations

import re
from pathlib import Path

from shapedoc.grade.assignment import AssignmentError

__all__ = ["new_assignment"]

_TEMPLATE = Path(__file__).parent / "template"
_FILES = ("assignment.toml", "reference.py", "README.md")


def new_assignment(folder: Path) -> list[Path]:
    """Write the template of an assignment into a new folder, under its name; returns the files.

    Raises AssignmentError where the folder is there already, or its name is no name for an assignment.
    """
    name = folder.name
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise AssignmentError(f"{name!r} is no name for an assignment: letters, digits, `-` and `_`, a letter first")
    if folder.exists():
        raise AssignmentError(f"{folder} is there already; nothing was written")
    folder.mkdir(parents=True)
    written = []
    for file in _FILES:
        text = (_TEMPLATE / file).read_text(encoding="utf-8").replace("ASSIGNMENT_NAME", name)
        (folder / file).write_text(text, encoding="utf-8")
        written.append(folder / file)
    return written
