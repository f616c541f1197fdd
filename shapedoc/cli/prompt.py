"""``shapedoc prompt``: a prompt for a language model, and an answer read back and judged."""

from __future__ import annotations

import json
from pathlib import Path

import click

from shapedoc.cli.diagnose import target
from shapedoc.cli.options import said

__all__ = ["command"]


@click.command("prompt", short_help="Print a prompt for a language model, or judge an answer.")
@click.argument("where", metavar="FILE[::NAME]")
@click.option(
    "--check", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="ANSWER", help="Judge it."
)
@click.option(
    "--symptom", default="", metavar="TEXT", help="What was seen: a traceback, or 'trains but learns nothing'."
)
@click.option("--max-chars", type=click.IntRange(min=0), default=0, metavar="N", help="The longest that it may be.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="text or json.")
@click.option("--no-run", is_flag=True, help="With --check: do not run the answer's test.")
def command(where: str, check: Path | None, symptom: str, max_chars: int, form: str, no_run: bool) -> int:
    """Print a prompt about FILE, or about the class or function NAME in it; with --check judge an answer to it.

    Nothing is sent anywhere. --check runs the answer's test in a process of its own; it exits with 1 unless every
    part holds.
    """
    from shapedoc.prescribe.answers import judge, read_answer
    from shapedoc.prescribe.diagnosis import NoSuchName
    from shapedoc.prescribe.prompting import NoRoom, render_prompt

    with said():
        bench, name = target(where)
    if check is None:
        try:
            text = render_prompt(bench, name, symptom=symptom, max_chars=max_chars)
        except (NoSuchName, NoRoom) as problem:
            raise click.UsageError(str(problem)) from None
        click.echo(json.dumps({"prompt": text, "characters": len(text)}, indent=2) if form == "json" else text)
        return 0
    judged = judge(bench, read_answer(check.read_text(encoding="utf-8")), execute=not no_run)
    if form == "json":
        click.echo(json.dumps([{"part": j.part, "holds": j.holds, "why": j.words} for j in judged], indent=2))
    else:
        for one in judged:
            mark = {True: "right", False: "wrong", None: "not tried"}[one.holds]
            click.echo(f"{one.part:<7} {mark:<10} {one.words}")
    return int(any(one.holds is not True for one in judged))
