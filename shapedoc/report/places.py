"""Paths as other programs read them: forward slashes, relative to the folder of the project."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from urllib.parse import quote

__all__ = ["is_relative", "portable", "project_folder", "uri"]

_DRIVE = re.compile(r"[A-Za-z]:(?=/|$)")

# Where GitHub Actions and GitLab CI say which folder they have checked out.
_CHECKOUTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")


def project_folder(environment: Mapping[str, str], here: str = "") -> str:
    """Return the folder that paths are told relative to: the checkout that `here` lies in, else `here`.

    ``here`` is the current folder when it is empty.
    """
    current = _slashes(here or os.getcwd())
    for variable in _CHECKOUTS:
        checkout = _slashes(environment.get(variable, "")).rstrip("/")
        if checkout and f"{current}/".startswith(f"{checkout}/"):
            return checkout
    return current


def portable(path: str, root: str = "") -> str:
    r"""Return `path` relative to `root` (the current folder when empty) if it lies there, else absolute.

    Separators are forward slashes: a backslash is always taken for Windows' separator, so that one project gives
    one text on every system.
    """
    here = _slashes(os.getcwd())
    given = _slashes(path)
    whole = posixpath.normpath(given if _is_absolute(given) else f"{here}/{given}")
    base = f"{_slashes(root or here).rstrip('/')}/"
    return whole.removeprefix(base)


def is_relative(path: str) -> bool:
    """Whether `path`, as `portable` returns it, lies in the project."""
    return not _is_absolute(path)


def uri(path: str) -> str:
    """Return `path`, as `portable` returns it, as a URI reference; a ``file`` URI where it is absolute.

    Source: RFC 3986; RFC 8089 for drives and shares of Windows.
    """
    if path.startswith("//"):
        return f"file:{_quoted(path)}"
    if path.startswith("/"):
        return f"file://{_quoted(path)}"
    if drive := _DRIVE.match(path):
        return f"file:///{drive.group()}{_quoted(path[drive.end() :])}"
    return _quoted(path)


def _quoted(path: str) -> str:
    return quote(path, safe="/", errors="surrogateescape")


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or _DRIVE.match(path) is not None
