"""What is stated of a shape, written as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes

__all__: list[str] = []


@proposes("SD701")
def stated_as_it_is(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The same names in the order that the code gives them."""
    actual, stated = _axes(finding.actual), _axes(finding.expected)
    if not actual or actual == stated or sorted(actual) != sorted(stated):
        return
    text = bench.syntax.source(finding.span)
    for joint in (r"\s*,\s*", r"\s+"):
        pattern = joint.join(re.escape(axis) for axis in stated)
        found = re.search(pattern, text)
        if found is not None:
            new = ", ".join(actual) if "," in found[0] else " ".join(actual)
            written = text[: found.start()] + new + text[found.end() :]
            yield Candidate((bench.syntax.replace(finding.span, written),), f"state it as it is: `{new}`")
            return


def _axes(shape: str) -> list[str]:
    if not shape.startswith("(") or not shape.endswith(")"):
        return []
    return [axis.strip() for axis in shape[1:-1].split(",") if axis.strip()]


@proposes("SD702")
def closed(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The bracket that is missing at the end."""
    text = bench.syntax.source(finding.span)
    if text.count("(") == text.count(")") + 1:
        yield Candidate((bench.syntax.replace(finding.span, f"{text.rstrip()})"),), "close the bracket")
