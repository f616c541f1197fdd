"""``shapedoc run``: run a program as it is and say what was wrong in it."""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shapedoc.cli.options import chosen_config, said

if TYPE_CHECKING:
    from shapedoc.config import Config
    from shapedoc.core.finding import Finding, Report
    from shapedoc.runtime.program import Ran

__all__ = ["command"]


@click.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="Write a shapedoc-report/1 to FILE.")
@click.option("--output-format", metavar="FORMAT", default="full", help="How findings are told; full by default.")
@click.option("--notes/--no-notes", default=False, help="Tell notes too.")
@click.argument("script_and_arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    module: str | None, report: Path | None, output_format: str, notes: bool, script_and_arguments: tuple[str, ...]
) -> int:
    """Run a script (or -m MODULE) with its arguments, explain its crash, and list what was silently wrong.

    Code under the working folder is watched. The exit code is the program's own.
    """
    if module is None and not script_and_arguments:
        raise click.UsageError("which script? `shapedoc run SCRIPT [ARGUMENTS]` or `shapedoc run -m MODULE`")
    script, *arguments = script_and_arguments if module is None else (module, *script_and_arguments)
    with said():
        config = replace(chosen_config(None, [Path(script)] if module is None else []), notes=notes)
        try:
            from shapedoc.runtime.program import run_program
        except ImportError as problem:
            raise click.UsageError(f"`shapedoc run` needs torch: {problem}") from None
        try:
            ran = run_program(script, arguments, module=module is not None)
        except FileNotFoundError:
            raise click.UsageError(f"there is no file `{script}`") from None
        if ran.error is not None:
            _print_traceback(ran.error)
        told = _report(ran, config)
        _tell(told, output_format)
        if report is not None:
            from shapedoc.report import Context, renderer

            report.write_text("\n".join(renderer("json")(told, Context())) + "\n", encoding="utf-8")
    sys.stdout.flush()
    return ran.code


def _print_traceback(error: BaseException) -> None:
    """The traceback as Python prints it, without the frames of the tool."""
    tool = os.sep + "shapedoc" + os.sep + "runtime" + os.sep
    kept = traceback.TracebackException.from_exception(error)
    kept.stack = traceback.StackSummary.from_list(
        f for f in kept.stack if tool not in f.filename and "<frozen runpy>" not in f.filename
    )
    click.echo("".join(kept.format()), err=True)


def _report(ran: Ran, config: Config) -> Report:
    """What the run showed, with what reading the very same code shows of the functions that ran."""
    from shapedoc.core.finding import Report
    from shapedoc.runtime.combine import combined, executed

    ran_in = executed(ran.recording)
    read = _read(sorted(ran_in), config)
    shown = ran.recording.findings()
    findings = combined(shown, read, ran_in, ran.recording.explanation(), ran.recording.handled)
    kept = [f for f in findings if f.severity != "note" or config.notes]
    paths = sorted(ran_in)
    return Report(files=len(paths), findings=[replace(f, path=_shown(f.path)) for f in kept], paths=paths)


def _read(paths: list[str], config: Config) -> list[Finding]:
    from shapedoc.engine import Request, RequestError, run

    if not paths:
        return []
    try:
        return run(Request(paths=tuple(Path(p) for p in paths), config=config, jobs=1, cache=False)).findings
    except RequestError:
        return []


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _tell(report: Report, output_format: str) -> None:
    from shapedoc.engine import text_reader
    from shapedoc.report import Context, renderer
    from shapedoc.report.colour import palette_for

    context = Context(text_of=text_reader(None), palette=palette_for(sys.stderr.isatty(), os.environ))
    for line in renderer(output_format)(report, context):
        click.echo(line, err=True)
