"""The two states of an LSTM, ``(h, c)``, taken or passed the other way round."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes

__all__: list[str] = []


@proposes("SD306")
def exchanged_pairs(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Exchange two names wherever they stand side by side in the function: once, or at two places."""
    syntax = bench.syntax
    found = syntax.function(finding.span)
    if found is None or not ("swapped" in finding.message or "takes what" in finding.message):
        return
    swaps: list[tuple[Edit, ...]] = []
    for _, node in syntax.inside(found[0]):
        if isinstance(node, cst.Tuple) and len(node.elements) == 2:
            one, other = (element.value for element in node.elements)
            places = syntax.whole(one), syntax.whole(other)
            if isinstance(one, cst.Name) and isinstance(other, cst.Name) and places[0] and places[1]:
                swaps.append((syntax.replace(places[0], other.value), syntax.replace(places[1], one.value)))
    ways = [(swap,) for swap in swaps] + list(combinations(swaps, 2))
    for way in ways:
        here = all(finding.span.contains(edit.span) for swap in way for edit in swap)
        yield Candidate(
            tuple(edit for swap in way for edit in swap), "take the hidden state first: `(h, c)`", known=int(here)
        )
