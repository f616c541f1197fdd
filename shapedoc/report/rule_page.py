"""A rule as a page: what the terminal explains and the documentation shows."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.rules import Example, Rule

__all__ = ["rule_page"]


def rule_page(rule: Rule) -> str:
    """Return the page of a rule, in Markdown."""
    return "\n".join(_page(rule)) + "\n"


def _page(rule: Rule) -> Iterator[str]:
    yield from (f"# {rule.code}: {rule.name}", "", rule.summary, "")
    yield from (f"Severity: {rule.severity}. {_KINDS[rule.kind]}", "")
    yield from ("## What it does", "", rule.what.strip(), "")
    yield from ("## Why is this bad?", "", rule.why.strip(), "")
    for title, examples in (("Example", rule.bad[:1]), ("Use instead", rule.good[:1])):
        yield from (f"## {title}", "")
        if title == "Use instead":
            yield from (rule.instead.strip(), "")
        for example in examples:
            yield from _example(example)
    yield from ("## Fix safety", "", rule.fix.strip(), "")
    yield from ("## Source", "", rule.source.strip())


_KINDS = {
    "loud": "Such code raises an error when it runs.",
    "silent": "Such code runs, and computes something else.",
    "both": "Such code may raise an error, or run and compute something else.",
}


def _example(example: Example) -> Iterator[str]:
    yield from ("```python", example.code.strip(), "```", "")
    if example.raises:
        yield from (f"This ends in a `{example.raises}`.", "")
