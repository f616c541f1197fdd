"""What several commands read from their options."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from shapedoc.config import Config
    from shapedoc.engine import Settings, StandardInput

__all__ = ["chosen_config", "one_of", "said", "settings", "standard_input", "words"]


@contextmanager
def said() -> Iterator[None]:
    """Turn what a user can mend (configuration, selectors, paths, formats) into a message and exit code 2."""
    from shapedoc.config import ConfigError
    from shapedoc.engine import RequestError
    from shapedoc.report import UnknownFormat

    try:
        yield
    except (ConfigError, RequestError, UnknownFormat) as problem:
        click.echo(f"shapedoc: {problem}", err=True)
        raise click.exceptions.Exit(2) from None


def one_of(options: Mapping[str, bool]) -> None:
    """Refuse more than one of these options at a time."""
    given = [f"`{name}`" for name, is_given in options.items() if is_given]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} cannot go together with {given[1]}")


def chosen_config(explicit: Path | None, paths: Iterable[Path]) -> Config:
    """Return the configuration: the file named by the user, or the nearest one above the paths."""
    from shapedoc.config import load_config

    return load_config(explicit, [path for path in paths if str(path) != "-"])


def settings(screen: bool, without: Iterable[str]) -> Settings:
    """Return how files are analysed. Raises RequestError for a source of knowledge that there is none of."""
    from shapedoc.config import did_you_mean
    from shapedoc.engine import KNOWLEDGE, RequestError, Settings

    names = frozenset(words(without))
    for name in sorted(names - set(KNOWLEDGE)):
        raise RequestError(f"`--without` knows {', '.join(KNOWLEDGE)}, not `{name}`{did_you_mean(name, KNOWLEDGE)}")
    return Settings(screen, names)


def standard_input(paths: Iterable[Path], name: str | None) -> StandardInput | None:
    """Return what comes through standard input, if ``-`` is among the paths.

    Raises RequestError for a name without it.
    """
    from shapedoc.engine import RequestError, StandardInput

    if "-" not in map(str, paths):
        if name is not None:
            raise RequestError("`--stdin-filename` needs `-` in the place of a path")
        return None
    return StandardInput(sys.stdin.buffer.read(), name or "-")


def words(values: Iterable[str]) -> tuple[str, ...]:
    """Return the words of options that may be repeated and may hold several, with commas between."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())
