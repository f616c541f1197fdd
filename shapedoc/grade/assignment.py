"""An assignment as data: a folder with `assignment.toml` and one reference module."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, NoReturn, TypeVar, cast, get_args

__all__ = [
    "SHIPPED",
    "Assignment",
    "AssignmentError",
    "HintLevel",
    "Language",
    "OwnMistake",
    "RubricItem",
    "Visibility",
    "folder_of",
    "load",
    "shipped",
]

Language = Literal["en", "zh"]
Visibility = Literal["visible", "hidden", "after_due_date", "after_published"]
HintLevel = Literal["property", "input", "line", "fix"]
Partial = Literal["none", "cases"]
_Word = TypeVar("_Word", bound=str)

SHIPPED = Path(__file__).parent / "assignments"
"""Where the assignments that come with shapedoc lie."""

_FILE = "assignment.toml"
_REFERENCE = "reference.py"


class AssignmentError(ValueError):
    """An assignment that cannot be used; the text says which key of which file, and what would do."""


@dataclass(frozen=True, slots=True)
class RubricItem:
    """One thing that is marked.

    id: unique in the assignment. title, says: its name and the property in words, by language; ``en`` is always there.
    property: a name of the library of properties; parameters: what that property takes. partial: ``cases`` gives the
    share of the drawn cases that are right, ``none`` all or nothing. hint: how much a student is told where it fails:
    the property in words; the failing input too; the line too; how to mend it too.
    """

    id: str
    title: Mapping[Language, str]
    says: Mapping[Language, str]
    property: str
    points: float
    partial: Partial = "none"
    visibility: Visibility = "visible"
    hint: HintLevel = "fix"
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OwnMistake:
    """A mistake that the assignment explains itself: a function of the reference module computes it.

    name: of that function. function: the target whose results it is compared with.
    """

    name: str
    function: str
    title: Mapping[Language, str]
    hint: Mapping[Language, str]
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What is asked, and how it is marked.

    targets: the functions and classes that a submission must define, each with its parameters' names. framework: what
    the arrays are that they get, ``torch``, ``numpy``, or ``either`` (the submission's imports decide).
    time_s, memory_bytes: limits of one submission. reference: the source text of the reference module.
    settings: the tables of the TOML file that properties share, such as ``[training]``. mistakes: those that it
    explains itself, by name.
    digest: of both files; a journal made with other files is not resumed. toml: the text of the TOML file.
    """

    name: str
    title: Mapping[Language, str]
    summary: Mapping[Language, str]
    framework: Literal["torch", "numpy", "either"]
    targets: Mapping[str, tuple[str, ...]]
    items: tuple[RubricItem, ...]
    reference: str
    time_s: float = 20.0
    memory_bytes: int = 4 << 30
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    mistakes: Mapping[str, OwnMistake] = field(default_factory=dict)
    digest: str = ""
    toml: str = ""

    @property
    def max_score(self) -> float:
        """The points of all items."""
        return sum(item.points for item in self.items)

    def text(self, of: Mapping[Language, str], language: Language) -> str:
        """A text of this assignment in a language, in English where it has no other."""
        return of.get(language) or of["en"]


def shipped() -> tuple[str, ...]:
    """The names of the assignments that come with shapedoc."""
    return tuple(sorted(folder.name for folder in SHIPPED.iterdir() if (folder / _FILE).is_file()))


def load(place: str | Path) -> Assignment:
    """Read an assignment: a folder, its `assignment.toml`, or the name of one that ships.

    Raises AssignmentError: nothing there, no TOML, a key that is missing, unknown or of the wrong kind.
    """
    folder = folder_of(place)
    file, reference = folder / _FILE, folder / _REFERENCE
    try:
        raw = file.read_bytes()
        table = tomllib.loads(raw.decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise AssignmentError(f"{file}: {problem}") from None
    try:
        text = reference.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise AssignmentError(f"{reference}: every assignment has its reference module beside it: {problem}") from None
    digest = hashlib.sha256(raw + b"\0" + text.encode()).hexdigest()
    return replace(_assignment(_Table(str(file), "", table), text, digest), toml=raw.decode("utf-8"))


def folder_of(place: str | Path) -> Path:
    """The folder of an assignment, wherever `load` would read it; raises AssignmentError where there is none."""
    path = Path(place)
    if path.is_dir():
        return path
    if path.name == _FILE and path.is_file():
        return path.parent
    name = str(place)
    if name in shipped():
        return SHIPPED / name
    near = get_close_matches(name, shipped(), 1)
    hint = f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(shipped())}"
    raise AssignmentError(f"no assignment `{name}`: neither a folder with {_FILE} nor one that ships{hint}")


def _assignment(table: _Table, reference: str, digest: str) -> Assignment:
    from shapedoc.grade.properties import check_item

    limits = table.table("limits")
    made = Assignment(
        name=table.string("name"),
        title=table.words("title"),
        summary=table.words("summary"),
        framework=table.choice("framework", ("torch", "numpy", "either"), "torch"),
        targets=_targets(table),
        items=tuple(_item(one) for one in table.tables("item")),
        reference=reference,
        time_s=limits.number("time_s", 20.0),
        memory_bytes=int(limits.number("memory_mb", 4096.0) * (1 << 20)),
        mistakes=_mistakes(table),
        settings=table.rest(),
        digest=digest,
    )
    limits.done()
    if not made.items:
        table.fail("item", "has no `[[item]]`: at least one thing must be marked")
    seen: set[str] = set()
    for item in made.items:
        if item.id in seen:
            table.fail("item", f"two items are called `{item.id}`")
        seen.add(item.id)
        if problem := check_item(made, item):
            table.fail(f"item {item.id}", problem)
    return made


def _targets(table: _Table) -> dict[str, tuple[str, ...]]:
    given = table.raw("targets")
    if not isinstance(given, dict) or not given:
        table.fail("targets", 'must name what is handed in, such as `[targets]` `attend = ["query", "memory"]`')
    for name, parameters in given.items():
        if not name.isidentifier():
            table.fail("targets", f"`{name}` is no name of Python")
        if not isinstance(parameters, list) or not all(isinstance(p, str) and p.isidentifier() for p in parameters):
            table.fail(f"targets.{name}", "must be the list of its parameters' names")
    return {name: tuple(parameters) for name, parameters in given.items()}


def _mistakes(table: _Table) -> dict[str, OwnMistake]:
    given, targets = table.table("mistakes"), _targets(table)
    made = {}
    for name in given.take():
        one = given.table(name)
        mistake = OwnMistake(
            name,
            one.string("function"),
            one.words("title"),
            one.words("hint"),
            one.string("fix") if "fix" in one else "",
        )
        if not name.isidentifier():
            one.fail("name", "must be that of a function of the reference module")
        if mistake.function not in targets:
            one.fail("`function`", f"is {mistake.function!r}; `[targets]` has {', '.join(targets)}")
        one.done()
        made[name] = mistake
    return made


def _item(table: _Table) -> RubricItem:
    made = RubricItem(
        id=table.string("id"),
        title=table.words("title"),
        says=table.words("says"),
        property=table.string("property"),
        points=table.number("points"),
        partial=table.choice("partial", get_args(Partial), "none"),
        visibility=table.choice("visibility", get_args(Visibility), "visible"),
        hint=table.choice("hint", get_args(HintLevel), "fix"),
        parameters=table.table("with").take(),
    )
    if made.points < 0:
        table.fail("points", "must not be negative")
    table.done()
    return made


class _Table:
    """A table of the file, read key by key, so that what is left over is a mistake."""

    def __init__(self, file: str, where: str, values: dict[str, object]) -> None:
        self.file, self.where, self.values, self.read = file, where, values, set[str]()

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise, with the place."""
        place = f"{self.where}: {key}" if self.where else key
        raise AssignmentError(f"{self.file}: {place} {problem}")

    def __contains__(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self.values

    def raw(self, key: str, default: object = None) -> object:
        """The value as it stands."""
        self.read.add(key)
        return self.values.get(key, default)

    def string(self, key: str) -> str:
        """A text that must be there."""
        value = self.raw(key)
        if not isinstance(value, str) or not value.strip():
            self.fail(f"`{key}`", "must be a text" if key in self.values else "is missing")
        return value

    def words(self, key: str) -> dict[Language, str]:
        """A text, or one for each language: ``{en = "…", zh = "…"}``."""
        value = self.raw(key)
        if isinstance(value, str) and value.strip():
            return {"en": value.strip()}
        if (
            isinstance(value, dict)
            and "en" in value
            and set(value) <= set(get_args(Language))
            and all(isinstance(v, str) and v.strip() for v in value.values())
        ):
            return {language: text.strip() for language, text in value.items()}
        self.fail(f"`{key}`", 'must be a text, or one a language: {en = "…", zh = "…"}' if value else "is missing")

    def number(self, key: str, default: float | None = None) -> float:
        """A number; where there is no default it must be there."""
        value = self.raw(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(f"`{key}`", "must be a number" if key in self.values else "is missing")
        return float(cast(float, value))

    def choice(self, key: str, among: tuple[_Word, ...], default: _Word) -> _Word:
        """One of several words."""
        value = self.raw(key, default)
        if value not in among:
            self.fail(f"`{key}`", f"is {value!r}; it must be one of {', '.join(among)}")
        return value

    def table(self, key: str) -> _Table:
        """A table below this one, empty where it is missing."""
        value = self.raw(key, {})
        if not isinstance(value, dict):
            self.fail(f"`{key}`", "must be a table")
        return _Table(self.file, f"{self.where}.{key}" if self.where else key, cast("dict[str, object]", value))

    def tables(self, key: str) -> list[_Table]:
        """The tables of ``[[key]]``."""
        value = self.raw(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.fail(f"`{key}`", f"must be written as `[[{key}]]`")
        return [
            _Table(self.file, f"{key} {one.get('id', index + 1)}", one)
            for index, one in enumerate(cast("list[dict[str, object]]", value))
        ]

    def take(self) -> dict[str, object]:
        """The whole table as it stands."""
        self.read |= set(self.values)
        return self.values

    def rest(self) -> dict[str, dict[str, object]]:
        """The tables that nobody has read: settings that properties share."""
        left = {key: value for key, value in self.values.items() if key not in self.read}
        for key, value in left.items():
            if not isinstance(value, dict):
                self.unknown(key)
        return cast("dict[str, dict[str, object]]", left)

    def done(self) -> None:
        """Refuse a key that nobody has read."""
        for key in self.values:
            if key not in self.read:
                self.unknown(key)

    def unknown(self, key: str) -> NoReturn:
        """Refuse a key, with the nearest one that is known."""
        near = get_close_matches(key, self.read, 1)
        self.fail(f"`{key}`", "is no key here" + (f"; did you mean `{near[0]}`?" if near else ""))
