"""``keepdim=True`` where a reduction is combined with what it reduced."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls, is_numpy

__all__: list[str] = []

_REDUCTIONS = ("sum", "mean", "std", "var", "max", "amax", "min", "amin", "logsumexp", "norm", "prod")


@proposes("SD204")
def kept(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Keep the axis that is reduced, as an axis of size 1."""
    for call in calls(bench, finding, *_REDUCTIONS):
        if any(arg.keyword in ("keepdim", "keepdims") for arg in bench.syntax.arguments(call)):
            continue
        word = "keepdims=True" if is_numpy(bench, bench.touching(finding)) else "keepdim=True"
        yield Candidate(bench.syntax.argument(call, word), f"keep the axis: `{word}`")
        return
