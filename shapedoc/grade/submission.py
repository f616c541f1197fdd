"""What was handed in, as one text of Python, or why it cannot be graded; nothing is run, and no file is believed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from shapedoc.core.finding import FileError
from shapedoc.grade.archive import ArchiveProblem, unpacked
from shapedoc.grade.definitions import definitions, definitions_only
from shapedoc.grade.plan import Cause
from shapedoc.source.notebook import Notebook, is_notebook
from shapedoc.source.parse import SourceError, normalise, parse
from shapedoc.source.read import decode

__all__ = ["Entry", "Submission", "find", "read"]

_MOST_BYTES = 10 << 20
_MOST_TEXT = 1 << 20
_MOST_FILES = 200
_CODE = (".py", ".ipynb")
_LISTED = 8
_NO_SUBMISSION = ("", ".csv", ".html", ".json", ".jsonl", ".log", ".md", ".toml", ".tsv", ".xml", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission that was found: its name, unique in a run, and the file or folder."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Submission:
    """A submission that was read.

    text: its source; of a notebook the definitions and imports of its cells, on the lines of all cells together. file:
    the name of the file that was taken. problem: why there is nothing to grade; then `text` is what there is, or "".
    """

    name: str
    text: str
    file: str = ""
    problem: Cause | None = None


class _Problem(Exception):
    def __init__(self, key: str, **values: str | int | float) -> None:
        super().__init__(key)
        self.cause = Cause(f"submission.{key}", values)


def find(paths: Iterable[Path]) -> list[Entry]:
    """The submissions at `paths`, in the order of their names: a file is one; so is every file and folder in a folder.

    A folder that holds neither code nor folders with code is one submission itself. Raises FileNotFoundError.
    """
    found: list[tuple[str, Path]] = []
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(2, "there is no such file or folder", str(path))
        if path.is_dir():
            found += [(entry.name, entry) for entry in _visible(path)]
        else:
            found.append((path.name, path))
    return _named(found)


def _visible(folder: Path) -> list[Path]:
    """What may be a submission in a folder; not lists and notes, nor what systems and editors leave there."""
    return [
        entry
        for entry in sorted(folder.iterdir())
        if not entry.name.startswith((".", "__")) and (entry.is_dir() or entry.suffix.lower() not in _NO_SUBMISSION)
    ]


def _named(found: Sequence[tuple[str, Path]]) -> list[Entry]:
    """Names without suffixes where that keeps them apart; else with the suffix, the folder, a number."""
    unique: dict[Path, str] = {}
    for name, path in found:
        unique.setdefault(path.resolve(), name)
    stems: dict[str, list[Path]] = {}
    for path, name in unique.items():
        stem = name if path.is_dir() else name.removesuffix(path.suffix)
        stems.setdefault(stem or name, []).append(path)
    taken: set[str] = set()
    entries = []
    for stem, paths in sorted(stems.items()):
        for path in paths:
            choices = [stem] if len(paths) == 1 else [path.name, f"{path.parent.name}-{path.name}"]
            choices += [f"{path.parent.name}-{path.name}-{number}" for number in range(2, len(found) + 2)]
            name = next(choice for choice in choices if choice not in taken)
            taken.add(name)
            entries.append(Entry(name, path))
    return sorted(entries, key=lambda entry: entry.name)


def read(entry: Entry, targets: Sequence[str]) -> Submission:
    """Read a submission in which `targets` should be defined; whatever is wrong with it is its `problem`."""
    try:
        files = _files(entry.path)
        if not files:
            raise _Problem("no_file")
        name, text = _chosen([(name, *_source(name, data)) for name, data in files], targets)
        return Submission(entry.name, text, name)
    except ArchiveProblem as problem:
        return Submission(entry.name, "", problem=problem.cause)
    except _Broken as broken:
        return Submission(entry.name, broken.text, broken.file, broken.cause)
    except _Problem as problem:
        return Submission(entry.name, "", problem=problem.cause)
    except OSError as error:
        message = (error.strerror or "cannot be read").lower()
        return Submission(entry.name, "", problem=Cause("submission.unreadable", {"message": message}))


def _files(path: Path) -> list[tuple[str, bytes]]:
    """The code in a file, a folder or an archive: names and contents."""
    if path.is_dir():
        return _in_folder(path)
    if path.suffix.lower() == ".zip":
        _bounded(path)
        return [(name, data) for name, data in unpacked(path, _CODE)]
    if path.suffix.lower() not in _CODE:
        raise _Problem("other_kind")
    return [(path.name, _bounded(path))]


def _in_folder(path: Path) -> list[tuple[str, bytes]]:
    """Files of a folder, links left out."""
    found: list[tuple[str, bytes]] = []
    archives: list[Path] = []
    for entry in sorted(path.rglob("*")):
        hidden = any(part.startswith((".", "__")) for part in entry.relative_to(path).parts)
        if hidden or entry.is_symlink() or not entry.is_file() or len(found) >= _MOST_FILES:
            continue
        if entry.suffix.lower() in _CODE:
            found.append((str(entry.relative_to(path)), _bounded(entry)))
        elif entry.suffix.lower() == ".zip":
            archives.append(entry)
    if not found and len(archives) == 1:
        return _files(archives[0])
    return found


def _bounded(path: Path) -> bytes:
    """The content of a regular file of at most 10 MB."""
    if not path.is_file():
        raise _Problem("unreadable", message="is not a regular file")
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise _too_large(path.stat().st_size)
    return data if path.suffix.lower() != ".zip" else b""


def _too_large(size: int, most: int = _MOST_BYTES) -> _Problem:
    return _Problem("too_large", size=f"{size / (1 << 20):.1f}", most=most >> 20)


class _Broken(Exception):
    """A text that is there and cannot be graded."""

    def __init__(self, file: str, text: str, cause: Cause) -> None:
        super().__init__(cause.key)
        self.file, self.text, self.cause = file, text, cause


def _source(name: str, data: bytes) -> tuple[str, frozenset[str]]:
    """The text to run, and the names that it defines. Raises _Problem, _Broken."""
    if not data.strip():
        raise _Problem("empty")
    source = decode(data, name.lower())
    if isinstance(source, FileError):
        raise _Problem("unreadable", message=source.message)
    text = normalise(source.text)
    if len(text) > _MOST_TEXT:
        raise _too_large(len(text), _MOST_TEXT)
    notebook = source.notebook
    if notebook is not None:
        text = _of_notebook(name, notebook, text)
    try:
        tree = parse(text)
    except SourceError as problem:
        cause = Cause("submission.syntax", {"line": problem.line, "message": problem.message})
        raise _Broken(name, text, cause) from None
    if not tree.body:
        raise _Problem("no_code" if is_notebook(name.lower()) else "empty")
    return text, definitions(tree)


def _of_notebook(name: str, notebook: Notebook, text: str) -> str:
    """The definitions and imports of a notebook. A cell that does not parse is a fault only if it would define."""
    for broken in notebook.broken:
        cell = notebook.cell_at(broken.line)
        if any(line.startswith(("def ", "class ", "async def ", "@")) for line in cell.source.splitlines()):
            line = broken.line - cell.first + 1
            cause = Cause("submission.cell_syntax", {"line": line, "cell": cell.number, "message": broken.message})
            raise _Broken(name, text, cause)
    return definitions_only(text, parse(text))


def _chosen(files: Sequence[tuple[str, str, frozenset[str]]], targets: Sequence[str]) -> tuple[str, str]:
    """The one file that defines what is asked for. Raises _Problem, _Broken."""
    for target in targets:
        having = [(name, text) for name, text, names in files if target in names]
        if len(having) > 1:
            raise _Problem("two_files", name=target, first=having[0][0], second=having[1][0])
    for name, text, names in files:
        # What `exec` or `globals()` define shows when the submission is run.
        if names & {*targets, "*"}:
            return name, text
    name, text, _ = files[0]
    defined = sorted({each for _, _, names in files for each in names if not each.startswith("_")})
    for target in targets:
        for nearest in get_close_matches(target, defined, 1, 0.7):
            raise _Broken(name, text, Cause("submission.wrong_name", {"name": target, "nearest": nearest}))
    if not defined:
        raise _Broken(name, text, Cause("submission.nothing_defined", {"name": targets[0]}))
    listed = ", ".join(f"`{each}`" for each in defined[:_LISTED]) + (", …" if len(defined) > _LISTED else "")
    raise _Broken(name, text, Cause("submission.no_name", {"name": targets[0], "defined": listed}))
