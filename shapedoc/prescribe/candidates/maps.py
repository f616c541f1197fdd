"""A learned map between two sizes of a dot score."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.candidates.products import operands_of
from shapedoc.prescribe.places import unused

__all__: list[str] = []

_LAYOUTS = ("unsqueeze", "transpose", "t", "view", "reshape", "permute")


@proposes("SD109")
def mapped(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The state through a matrix or a linear map that is there and never used."""
    syntax = bench.syntax
    operands = operands_of(bench, finding)
    if operands is None:
        return
    names = unused(bench, finding.span)
    layers = _unused_layers(bench, finding)
    for node in operands:
        place = syntax.whole(node)
        if place is None:
            continue
        for name in names:
            for text in (f"{syntax.written(node)} @ {name}", f"{name} @ {syntax.written(node)}"):
                yield Candidate((syntax.replace(place, f"({text})"),), f"the general form: `{text}`")
        bare = _bare(bench, node)
        inner = syntax.whole(bare)
        for layer in layers if inner is not None else ():
            text = f"self.{layer}({syntax.plain(bare)})"
            if inner is not None:
                yield Candidate((syntax.replace(inner, text),), f"the general form: `{text}`")


def _bare(bench: Bench, node: cst.BaseExpression) -> cst.BaseExpression:
    """The tensor without the axes that were moved or put in behind it."""
    while isinstance(node, cst.Call) and bench.syntax.called(node) in _LAYOUTS:
        receiver = bench.syntax.receiver(node)
        if receiver is None:
            break
        node = receiver
    return node


def _unused_layers(bench: Bench, finding: Finding) -> list[str]:
    """The linear maps that the class around a finding builds and never calls."""
    klass = bench.syntax.klass(finding.span)
    if klass is None:
        return []
    text = bench.syntax.source(klass[0])
    built = []
    for _, node in bench.syntax.inside(klass[0]):
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call):
            target = node.targets[0].target
            if bench.syntax.called(node.value) == "Linear" and isinstance(target, cst.Attribute):
                built.append(target.attr.value)
    return [name for name in built if text.count(f"self.{name}") == 1]
