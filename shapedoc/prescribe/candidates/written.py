"""What is written down: targets of an unpacking, slices of a sequence, annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import expressions

__all__: list[str] = []


@proposes("SD105")
def one_name_more(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """A ``_`` for the axis that has no name, where the names that there are tell which one it is."""
    syntax = bench.syntax
    statement = syntax.statement(finding.span)
    shape = re.search(r"name all \d+ axes of \(([^()]*)\)", finding.help)
    if shape is None or statement is None or not isinstance(statement[1], cst.Assign):
        return
    target = statement[1].targets[0].target
    if not isinstance(target, cst.Tuple):
        return
    axes = [axis.strip() for axis in shape[1].split(",")]
    names = [syntax.plain(element.value) for element in target.elements]
    if len(axes) != len(names) + 1:
        return
    at = next((i for i, name in enumerate(names) if name != axes[i]), len(names))
    if names[at:] != axes[at + 1 :]:
        return
    place = syntax.span(target.elements[at].value) if at < len(names) else None
    if place is not None:
        yield Candidate((syntax.insert(place.line, place.column, "_, "),), f"name every axis: `_` for `{axes[at]}`")


@proposes("SD307")
def shifted(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``[:, :-1]`` goes in, ``[:, 1:]`` is to be predicted."""
    syntax = bench.syntax
    for node in expressions(bench, finding.span):
        if not isinstance(node, cst.Subscript):
            continue
        base, whole = syntax.whole(node.value), syntax.span(node)
        if base is None or whole is None:
            continue
        place = Span(base.end_line, base.end_column, whole.end_line, whole.end_column)
        text = syntax.source(place)
        for old, new in ((":-1", "1:"), ("1:", ":-1")):
            if re.sub(r"\s", "", text).endswith(f",{old}]"):
                changed = f"[:, {new}]"
                yield Candidate((syntax.replace(place, changed),), f"shift it by one: `{changed}`")
        found = re.fullmatch(r"\[:, :(\w+)\]", text)
        if found is not None:
            changed = f"[:, 1 : {found[1]} + 1]"
            yield Candidate((syntax.replace(place, changed),), f"shift it by one: `{changed}`")


@proposes("SD606")
def directions_joined(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The two directions of a state side by side, example by example."""
    if "joins states" not in finding.message:
        return
    syntax = bench.syntax
    node = syntax.at(finding.span)
    receiver = syntax.receiver(node) if isinstance(node, cst.Call) else None
    if not isinstance(receiver, cst.Name) or not finding.actual.startswith("(2,"):
        return
    text = f"torch.cat(({receiver.value}[-2], {receiver.value}[-1]), dim=-1)"
    yield Candidate((syntax.replace(finding.span, text),), f"join the two directions: `{text}`")


@proposes("SD702")
def blanks(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Axes of an annotation separated by blanks."""
    if "not by commas" in finding.message:
        text = bench.syntax.source(finding.span)
        yield Candidate(
            (bench.syntax.replace(finding.span, re.sub(r",\s*", " ", text)),), "separate the axes by blanks"
        )
