"""How marks are handed on to the systems that instructors use: one file per format, in this folder's `formats`.

A format is a module there with ``SUFFIX``, ``ONE_EACH`` (whether it is one document for each submission, of which
`FILE` is the name) and ``render(results, handing)``. The folder is the table: a new file is a new format.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Protocol, cast

from shapedoc.grade.exports import formats
from shapedoc.grade.exports.handing import Handing
from shapedoc.grade.exports.names import file_names
from shapedoc.grade.exports.roster import Roster, RosterError, read_roster
from shapedoc.grade.result import GradedSubmission

__all__ = ["FORMATS", "ExportError", "Handing", "Roster", "RosterError", "export", "file_names", "read_roster"]

FORMATS: tuple[str, ...] = tuple(sorted(module.name for module in iter_modules(formats.__path__)))
"""The names of all formats."""


class ExportError(ValueError):
    """An export that cannot be written; the text says why, and what would do."""


class Format(Protocol):
    """What the module of a format has."""

    SUFFIX: str
    ONE_EACH: bool
    FILE: str

    def render(self, results: Sequence[GradedSubmission], handing: Handing) -> str:
        """The document; of a format with ``ONE_EACH``, for the one result that is given."""


def export(
    results: Sequence[GradedSubmission],
    wanted: str,
    out: Path | None = None,
    *,
    roster: Path | None = None,
    published: bool = False,
) -> list[Path]:
    """Write marks in one format, and return the files that were written.

    wanted: ``FORMAT`` or ``FORMAT:PATH``. A format with one document for the whole batch is written to PATH, else to
    ``out/exports/FORMAT.SUFFIX``. Of a format with one document for each submission PATH is a folder; where it ends
    in the format's suffix, it is the file of the only submission. roster: a CSV with the students' ids and names.

    Raises ExportError for a format that there is not, no PATH and no `out`, one file for several submissions, a roster
    that cannot be read, or a place that cannot be written.
    """
    name, _, given = wanted.partition(":")
    if name not in FORMATS:
        raise ExportError(f"no export is called `{name}`; there are: {', '.join(FORMATS)}")
    module = cast(Format, import_module(f"{formats.__name__}.{name}"))
    if not given and out is None:
        raise ExportError(f"where is the export to be written? Name its file, as in `{name}:PATH`, or give `--out DIR`")
    path = Path(given) if given else (out or Path()) / "exports" / (name if module.ONE_EACH else name + module.SUFFIX)
    try:
        handing = Handing(read_roster(roster) if roster else Roster(), published)
    except RosterError as problem:
        raise ExportError(str(problem)) from None
    try:
        if not module.ONE_EACH:
            return [_write(path, module.render(results, handing))]
        if path.suffix != module.SUFFIX:
            return [
                _write(path / stem / module.FILE, module.render([result], handing))
                for result, stem in zip(results, file_names(results), strict=True)
            ]
        if len(results) != 1:
            raise ExportError(
                f"`{name}` has one file for each submission, and there are {len(results)}: {path} must be a folder"
            )
        return [_write(path, module.render(results, handing))]
    except OSError as problem:
        raise ExportError(f"cannot write {problem.filename or path}: {problem.strerror}") from None


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path
