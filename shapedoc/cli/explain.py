"""``shapedoc explain``: the page of one rule, or why a finding of a file is one."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("explain", short_help="Say what a rule catches, or where the sizes of a finding came from.")
@click.argument("what", metavar="CODE|FILE[:LINE]")
def command(what: str) -> int:
    """Say what the rule CODE (or its name) catches, why it is wrong, and what to write instead.

    With a FILE, or a FILE:LINE, say of each finding there which lines its sizes came from.
    """
    from shapedoc.config import did_you_mean
    from shapedoc.report.rule_page import rule_page
    from shapedoc.rules import all_rules

    if ".py" in what or ".ipynb" in what:
        return _chains(what)
    rules = all_rules()
    wanted = next((one for one in rules if what.upper() == one.code or what == one.name), None)
    if wanted is None:
        near = did_you_mean(what.upper(), [one.code for one in rules]) or did_you_mean(what, [r.name for r in rules])
        raise click.UsageError(f"there is no rule `{what}`{near}")
    click.echo(rule_page(wanted), nl=False)
    return 0


def _chains(what: str) -> int:
    from shapedoc.cli.diagnose import target
    from shapedoc.cli.options import said
    from shapedoc.prescribe.chains import chain_of

    file, _, line = what.rpartition(":") if what.rpartition(":")[2].isdigit() else (what, "", "")
    with said():
        bench, _ = target(file)
    found = [one for one in bench.findings if not line or one.span.covers(int(line))]
    for finding in found:
        click.echo(f"{finding.code} {finding.name}, line {finding.span.line}: {finding.message}")
        for link in chain_of(bench, finding):
            shape = f"   {link.shape}" if link.shape else ""
            click.echo(f"  line {link.line:<5} {link.code}{shape}")
        for text in (finding.why, *finding.notes):
            click.echo(f"  {text}" if text else "", nl=bool(text))
        click.echo()
    if not found:
        lines = ", ".join(str(one.span.line) for one in bench.findings) or "none"
        click.echo(f"nothing is found there; lines with findings: {lines}")
    return 0
