"""The command line: one file per command, loaded when it is called.

Exit codes are ruff's: 0 clean, 1 findings, 2 nothing could be run. No failure shows a traceback, unless
``SHAPEDOC_DEBUG=1`` asks for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from shapedoc.version import __version__

__all__ = ["COMMANDS", "main"]

COMMANDS = ("lint", "diagnose", "prompt", "run", "shapes", "explain", "rules", "grade")

_INTERRUPTED = 130
_BROKEN_PIPE = 1


class _Commands(click.Group):
    """A group whose commands are modules of this package, each with a `command`."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"shapedoc.cli.{name}").command
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if arguments and arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
            from shapedoc.config import did_you_mean

            context.fail(f"there is no command `{arguments[0]}`{did_you_mean(arguments[0], COMMANDS)}")
        return super().resolve_command(context, arguments)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="shapedoc %(version)s")
def _group() -> None:
    """A shape doctor for attention code in PyTorch and NumPy.

    Names the tensor that is wrong, its right shape, and the step to take. Reads code, never runs it.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command that `arguments` (those of the process when None) name, and exit."""
    linting = arguments is None and sys.argv[1:2] == ["lint"]
    if linting:
        from shapedoc.cli.leaving import without_collecting

        without_collecting()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _close_output()
        code = _BROKEN_PIPE
    except OSError as problem:
        if os.environ.get("SHAPEDOC_DEBUG"):
            raise
        _close_output()
        code = _cannot(problem)
    else:
        if linting:
            from shapedoc.cli.leaving import at_once

            at_once(code)
    sys.exit(code)


def _close_output() -> None:
    """Send what is still to be written nowhere, so that the interpreter does not fail at it once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _cannot(problem: OSError) -> int:
    """Say what the system refused, which is no fault of the tool."""
    where = f"{problem.filename}: " if problem.filename else ""
    click.echo(f"shapedoc: {where}{(problem.strerror or str(problem)).lower()}", err=True)
    return 2


def _run(arguments: Sequence[str] | None) -> int:
    try:
        result = _group.main(args=arguments, prog_name="shapedoc", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except OSError:
        raise
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as problem:
        problem.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("shapedoc: interrupted", err=True)
        return _INTERRUPTED
    except Exception as problem:
        if os.environ.get("SHAPEDOC_DEBUG"):
            raise
        from shapedoc.engine.faults import internal_error

        click.echo(f"shapedoc: {internal_error(problem)}", err=True)
        return 2
