"""The zip that Gradescope takes as an autograder: shapedoc itself, one assignment, and the two scripts that it wants.

Source: Gradescope Autograder Documentation, Autograder Specifications: `setup.sh` and `run_autograder` stand at the
root of the archive, not in a folder.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from shapedoc.version import __version__

__all__ = ["bundle"]

_HERE = Path(__file__).parent
_PACKAGE = _HERE.parents[2]
_SCRIPTS = ("run_autograder", "setup.sh")
# What grading needs of what shapedoc needs; torch is installed before these.
_REQUIREMENTS = (
    "beartype>=0.20",
    "click>=8.1.8",
    "jaxtyping>=0.3.0",
    "libcst>=1.8.4",
    "numpy>=2.0",
    "pathspec>=0.12.1",
)
_MADE = (1980, 1, 1, 0, 0, 0)


def bundle(assignment: Path, out: Path, seed: int = 0) -> Path:
    """Write the autograder of the assignment in the folder `assignment` to the zip file `out`, and return it.

    seed: from it and the number of a submission its inputs are drawn; whoever does not know it cannot draw them.
    The same assignment, seed and version give the same bytes. Upload it at Gradescope under Configure Autograder.

    Raises OSError for a folder that cannot be read, or a file that cannot be written.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in _SCRIPTS:
            _put(archive, name, (_HERE / name).read_bytes(), executable=True)
        _put(archive, "requirements.txt", "".join(f"{line}\n" for line in _REQUIREMENTS).encode())
        _put(archive, "seed", f"{seed}\n".encode())
        _put(archive, "README", f"An autograder for Gradescope, made by shapedoc {__version__}.\n".encode())
        for folder, path in (("assignment", assignment), ("shapedoc", _PACKAGE)):
            for file in _files(path):
                _put(archive, f"{folder}/{file.relative_to(path).as_posix()}", file.read_bytes())
    return out


def _files(folder: Path) -> Iterator[Path]:
    """The files of a folder in the order of their names, without what Python and editors leave there."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and path.suffix != ".pyc" and not any(p.startswith((".", "__pycache__")) for p in parts):
            yield path


def _put(archive: zipfile.ZipFile, name: str, data: bytes, *, executable: bool = False) -> None:
    info = zipfile.ZipInfo(name, _MADE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (0o100755 if executable else 0o100644) << 16
    archive.writestr(info, data)
