"""A causal mask for queries that are the last of many keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

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


_LENGTH = re.compile(r"\.size\(-?\d\)|\.shape\[-?\d\]")


@proposes("SD802")
def behind_the_cache(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Positions that begin where the cache ends, where its length has a name."""
    syntax = bench.syntax
    if "counted from 0" not in finding.message:
        return
    function = syntax.function(finding.span)
    cached = [label.span for label in finding.labels if "cache is joined" in label.text and not label.span.path]
    held = {word for span in cached for word in re.findall(r"[A-Za-z_]\w*", syntax.source(span))}
    for place, node in syntax.inside(function[0]) if function is not None else ():
        if not isinstance(node, cst.Assign) or place.end_line >= finding.span.line or len(node.targets) != 1:
            continue
        target, text = node.targets[0].target, syntax.plain(node.value)
        if not isinstance(target, cst.Name) or not _LENGTH.search(text) or "None" not in text:
            continue
        if not held & set(re.findall(r"[A-Za-z_]\w*", text)):
            continue
        for call in calls(bench, finding, "arange"):
            if len([arg for arg in call.args if arg.keyword is None]) == 1:
                count = syntax.whole(call.args[0].value)
                if count is not None:
                    past, length = target.value, syntax.source(count)
                    new = f"{past}, {past} + {length}"
                    yield Candidate((syntax.replace(count, new),), f"start at the length of the cache: `{new}`")
            return
