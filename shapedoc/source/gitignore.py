"""Which paths git would not look at."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise

from pathspec import GitIgnoreSpec

__all__ = ["IgnoreStack", "outer_ignores", "patterns"]


@dataclass(frozen=True, slots=True)
class _Level:
    """The patterns of one folder's ``.gitignore``."""

    folder: str
    spec: GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class IgnoreStack:
    """The ``.gitignore`` files that rule a folder, the outermost first; the innermost that matches decides."""

    levels: tuple[_Level, ...] = ()

    def entering(self, folder: str) -> IgnoreStack:
        """The stack inside `folder` (an absolute path)."""
        spec = _read(os.path.join(folder, ".gitignore"))
        return self if spec is None else IgnoreStack((*self.levels, _Level(folder, spec)))

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Whether the entry at `path` (absolute) is ignored; what lies in an ignored folder is not asked for."""
        for level in reversed(self.levels):
            relative = os.path.relpath(path, level.folder).replace(os.sep, "/")
            decided = level.spec.check_file(relative + "/" if folder else relative).include
            if decided is not None:
                return decided
        return False


def outer_ignores(start: str) -> IgnoreStack:
    """The ignore files between the root of the git checkout around `start` and `start` itself, that one left out.

    Empty outside a checkout, and where `start` is itself ignored: whoever names an ignored folder wants to see it.
    """
    above: list[str] = []
    folder = start
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return IgnoreStack()
        folder = parent
        above.append(folder)
    stack = IgnoreStack()
    exclude = _read(os.path.join(folder, ".git", "info", "exclude"))
    if exclude is not None:
        stack = IgnoreStack((_Level(folder, exclude),))
    way = [*reversed(above), start]
    for outer, inner in pairwise(way):
        stack = stack.entering(outer)
        if stack.ignores(inner, folder=True):
            return IgnoreStack()
    return stack


def patterns(lines: list[str]) -> GitIgnoreSpec:
    """Patterns in the syntax of ``.gitignore``. ValueError: one of them means nothing."""
    return GitIgnoreSpec.from_lines(lines)


def _read(path: str) -> GitIgnoreSpec | None:
    """The patterns of an ignore file; None where there is none to read. A pattern that means nothing is left out."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as opened:
            lines = opened.read().splitlines()
    except OSError:
        return None
    try:
        return patterns(lines)
    except ValueError:
        return patterns([line for line in lines if _valid(line)])


def _valid(line: str) -> bool:
    try:
        patterns([line])
    except ValueError:
        return False
    return True
