"""``shapedoc shapes``: a file with every inferred shape beside its line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from shapedoc.cli.options import said, settings, standard_input

__all__ = ["command"]


@click.command("shapes", short_help="Show a file with the shapes that its lines make.")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--unknown", is_flag=True, help="List where knowledge was lost, and why, instead.")
@click.option("--stdin-filename", metavar="NAME", help="The name of the file that comes through standard input.")
@click.option("--without", multiple=True, metavar="SOURCE", hidden=True, help="Do without a source of knowledge.")
def command(file: Path, unknown: bool, stdin_filename: str | None, without: tuple[str, ...]) -> int:
    """Show FILE (- for standard input) with the shapes that its lines make."""
    from shapedoc.engine import look, notebook_reader
    from shapedoc.report import Context
    from shapedoc.report.colour import palette_for
    from shapedoc.report.shapes import shapes, unknowns

    with said():
        stdin = standard_input([file], stdin_filename)
        name = Path(stdin.name) if stdin else file
        seen = look(name, stdin, settings(screen=True, without=without))
    palette = palette_for(sys.stdout.isatty(), os.environ)
    notebook_of = notebook_reader(stdin)
    context = Context(palette=palette, notebook_of=notebook_of)
    lines = unknowns(seen, str(name), context) if unknown else shapes(seen, palette, notebook_of(str(name)))
    for line in lines:
        click.echo(line, color=True)
    return 0
