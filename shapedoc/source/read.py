"""Bytes of a file to text: encodings, byte order marks, and everything that can be wrong with a file."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from shapedoc.core.finding import FileError
from shapedoc.core.fix import Edit, apply_edits
from shapedoc.source.notebook import NotANotebook, Notebook, is_notebook

__all__ = ["Source", "decode", "names_tensor_library", "read_bytes", "read_source"]

_LIBRARIES = (b"torch", b"numpy", b"einops", b"jaxtyping")
_LIBRARY = re.compile(rb"(?<![\w])(?:torch|numpy|einops|jaxtyping)(?![\w])")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_BLANK = re.compile(rb"^[ \t\f]*(?:#[^\r\n]*)?$")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a file as it stands there: line ends as written, the byte order mark taken off.

    ``encoding`` and ``bom`` say how an edited text is written back; ``newline`` is the file's usual line end. ``data``
    is the whole file. Of a notebook, ``text`` is its code cells one below the other, and ``notebook`` leads back.
    """

    path: str
    text: str
    encoding: str
    bom: bool
    newline: str
    data: bytes = field(default=b"", repr=False, compare=False)
    notebook: Notebook | None = field(default=None, repr=False, compare=False)

    @property
    def shown(self) -> str:
        """The text as its author sees it, which in a notebook has lines that are no Python."""
        return self.text if self.notebook is None else self.notebook.shown

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The bytes of the file after edits of its text; in a notebook only the sources that change are touched.

        Raises OverlappingEdits, UneditablePlace for an edit that a notebook cannot take, and UnicodeEncodeError for a
        character that the encoding lacks.
        """
        if self.notebook is not None:
            return self.encode(self.notebook.edited(edits))
        return self.encode(apply_edits(self.text, edits))

    def encode(self, text: str) -> bytes:
        """The bytes of an edited content. UnicodeEncodeError: it has a character that the encoding lacks."""
        return (_BOM if self.bom else b"") + text.encode(self.encoding)


def names_tensor_library(data: bytes) -> bool:
    """Whether the bytes name torch, NumPy, einops or jaxtyping; a file that does not is never parsed.

    A whole word anywhere counts (``import torch as t``, ``from torch.nn import``, a comment); ``torchvision`` and
    ``jax.numpy_like`` do not.
    """
    return any(library in data for library in _LIBRARIES) and _LIBRARY.search(data) is not None


def read_bytes(path: Path) -> bytes | FileError:
    """The bytes of a regular file, or why there are none."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return FileError(str(path), "is a folder")
        if not stat.S_ISREG(mode):
            return FileError(str(path), "is not a regular file")
        return path.read_bytes()
    except OSError as error:
        return FileError(str(path), reason(error))
    except ValueError as error:
        return FileError(str(path), str(error))


def decode(data: bytes, path: str) -> Source | FileError:
    """The text of `data` in the encoding that it declares, UTF-8 where it declares none (as notebooks always are)."""
    if b"\0" in data:
        return FileError(path, "is a binary file (it holds null bytes)")
    whole = data
    bom = data.startswith(_BOM)
    if bom:
        data = data[len(_BOM) :]
    notebook = is_notebook(path)
    encoding = "utf-8" if notebook else _declared(data)
    if bom and encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        return FileError(path, f"declares the encoding `{encoding}` but starts with the byte order mark of utf-8")
    try:
        text = data.decode(encoding)
    except LookupError:
        return FileError(path, f"declares the unknown encoding `{encoding}`")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        return FileError(path, f"is not {encoding}: byte 0x{byte:02x} on line {line} cannot be decoded")
    except (ValueError, TypeError):
        return FileError(path, f"cannot be decoded as `{encoding}`")
    if not notebook:
        return Source(path, text, encoding, bom, _newline(text), whole)
    try:
        cells = Notebook(text)
    except NotANotebook as problem:
        return FileError(path, f"is no notebook: it {problem}")
    return Source(path, cells.text, encoding, bom, _newline(cells.text), whole, cells)


def read_source(path: Path) -> Source | FileError:
    """The text of a file, or why there is none."""
    data = read_bytes(path)
    return data if isinstance(data, FileError) else decode(data, str(path))


def reason(error: OSError) -> str:
    """What the system says, in lower case and without numbers."""
    return (error.strerror or "cannot be read").lower()


def _declared(data: bytes) -> str:
    """The encoding of a cookie on the first line, or on the second when the first is blank or a comment (PEP 263)."""
    for line in data.split(b"\n", 2)[:2]:
        if match := _COOKIE.match(line):
            return match.group(1).decode("ascii")
        if not _BLANK.match(line.rstrip(b"\r")):
            break
    return "utf-8"


def _newline(text: str) -> str:
    """The line end that the text begins with, ``\\n`` where it has one line."""
    end = text.find("\n")
    if end > 0 and text[end - 1] == "\r":
        return "\r\n"
    return "\r" if end < 0 and "\r" in text else "\n"
