"""``shapedoc lint``: find shape faults in files and folders."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shapedoc.cli.options import chosen_config, one_of, said, words

if TYPE_CHECKING:
    from shapedoc.config import Config
    from shapedoc.core.finding import Report
    from shapedoc.engine import Request

__all__ = ["command"]

# The formats that hand on fixes; working one out means analysing the file again for each candidate.
_WITH_FIXES = ("json", "sarif")


@click.command("lint", short_help="Find shape faults in files and folders.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--select", multiple=True, metavar="RULES", help="Only these: codes, beginnings of codes (SD4), names.")
@click.option("--ignore", multiple=True, metavar="RULES", help="All but these.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out files that match, as in .gitignore.")
@click.option(
    "--output-format", metavar="FORMAT", help="full (the default), concise, github, gitlab, json, junit or sarif."
)
@click.option("--jobs", "-j", type=click.IntRange(min=0), metavar="N", help="Processes; 0 decides by itself.")
@click.option("--notes/--no-notes", default=None, help="Tell notes too; they are off by default.")
@click.option("--statistics", is_flag=True, help="Count findings by rule, and say how much was understood.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write .shapedoc_cache.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), metavar="FILE", help="Take this TOML file.")
@click.option("--stdin-filename", metavar="NAME", help="The name of the file that comes through standard input.")
@click.option("--no-screen", is_flag=True, help="Analyse every file through its concrete syntax.")
@click.option("--add-ignores", is_flag=True, help="Silence all that is found now, by comments in the files.")
@click.option("--fix", is_flag=True, help="Mend what can be mended safely, and tell the rest.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also fixes that change results.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes, until Ctrl-C.")
@click.option("--without", multiple=True, metavar="SOURCE", hidden=True, help="Do without a source of knowledge.")
def command(
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    exclude: tuple[str, ...],
    output_format: str | None,
    jobs: int | None,
    notes: bool | None,
    statistics: bool,
    exit_zero: bool,
    no_cache: bool,
    config_file: Path | None,
    stdin_filename: str | None,
    no_screen: bool,
    add_ignores: bool,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    watch: bool,
    without: tuple[str, ...],
) -> int:
    """Find shape faults in PATHS (files and folders; this folder when none; - for standard input).

    Exits with 1 when there are errors or warnings, with 2 when nothing could be run.
    """

    def prepare() -> Request:
        config = chosen_config(config_file, paths)
        config = replace(
            config,
            select=words(select) or config.select,
            ignore=(*config.ignore, *words(ignore)),
            exclude=(*config.exclude, *exclude),
            output_format=output_format or config.output_format,
            notes=config.notes if notes is None else notes,
        )
        return _request(config, paths, stdin_filename, jobs, no_cache, no_screen, without)

    def lint(request: Request) -> int:
        if fix or diff:
            from shapedoc.cli.fixing import mended

            changes = mended(request, unsafe=unsafe_fixes, write=not diff)
            if diff:
                return int(changes > 0 and not exit_zero)
        return _exit_code(_told(request, statistics), exit_zero)

    one_of({"--watch": watch, "--add-ignores": add_ignores, "--diff": diff})
    one_of({"--add-ignores": add_ignores, "--fix": fix})
    if watch:
        from shapedoc.cli.watch import watched

        return watched(prepare, lint)
    with said():
        if add_ignores:
            from shapedoc.cli.ignoring import ignored

            return ignored(prepare())
        return lint(prepare())


def _request(
    config: Config,
    paths: tuple[Path, ...],
    stdin_filename: str | None,
    jobs: int | None,
    no_cache: bool,
    no_screen: bool,
    without: tuple[str, ...],
) -> Request:
    from shapedoc.cli.options import settings, standard_input
    from shapedoc.engine import Request

    stdin = standard_input(paths, stdin_filename)
    files = tuple(path for path in paths if str(path) != "-")
    return Request(
        paths=files or (() if stdin else (Path(),)),
        config=config,
        settings=settings(screen=not no_screen, without=without),
        stdin=stdin,
        jobs=config.jobs if jobs is None else jobs,
        cache=config.cache and not no_cache,
    )


def _told(request: Request, statistics: bool) -> Report:
    """Run, print, and return what was printed; an unknown format stops before anything is read."""
    from shapedoc.cli.progress import progress
    from shapedoc.engine import cache_folder, notebook_reader, run, settings_of, source_reader, text_reader
    from shapedoc.engine.folding import fold
    from shapedoc.report import Context, renderer
    from shapedoc.report.colour import palette_for
    from shapedoc.report.places import project_folder

    render = renderer(request.config.output_format)
    with progress(sys.stderr, os.environ) as told:
        report = run(request, told)
    if request.config.output_format in _WITH_FIXES and report.findings:
        from shapedoc.prescribe.attach import attach

        attach(report, source_reader(request.stdin), settings_of(request), cache_folder(request), request.jobs)
    fold(report)
    context = Context(
        text_of=text_reader(request.stdin),
        notebook_of=notebook_reader(request.stdin),
        palette=palette_for(sys.stdout.isatty(), os.environ),
        statistics=statistics,
        root=project_folder(os.environ),
    )
    for line in render(report, context):
        click.echo(line, color=True)
    for error in report.errors:
        click.echo(f"shapedoc: {error.path}: {error.message}", err=True)
    return report


def _exit_code(report: Report, exit_zero: bool) -> int:
    if report.errors and not report.files:
        return 2
    faults = any(finding.severity != "note" for finding in report.findings)
    return int(bool(faults or report.errors) and not exit_zero)
