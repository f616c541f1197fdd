"""The nonlinearity of an additive score."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import is_numpy

__all__: list[str] = []


@proposes("SD304")
def squashed(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``tanh`` around the sum, or around the map of the joined vectors."""
    syntax = bench.syntax
    library = "np" if is_numpy(bench, bench.touching(finding)) else "torch"
    for place, node in syntax.around(finding.span):
        if isinstance(node, cst.BaseSmallStatement):
            return
        if isinstance(node, cst.Call) and syntax.called(node) in ("cat", "concat", "concatenate", "hstack"):
            continue
        if isinstance(node, cst.BinaryOperation | cst.Call):
            text = f"{library}.tanh({syntax.source(place)})"
            yield Candidate((syntax.replace(place, text),), f"put `{library}.tanh` around it, before the projection")
