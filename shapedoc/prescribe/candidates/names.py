"""Another name in the place of one: the tensor that the finding names, where it is in scope."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import names_in_scope, spots, unused

__all__: list[str] = []

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?![\w(])")

_NEVER = re.compile(r"(?<![\w.])([A-Za-z_]\w*) is never used")
# Sizes that cannot meet say nothing of another tensor; only what is never used does.
_SIZES = ("SD102", "SD107", "SD201", "SD408")


@proposes("SD408", "SD503", "SD302", "SD306", "SD303", "SD201", "SD102", "SD107")
def another_name(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Every other tensor that the finding speaks of."""
    syntax = bench.syntax
    spoken = " ".join((finding.message, finding.help, finding.tensor, *(label.text for label in finding.labels)))
    words = list(dict.fromkeys(_WORD.findall(spoken)))
    if finding.code == "SD306" and "attention queries" not in finding.message:
        return
    for span in spots(bench, finding):
        scope = names_in_scope(syntax, span)
        known = [word for word in words if scope.get(word) == word and finding.code not in _SIZES]
        known += [word for word in _NEVER.findall(finding.message) if scope.get(word) == word]
        if finding.code == "SD408" and "values" in finding.message:
            known += [name for name in _parameters(bench, span) if name not in known]
        known += [name for name in unused(bench, span) if name not in known and scope.get(name) == name]
        for _, node in syntax.inside(span):
            place = syntax.span(node)
            if not isinstance(node, cst.Name) or place is None or node.value not in scope or node.value == "self":
                continue
            if bench.syntax.text[: syntax.offset(place.line, place.column)].endswith("."):
                continue
            for word in known:
                if word not in (node.value, "self"):
                    told = f"take `{word}` in the place of `{node.value}`"
                    likely = finding.code == "SD408" and _stands_for_values(bench, span, place, word)
                    yield Candidate((syntax.replace(place, word),), told, known=int(likely))


def _parameters(bench: Bench, span: Span) -> list[str]:
    """The parameters of the function around a place."""
    found = bench.syntax.function(span)
    return [p.name.value for p in found[1].params.params if p.name.value != "self"] if found is not None else []


def _stands_for_values(bench: Bench, span: Span, place: Span, word: str) -> bool:
    """Whether a name stands where a call takes the values: behind the queries, which it repeats, and the keys."""
    name = bench.syntax.source(place)
    before = [
        node.value
        for other, node in bench.syntax.inside(span)
        if isinstance(node, cst.Name) and (other.line, other.column) < (place.line, place.column)
    ]
    return name in before and word in before
