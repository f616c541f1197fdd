"""``shapedoc rules``: all rules."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("rules", short_help="List every rule.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="text or json.")
def command(output_format: str) -> int:
    """List every rule: code, name, severity, and what it catches."""
    import json

    from shapedoc.rules import all_rules

    rules = all_rules()
    if output_format == "json":
        listed = [
            {"code": rule.code, "name": rule.name, "severity": rule.severity, "summary": rule.summary} for rule in rules
        ]
        click.echo(json.dumps(listed, indent=2))
        return 0
    width = max((len(rule.name) for rule in rules), default=0)
    for rule in rules:
        click.echo(f"{rule.code}  {rule.name:<{width}}  {rule.severity:<7}  {rule.summary}")
    return 0
