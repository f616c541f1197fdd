"""A changed file in the place of the old one: whole or not at all, and never over somebody else's change."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from shapedoc.core.finding import FileError
from shapedoc.source.read import reason

__all__ = ["replace_file"]


def replace_file(path: Path, before: bytes, after: bytes) -> FileError | None:
    """Put `after` where `before` was read; None, or why the file was left as it is.

    The new content is written beside the file, flushed to the disk and renamed over it; permissions stay, and where
    `path` is a link, what it leads to is replaced. A file that no longer holds `before` is left alone.
    """
    try:
        place = Path(os.path.realpath(path))
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        new = Path(name)
    except OSError as error:
        return FileError(str(path), f"cannot be written: {reason(error)}")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(after)
            stream.flush()
            os.fsync(stream.fileno())
        new.chmod(stat.S_IMODE(place.stat().st_mode))
        if not os.access(place, os.W_OK):
            new.unlink()
            return FileError(str(path), "cannot be written: permission denied")
        if place.read_bytes() != before:
            new.unlink()
            return FileError(str(path), "has changed meanwhile and was left as it is")
        os.replace(new, place)
    except OSError as error:
        new.unlink(missing_ok=True)
        return FileError(str(path), f"cannot be written: {reason(error)}")
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    _flush_folder(place.parent)
    return None


def _flush_folder(folder: Path) -> None:
    """Make the renaming last, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
