"""A result that nobody takes, assigned to what the method is called of."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes

__all__: list[str] = []


@proposes("SD607")
def assigned(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``scores = scores.masked_fill(mask, value)``; ``x = self.dropout(x)``."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    if not isinstance(node, cst.Call):
        return
    target: cst.BaseExpression | None = syntax.receiver(node)
    made = f"{finding.tensor}." if finding.tensor else ""
    if target is None or not syntax.source(finding.span).startswith(made):
        target = node.args[0].value if node.args else None
    if isinstance(target, cst.Attribute) and target.attr.value == "data":
        target = target.value
    if not isinstance(target, cst.Name | cst.Attribute | cst.Subscript):
        return
    name = syntax.plain(target)
    text = syntax.source(finding.span)
    yield Candidate(
        (syntax.insert(finding.span.line, finding.span.column, f"{name} = "),), f"assign it: `{name} = {text}`"
    )
