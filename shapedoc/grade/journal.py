"""The journal of a run: one line of JSON for each submission that is done, on the disk before the next one counts.

A run that is killed, at whatever moment, is resumed from it: what stands there is not graded again. Of two lines with
one key the first counts. A line that was torn is cut off before anything is written after it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["FORMAT", "Journal", "JournalError"]

FORMAT = "shapedoc-grade/1"


class JournalError(ValueError):
    """A journal that cannot be continued, and what to do."""


class Journal:
    """The journal at `path`, locked against a second run.

    made_with: what decides the marks beside the submissions (assignment, seed, versions); a journal made with anything
    else is not continued. Raises JournalError: it has entries and `resume` is not asked for, it was made with something
    else, another run writes it, it is no journal. OSError as for any file.
    """

    def __init__(self, path: Path, made_with: Mapping[str, object], *, resume: bool) -> None:
        self._path = path
        self._made_with = {"format": FORMAT, **made_with}
        self.done: dict[str, str] = {}
        """The results so far, as JSON, by key."""
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            self._lock()
            self._read(resume)
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        """Write within this block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file, which also unlocks it."""
        os.close(self._file)

    def add(self, key: str, result: str) -> None:
        """Write a result, a text of JSON, under its key; on the disk when this returns; a known key is no news."""
        if key in self.done:
            return
        self._append(f'{{"key": {json.dumps(key)}, "result": {result}}}')
        self.done[key] = result

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JournalError(f"{self._path}: another run is writing this journal") from None

    def _read(self, resume: bool) -> None:
        data = self._whole()
        end = data.rfind(b"\n") + 1
        lines = data[:end].split(b"\n")[:-1]
        head = json.dumps(self._made_with, sort_keys=True)
        if lines:
            self._compare(lines[0])
        elif not head.encode().startswith(data):
            raise JournalError(f"{self._path}: this is no journal of shapedoc grade; name another file")
        if end < len(data):
            os.ftruncate(self._file, end)
        if not lines:
            self._append(head)
            return
        for line in lines[1:]:
            self._take(line)
        if self.done and not resume:
            raise JournalError(
                f"{self._path}: {len(self.done)} submissions are in it already; --resume continues it, and another "
                "file begins anew"
            )

    def _whole(self) -> bytes:
        with open(self._file, "rb", closefd=False) as file:
            file.seek(0)
            return file.read()

    def _compare(self, line: bytes) -> None:
        try:
            head: Any = json.loads(line)
        except ValueError:
            head = None
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise JournalError(f"{self._path}: this is no journal of shapedoc grade; name another file")
        for name, value in self._made_with.items():
            if head.get(name) != value:
                raise JournalError(
                    f"{self._path}: it was made with {name} {head.get(name)}, and this run has {name} {value}; "
                    "name another file"
                )

    def _take(self, line: bytes) -> None:
        """A line that is no entry was torn in a crash of the machine; its submission is graded again."""
        try:
            entry = json.loads(line)
        except ValueError:
            return
        match entry:
            case {"key": str(key), "result": dict(result)}:
                self.done.setdefault(key, json.dumps(result, ensure_ascii=False, sort_keys=True))

    def _append(self, line: str) -> None:
        data = memoryview(line.encode("utf-8", "backslashreplace") + b"\n")
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)
