"""``lint --add-ignores``: silence by a comment what is found today."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from shapedoc.engine import Request

__all__ = ["ignored"]


def ignored(request: Request) -> int:
    """Write the comments, print each, and return 1 where something could not be silenced, else 0."""
    from shapedoc.engine import RequestError, notebook_reader
    from shapedoc.engine.ignoring import add_ignores
    from shapedoc.report import Context
    from shapedoc.report.summary import count

    if request.stdin is not None:
        raise RequestError("`--add-ignores` changes files, and standard input is none")
    done = add_ignores(request)
    context = Context(notebook_of=notebook_reader(None))
    for added in done.added:
        place = str(context.place(added.path, added.span)).rpartition(":")[0]
        click.echo(f"{place}: ignore[{', '.join(added.codes)}]")
    for finding in done.left:
        click.echo(f"{context.place(finding.path, finding.span)}: left: {finding.code} {finding.name}", err=True)
    for error in done.errors:
        click.echo(f"shapedoc: {error.path}: {error.message}", err=True)
    files = len({added.path for added in done.added})
    written = f"wrote {count(len(done.added), 'comment')} in {count(files, 'file')}"
    click.echo(written if done.added else "wrote no comments")
    return int(bool(done.left or done.errors))
