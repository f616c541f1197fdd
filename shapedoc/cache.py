"""Results kept between runs, found again by what they were made from.

An entry's name is the digest of all that decides a result but other files: the file's own text, the options, the
version and code of the tool, and Python's version. An entry also carries the digest of every file that was read
on the way (imports), and counts only while all of them are as they were. Whatever is wrong with an entry or with
the folder, the result is simply computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from shapedoc.version import __version__

__all__ = ["ABSENT", "Cache", "digest_of_file", "digest_of_text"]

_FORMAT = 1

ABSENT = "absent"
"""The digest of a file that is not there."""

_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds results that can be computed again.\n"


class Cache:
    """A folder of results, for one run; `folder` is made on the first write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ready = False
        # Of the files that entries were made from, as they are now: many entries name the same.
        self._digests: dict[str, str] = {}

    def key(self, *parts: str) -> str:
        """Return the name of the entry that `parts` decide, together with this tool and this Python."""
        return digest_of_text("\0".join((str(_FORMAT), _tool(), *parts)))

    def get(self, key: str) -> object | None:
        """Return what was stored under `key`, or None when it is not there, is damaged, or is out of date."""
        try:
            entry = json.loads(self._place(key).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        match entry:
            case {"key": stored, "files": dict(files), "result": result} if stored == key:
                fresh = all(self._digest(path) == digest for path, digest in files.items())
                return result if fresh else None
            case _:
                return None

    def put(self, key: str, result: object, files: Mapping[str, str]) -> None:
        """Store `result`, plain data, under `key`; `files` gives the digest of each file read on the way.

        The entry appears whole or not at all. A folder that cannot be written is left alone.
        """
        text = json.dumps({"key": key, "files": dict(files), "result": result})
        place = self._place(key)
        try:
            self._prepare()
            place.parent.mkdir(exist_ok=True)
            _write_whole(place, text)
        except OSError:
            return

    def _digest(self, path: str) -> str:
        digest = self._digests.get(path)
        if digest is None:
            digest = self._digests[path] = digest_of_file(path)
        return digest

    def _place(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key[2:]}.json"

    def _prepare(self) -> None:
        if self._ready:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _TAG)):
            if not (self._folder / name).exists():
                _write_whole(self._folder / name, text)
        self._ready = True


def digest_of_text(text: str) -> str:
    """Return a digest of `text`; surrogates, as in names of undecodable files, are allowed."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def digest_of_file(path: Path | str) -> str:
    """Return a digest of a file's bytes, or ``absent``: that a file is not there is a fact too."""
    try:
        with open(path, "rb") as stream:
            return hashlib.blake2b(stream.read(), digest_size=20).hexdigest()
    except OSError:
        return ABSENT


def _write_whole(place: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(name, place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@cache
def _tool() -> str:
    """Name this tool's code: the version, and every module's size and time of change (a checkout changes daily)."""
    package = Path(__file__).resolve().parent
    modules = sorted(package.rglob("*.py"))
    stamps = [(path.relative_to(package).as_posix(), path.stat()) for path in modules]
    code = "\n".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stamps)
    return f"{__version__} {sys.version_info[:2]} {digest_of_text(code)}"
