"""Rotary angles: along time, and one for both features of a pair."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes

__all__: list[str] = []


@proposes("SD801")
def along_heads(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """An axis of size 1 where the heads are, in cosine and sine alike."""
    syntax = bench.syntax
    found = re.search(r"`\w+(\.unsqueeze\(-?\d\))`", finding.help)
    if found is None or "put an axis of size 1" not in finding.help:
        return
    edits: list[Edit] = []
    for one in _family(bench, finding):
        node = syntax.at(one.span)
        if isinstance(node, cst.BaseExpression):
            edits += syntax.postfix(node, found[1])
    yield Candidate(tuple(edits), f"put an axis of size 1 where the heads are: `{found[1][1:]}`")


@proposes("SD801")
def for_both_features(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The angles twice, side by side, before cosine and sine are taken."""
    syntax = bench.syntax
    if "give both features of a pair their angle" not in finding.help:
        return
    edits: list[Edit] = []
    names: set[str] = set()
    for one in _family(bench, finding):
        node = syntax.at(one.span)
        base = syntax.receiver(node) if isinstance(node, cst.Call) and not node.args else None
        place = syntax.whole(base) if base is not None else None
        if not isinstance(base, cst.Name) or place is None:
            return
        names.add(base.value)
        edits.append(syntax.replace(place, f"torch.cat(({base.value}, {base.value}), dim=-1)"))
    if len(names) == 1:
        name = names.pop()
        yield Candidate(
            tuple(edits), f"give both features of a pair their angle: `torch.cat(({name}, {name}), dim=-1)`"
        )


def _family(bench: Bench, finding: Finding) -> list[Finding]:
    """The findings of cosine and sine: of the same rule, one fault."""
    return [f for f in bench.findings if f.code == finding.code and f.function == finding.function and not f.span.path]
