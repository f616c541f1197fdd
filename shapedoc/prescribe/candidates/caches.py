"""A causal mask for queries that are the last of many keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls, is_numpy, names_in_scope

__all__: list[str] = []

_SIZES = re.compile(r"a causal mask \((\w+), (\w+)\) aligned with the first key")


@proposes("SD802")
def aligned_with_the_last(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The diagonal moved by the keys that stand before the first query."""
    found = _SIZES.search(finding.message)
    scope = names_in_scope(bench.syntax, finding.span)
    if found is None or found[1] not in scope or found[2] not in scope:
        return
    queries, keys = scope[found[1]], scope[found[2]]
    for call in calls(bench, finding, "tril", "triu"):
        if any(arg.keyword in ("diagonal", "k") for arg in bench.syntax.arguments(call)):
            continue
        word = "k" if is_numpy(bench, bench.touching(finding)) else "diagonal"
        more = "" if bench.syntax.called(call) == "tril" else " + 1"
        text = f"{word}={keys} - {queries}{more}"
        yield Candidate(bench.syntax.argument(call, text), f"align the mask with the last key: `{text}`")
        return
