"""Programs on which the laws are tried: right ones and broken ones, from the fixtures and the rules' own examples."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from textwrap import dedent

from shapedoc.core.finding import Finding
from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from shapedoc.rules import all_rules

__all__ = ["broken", "faults", "right"]

_FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@cache
def right() -> tuple[str, ...]:
    """Programs in which nothing is found."""
    files = [path.read_text(encoding="utf-8") for path in sorted((_FIXTURES / "correct").rglob("*.py"))]
    examples = [dedent(example.code) for rule in all_rules() for example in rule.good]
    return tuple(text for text in (*examples, *files) if text.strip())


@cache
def broken() -> tuple[str, ...]:
    """Programs in which something is wrong, and which parse."""
    paths = [path for path in sorted((_FIXTURES / "broken").glob("sd*.py")) if not path.name.startswith("sd9")]
    files = [path.read_text(encoding="utf-8") for path in paths]
    examples = [dedent(example.code) for rule in all_rules() for example in rule.bad if rule.code < "SD9"]
    return (*examples, *files)


def faults(text: str) -> list[Finding]:
    """What is found in a text, notes apart."""
    analysis = analyse("model.py", text, Settings())
    assert analysis.error is None, analysis.error
    return [finding for finding in analysis.findings if finding.severity != "note"]
