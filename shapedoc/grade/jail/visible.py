"""What of the file system a child may read: Python's standard library, torch and its kin, and the system's libraries.

No other package is visible, shapedoc itself least of all: assignments hold their reference solutions.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Sequence

from shapedoc.grade.jail.landlock import READ, WRITE_FILE, grants

__all__ = ["PACKAGES", "allowed_paths"]

PACKAGES = (
    "torch", "torchgen", "functorch", "numpy", "scipy", "einops", "jaxtyping", "beartype", "typing_extensions",
    "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "filelock", "fsspec", "wadler_lindig", "opt_einsum",
)  # fmt: skip
"""What a submission may import beside the standard library, where it is installed."""

_SYSTEM = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/etc/ld.so.cache",
    "/etc/localtime", "/dev/zero", "/dev/urandom", "/dev/random", "/sys/devices/system/cpu",
)  # fmt: skip
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")


def allowed_paths(hidden: Sequence[str]) -> list[tuple[str, int]]:
    """Pairs of a path and the rights beneath it. Nothing in `hidden` (submissions, assignments) is ever among them."""
    package_folders = _package_folders()
    standard = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), *_shared_libraries()]
    secret = [*hidden, *package_folders, os.path.dirname(os.path.dirname(os.path.dirname(__file__)))]
    paths = grants([*_existing([*standard, *_SYSTEM])], secret)
    paths += grants(list(_packages(package_folders)), hidden)
    return [*((path, READ) for path in paths), ("/dev/null", READ | WRITE_FILE)]


def _package_folders() -> list[str]:
    """Every folder in which installed packages lie, of this Python or of the system's."""
    folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    folders.update(path for path in sys.path if os.path.basename(path) in _PACKAGE_FOLDERS)
    for root in ("/usr/lib", "/usr/local/lib", sysconfig.get_path("stdlib")):
        with_packages = [root, *(entry.path for entry in _entries(root) if entry.name.startswith("python"))]
        folders.update(os.path.join(each, name) for each in with_packages for name in _PACKAGE_FOLDERS)
    return list(_existing(folders))


def _packages(folders: Iterable[str]) -> Iterable[str]:
    for folder in folders:
        for entry in _entries(folder):
            name = entry.name.partition(".")[0]
            # Wheels keep their libraries beside the package, as in numpy.libs, nvidia and triton.
            if name in PACKAGES or name in ("nvidia", "triton"):
                yield entry.path


def _shared_libraries() -> list[str]:
    folder = sysconfig.get_config_var("LIBDIR")
    return [folder] if folder and sys.base_prefix.startswith(os.path.dirname(folder)) else []


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _existing(paths: Iterable[str | None]) -> Iterable[str]:
    return sorted({path for path in paths if path and os.path.exists(path)})
