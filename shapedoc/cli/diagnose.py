"""``shapedoc diagnose``: which tensor, which shape, which line, which test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shapedoc.cli.options import said

if TYPE_CHECKING:
    from shapedoc.prescribe.bench import Bench
    from shapedoc.prescribe.diagnosis import Diagnosis

__all__ = ["command", "target"]


@click.command("diagnose", short_help="Say tensor, shape, fix and test of what is found.")
@click.argument("where", metavar="FILE[::NAME]")
@click.option("--verify", is_flag=True, help="Run the test before and after the fix, in a process of its own.")
@click.option("--write-test", type=click.Path(path_type=Path), metavar="PATH", help="Write the test there.")
@click.option(
    "--arg",
    "arguments",
    multiple=True,
    metavar="NAME=VALUE",
    help="With --verify: what a parameter of a constructor or call is given, as d_model=64.",
)
def command(where: str, verify: bool, write_test: Path | None, arguments: tuple[str, ...]) -> int:
    """Say of every finding of FILE, or of the class or function NAME in it: tensor, shape, fix and test.

    Exits with 1 when there is a finding. --verify runs your code: only do it with code that you trust.
    """
    from shapedoc.prescribe.diagnosis import NoSuchName, diagnose, lines_of

    given = _given(arguments)
    if given and not verify:
        raise click.UsageError("--arg says how the code is run; it needs --verify")
    with said():
        bench, name = target(where)
    try:
        found = diagnose(bench, name, execute=verify, given=given)
    except NoSuchName as problem:
        raise click.UsageError(str(problem)) from None
    for one in found:
        at = _written(bench, one, write_test) if write_test is not None else ""
        for line in lines_of(bench, one, execute=verify, test_at=at):
            click.echo(line)
    if not found:
        click.echo(f"nothing is found in {where}")
    return int(bool(found))


def _given(arguments: tuple[str, ...]) -> dict[str, str]:
    """The arguments by name; each value is a Python expression."""
    given: dict[str, str] = {}
    for one in arguments:
        name, equals, value = one.partition("=")
        if not equals or not name.strip().isidentifier() or not value.strip():
            raise click.UsageError(f"--arg {one}: it is written NAME=VALUE, as in --arg d_model=64")
        try:
            compile(value.strip(), "--arg", "eval")
        except SyntaxError:
            raise click.UsageError(f"--arg {one}: `{value}` is no expression of Python") from None
        given[name.strip()] = value.strip()
    return given


def target(where: str) -> tuple[Bench, str]:
    """The file of ``FILE::NAME`` on the bench, and the name. Raises RequestError where it cannot be read."""
    from shapedoc.config import load_config
    from shapedoc.core.finding import FileError
    from shapedoc.engine import Request, RequestError, settings_of
    from shapedoc.prescribe.bench import Bench
    from shapedoc.source.parse import SourceError
    from shapedoc.source.read import read_source

    file, _, name = where.partition("::")
    source = read_source(Path(file))
    if isinstance(source, FileError):
        raise RequestError(f"{source.path}: {source.message}")
    request = Request((Path(file),), load_config(None, [Path(file)]))
    try:
        return Bench.of(file, source.text, settings_of(request)), name
    except SourceError as problem:
        raise RequestError(f"{file}:{problem.line}:{problem.column + 1}: {problem.message}") from None


def _written(bench: Bench, one: Diagnosis, path: Path) -> str:
    """Write a test where there is none of its name yet; what became of it, in words."""
    from shapedoc.prescribe.writing import write_test

    if one.test is None:
        return "none to write"
    if one.executed is not None and not one.executed.holds and one.answer.fix is not None:
        return f"not written: {one.executed.words}"
    return write_test(path, one.test)
