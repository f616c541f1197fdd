"""Files and folders to the Python files and notebooks that are to be read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shapedoc.core.finding import FileError
from shapedoc.source.gitignore import IgnoreStack, outer_ignores, patterns
from shapedoc.source.read import reason

__all__ = ["SUFFIXES", "Discovery", "discover"]

# What a folder is searched for. A file that is named outright may be called anything.
SUFFIXES = (".py", ".ipynb")

_SKIPPED_FOLDERS = frozenset(
    (
        ".direnv",
        ".eggs",
        ".git",
        ".hg",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "__pypackages__",
        "node_modules",
        "site-packages",
    )
)


@dataclass(slots=True)
class Discovery:
    """The files to read, sorted, and the paths that could not be looked at."""

    files: list[Path] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)


def discover(
    paths: Iterable[Path],
    exclude: Sequence[str] = (),
    root: Path | None = None,
    *,
    force_exclude: bool = False,
) -> Discovery:
    """The files under `paths`, each once, spelled as the path it was found under.

    A folder is searched without what ``.gitignore`` files (its own and those above, up to the root of the checkout)
    and `exclude` leave out, without environments and caches, and without following links to folders. A file named
    outright is taken whatever it is called and whatever ignores it, with `force_exclude` only if `exclude` does not.
    `exclude` holds patterns in ``.gitignore`` syntax, relative to `root` (the working folder).
    ValueError: a pattern means nothing.
    """
    search = _Search(_Exclude(exclude, root or Path.cwd()))
    for path in paths:
        if os.path.isdir(path):
            if not (force_exclude and search.exclude.covers(os.path.abspath(path), folder=True)):
                search.folder(str(path))
        elif problem := _problem(path):
            search.errors.append(FileError(str(path), problem))
        elif not (force_exclude and search.exclude.covers(os.path.abspath(path), folder=False)):
            search.found[os.path.abspath(path)] = str(path)
    files = sorted(Path(name) for name in search.found.values())
    return Discovery(files, sorted(search.errors, key=lambda error: error.path))


def _problem(path: Path) -> str | None:
    """Why a path that is no folder cannot be a file to read."""
    try:
        path.stat()
    except FileNotFoundError:
        return "no such file or folder"
    except OSError as error:
        return reason(error)
    except ValueError as error:
        return str(error)
    return None


class _Exclude:
    """The user's own patterns."""

    def __init__(self, lines: Sequence[str], root: Path) -> None:
        self.spec = patterns(list(lines)) if lines else None
        self.root = os.path.abspath(root)

    def covers(self, path: str, *, folder: bool) -> bool:
        """Whether the entry at `path` (absolute) is left out."""
        if self.spec is None:
            return False
        relative = os.path.relpath(path, self.root).replace(os.sep, "/")
        if relative.startswith("../"):
            relative = path.replace(os.sep, "/").lstrip("/")
        return self.spec.match_file(relative + "/" if folder else relative)


class _Search:
    """One search; `found` leads from absolute paths to the spelling they were found under."""

    def __init__(self, exclude: _Exclude) -> None:
        self.exclude = exclude
        self.found: dict[str, str] = {}
        self.errors: list[FileError] = []

    def folder(self, start: str) -> None:
        """Search a folder that was named outright."""
        absolute = os.path.abspath(start)
        pending: list[tuple[str, str, IgnoreStack]] = [(start, absolute, outer_ignores(absolute))]
        while pending:
            spelled, absolute, outer = pending.pop()
            ignored = outer.entering(absolute)
            try:
                with os.scandir(absolute) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError as error:
                self.errors.append(FileError(spelled, reason(error)))
                continue
            for entry in entries:
                name = entry.name if spelled == "." else os.path.join(spelled, entry.name)
                if self._is_folder(entry):
                    if self._wanted(entry, ignored, folder=True) and entry.name not in _SKIPPED_FOLDERS:
                        pending.append((name, entry.path, ignored))
                elif entry.name.endswith(SUFFIXES) and self._wanted(entry, ignored, folder=False):
                    self.found.setdefault(entry.path, name)

    @staticmethod
    def _is_folder(entry: os.DirEntry[str]) -> bool:
        return entry.is_dir(follow_symlinks=False)

    def _wanted(self, entry: os.DirEntry[str], ignored: IgnoreStack, *, folder: bool) -> bool:
        """Whether an entry of a searched folder is to be taken: an environment, a dangling link or a pipe is not."""
        if ignored.ignores(entry.path, folder=folder) or self.exclude.covers(entry.path, folder=folder):
            return False
        if folder:
            return not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
        try:
            return entry.is_file()
        except OSError:
            return False
