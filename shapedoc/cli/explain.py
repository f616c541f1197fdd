"""``shapedoc explain``: the page of one rule."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("explain", short_help="Say what a rule catches, and what to write instead.")
@click.argument("rule", metavar="CODE")
def command(rule: str) -> int:
    """Say what the rule CODE (or its name) catches, why it is wrong, and what to write instead."""
    from shapedoc.config import did_you_mean
    from shapedoc.report.rule_page import rule_page
    from shapedoc.rules import all_rules

    rules = all_rules()
    wanted = next((one for one in rules if rule.upper() == one.code or rule == one.name), None)
    if wanted is None:
        near = did_you_mean(rule.upper(), [one.code for one in rules]) or did_you_mean(rule, [r.name for r in rules])
        raise click.UsageError(f"there is no rule `{rule}`{near}")
    click.echo(rule_page(wanted), nl=False)
    return 0
