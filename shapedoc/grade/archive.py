"""Zip archives of submissions, read in memory: bounded, and refused where a path climbs out."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from shapedoc.grade.plan import Cause

__all__ = ["ArchiveProblem", "unpacked"]

_MOST_FILES = 1000
_MOST_BYTES = 20 << 20
_PIECE = 1 << 16
_ENCRYPTED = 0x1


class ArchiveProblem(ValueError):
    """An archive that is not read, and why."""

    def __init__(self, key: str, **values: str | int | float) -> None:
        super().__init__(key)
        self.cause = Cause(f"submission.{key}", values)


def unpacked(path: Path, suffixes: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The files with one of `suffixes`, by name. Raises ArchiveProblem; OSError where the file cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > _MOST_FILES:
                raise ArchiveProblem("zip_many", most=_MOST_FILES)
            for entry in entries:
                _refuse(entry)
            room = _MOST_BYTES
            for entry in sorted(entries, key=lambda each: each.filename):
                if _wanted(entry, suffixes):
                    data = _content(archive, entry, room)
                    room -= len(data)
                    yield entry.filename, data
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError, RuntimeError) as problem:
        if isinstance(problem, ArchiveProblem):
            raise
        message = " ".join(str(problem).split())[:200]
        raise ArchiveProblem("bad_zip", message=message[:1].lower() + message[1:]) from None


def _refuse(entry: zipfile.ZipInfo) -> None:
    name = entry.orig_filename
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in name[:120])
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":")) or "\0" in name:
        raise ArchiveProblem("zip_climbs", path=shown)
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise ArchiveProblem("zip_link", path=shown)
    if entry.flag_bits & _ENCRYPTED:
        raise ArchiveProblem("zip_encrypted")


def _wanted(entry: zipfile.ZipInfo, suffixes: Sequence[str]) -> bool:
    path = PurePosixPath(entry.filename)
    hidden = any(part.startswith((".", "__")) for part in path.parts)
    return not entry.is_dir() and not hidden and path.suffix.lower() in suffixes


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, room: int) -> bytes:
    """What an entry unpacks to, whatever size it claims."""
    data = bytearray()
    with archive.open(entry) as file:
        while piece := file.read(_PIECE):
            data += piece
            if len(data) > room:
                raise ArchiveProblem("zip_bomb", most=_MOST_BYTES >> 20)
    return bytes(data)
