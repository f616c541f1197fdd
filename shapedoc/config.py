"""``[tool.shapedoc]`` of a ``pyproject.toml``: read, checked, and turned into one frozen Config."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

__all__ = ["Config", "ConfigError", "did_you_mean", "find_config", "load_config", "read_config"]


class ConfigError(ValueError):
    """A configuration that cannot be used; the text says which file, which key, and what would do."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a project asks for.

    ``select`` empty means every rule. Patterns (``exclude``, the keys of ``per_file_ignores``) are those of
    ``.gitignore``, relative to ``root``. ``severity`` sets a rule's severity anew. ``jobs`` 0 means one process
    for each processor.
    """

    root: Path = field(default_factory=Path.cwd)
    file: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: tuple[tuple[str, str], ...] = ()
    output_format: str = "full"
    jobs: int = 0
    notes: bool = False
    cache: bool = True


def load_config(explicit: Path | None, paths: Iterable[Path]) -> Config:
    """Return the configuration for a run over `paths`.

    `explicit` is a file named by the user; without it, the nearest ``pyproject.toml`` with a ``[tool.shapedoc]``
    at or above the paths' common folder is taken, and without any such file the defaults.

    Raises ConfigError.
    """
    if explicit is not None:
        return read_config(explicit)
    found = find_config(_common_folder(paths))
    return read_config(found) if found is not None else Config()


def find_config(start: Path) -> Path | None:
    """Return the nearest ``pyproject.toml`` at or above `start` that has a ``[tool.shapedoc]``.

    Raises ConfigError when one on the way up is no TOML.
    """
    for folder in (start, *start.parents):
        candidate = folder / "pyproject.toml"
        if candidate.is_file() and _section(candidate) is not None:
            return candidate
    return None


def read_config(path: Path) -> Config:
    """Read one TOML file's ``[tool.shapedoc]``.

    Raises ConfigError when the file is missing, is no TOML, has no such table, or has a key or a value that
    means nothing.
    """
    section = _section(path)
    if section is None:
        raise ConfigError(f"{path}: there is no [tool.shapedoc] in this file")
    config = Config(root=path.absolute().parent, file=path)
    for key, value in section.items():
        reader = _READERS.get(key)
        if reader is None:
            raise ConfigError(f"{path}: [tool.shapedoc] has no key `{key}`{did_you_mean(key, _READERS)}")
        try:
            config = reader(config, value)
        except _WrongValue as problem:
            raise ConfigError(f"{path}: [tool.shapedoc] `{key}` {problem}") from None
    return config


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean `x`?`` for the nearest of the `known` words, or nothing."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean `{near[0]}`?" if near else ""


class _WrongValue(ValueError):
    """What is wrong with a value, to stand after the key's name."""


def _section(path: Path) -> Mapping[str, object] | None:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8, as TOML must be") from None
    except tomllib.TOMLDecodeError as problem:
        raise ConfigError(f"{path}: is not valid TOML: {problem}") from None
    tool = document.get("tool")
    section = tool.get("shapedoc") if isinstance(tool, dict) else None
    if section is not None and not isinstance(section, dict):
        raise ConfigError(f"{path}: `tool.shapedoc` must be a table")
    return section


def _common_folder(paths: Iterable[Path]) -> Path:
    folders = [path if path.is_dir() else path.parent for path in (p.absolute() for p in paths)]
    if not folders:
        return Path.cwd()
    common = folders[0]
    for folder in folders[1:]:
        while common not in (folder, *folder.parents):
            common = common.parent
    return common


def _words(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _WrongValue(f"must be a list of strings, such as {['SD1', 'SD401']}")
    return tuple(value)


def _words_by_pattern(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise _WrongValue('must be a table of patterns, such as {"old/*.py" = ["SD4"]}')
    return tuple((pattern, _words(codes)) for pattern, codes in value.items())


def _severities(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or not all(level in ("error", "warning", "note") for level in value.values()):
        raise _WrongValue('must be a table of "error", "warning" or "note" by rule, such as {SD308 = "warning"}')
    return tuple(value.items())


def _jobs(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _WrongValue("must be a whole number: 0 for one process per processor, or how many")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _WrongValue("must be true or false")
    return value


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise _WrongValue("must be a string")
    return value


_READERS: Mapping[str, Callable[[Config, object], Config]] = {
    "select": lambda config, value: replace(config, select=_words(value)),
    "ignore": lambda config, value: replace(config, ignore=_words(value)),
    "exclude": lambda config, value: replace(config, exclude=_words(value)),
    "per-file-ignores": lambda config, value: replace(config, per_file_ignores=_words_by_pattern(value)),
    "severity": lambda config, value: replace(config, severity=_severities(value)),
    "output-format": lambda config, value: replace(config, output_format=_word(value)),
    "jobs": lambda config, value: replace(config, jobs=_jobs(value)),
    "notes": lambda config, value: replace(config, notes=_flag(value)),
    "cache": lambda config, value: replace(config, cache=_flag(value)),
}
