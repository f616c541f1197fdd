"""``shapedoc shapes``: a file with every inferred shape beside its line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from shapedoc.cli.options import said, settings, standard_input

__all__ = ["command"]


@click.command("shapes")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--unknown", is_flag=True, help="List where knowledge was lost, and why, instead.")
@click.option("--without", multiple=True, metavar="SOURCE", hidden=True, help="Do without a source of knowledge.")
def command(file: Path, unknown: bool, without: tuple[str, ...]) -> int:
    """Show FILE (- for standard input) with the shapes that its lines make."""
    from shapedoc.engine import look
    from shapedoc.report.colour import palette_for
    from shapedoc.report.shapes import shapes, unknowns

    with said():
        seen = look(file, standard_input([file], None), settings(screen=True, without=without))
    lines = unknowns(seen, str(file)) if unknown else shapes(seen, palette_for(sys.stdout.isatty(), os.environ))
    for line in lines:
        click.echo(line, color=True)
    return 0
