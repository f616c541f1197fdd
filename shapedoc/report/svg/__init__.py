"""Pictures: the shape flow of a call, attention weights, accuracy against length. The one place that draws them."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Trace
from shapedoc.report.svg.canvas import Picture
from shapedoc.report.svg.curve import accuracy_curve
from shapedoc.report.svg.flow import shape_flow
from shapedoc.report.svg.heat import heat_map
from shapedoc.report.svg.words import ENGLISH, Words

__all__ = ["ENGLISH", "Picture", "Words", "accuracy_curve", "heat_map", "plot", "shape_flow"]


def plot(
    what: Trace | Sequence[Sequence[float]],
    *,
    findings: Sequence[Finding] | None = None,
    entry: str | None = None,
    queries: Sequence[str] = (),
    keys: Sequence[str] = (),
    padding: Sequence[bool] = (),
) -> Picture:
    """Draw a trace as its shape flow, the first wrong axis red, or weights (T_dec, T_enc) as a heat map.

    findings: what the rules say of the trace; they are asked where it is not given. entry: which entry of the trace.
    queries, keys, padding: what stands on the axes of a heat map. A notebook shows the picture; `save` writes it.

    Raises KeyError for an entry that the trace does not have, ValueError for labels that do not fit the weights.
    """
    if isinstance(what, Trace):
        if findings is None:
            from shapedoc.rules import all_rules

            findings = [finding for rule in all_rules() for finding in rule.check(what)]
        return shape_flow(what, findings, entry)
    rows = [[float(weight) for weight in row] for row in what]
    return heat_map(rows, queries=queries, keys=keys, padding=[bool(p) for p in padding])
