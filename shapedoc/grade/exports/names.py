"""Names of files and of students, from names of submissions, which anybody may have chosen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from hashlib import sha256
from pathlib import PurePosixPath

from shapedoc.grade.result import GradedSubmission

__all__ = ["file_names", "student_of"]

_SUFFIXES = (".py", ".ipynb", ".zip")
_LONGEST = 80
# Names that Windows keeps for devices, and those of our own files.
_KEPT = frozenset(
    ["con", "prn", "aux", "nul", "class", "results", "index", "exports"]
    + [f"{device}{i}" for device in ("com", "lpt") for i in range(10)]
)


def student_of(name: str) -> str:
    """The name of a submission without the suffix of its file."""
    path = PurePosixPath(name.replace("\\", "/"))
    return name[: -len(path.suffix)] if path.suffix.lower() in _SUFFIXES and path.stem else name


def file_names(results: Sequence[GradedSubmission]) -> list[str]:
    """One name for the files of each submission, in their order: safe on every system, no two alike.

    Letters of all scripts, digits, ``-`` and ``_`` are kept, anything else is ``_``. Where that loses something that
    tells two apart, both have some digits of the hash of their name, so that a name does not hang on the others' order.
    """
    stems = [_stem(result.name) for result in results]
    folded = [stem.casefold() for stem in stems]
    return [
        f"{stem}-{_digits(result.name)}" if folded.count(fold) > 1 or fold in _KEPT or not stem else stem
        for result, stem, fold in zip(results, stems, folded, strict=True)
    ]


def _stem(name: str) -> str:
    text = unicodedata.normalize("NFC", student_of(name))
    kept = re.sub(r"[^\w-]+", "_", text.encode("utf-8", "replace").decode("utf-8")).strip("_")
    return kept if len(kept.encode()) <= _LONGEST else f"{_cut(kept)}-{_digits(name)}"


def _cut(text: str) -> str:
    return text.encode()[: _LONGEST - 9].decode("utf-8", "ignore").rstrip("_")


def _digits(name: str) -> str:
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
