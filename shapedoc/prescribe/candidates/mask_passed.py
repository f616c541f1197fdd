"""A mask that is there and reaches nothing."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.value import Tensor
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.rules.masks import masks

__all__: list[str] = []


@proposes("SD503")
def passed(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Pass it to the attention that takes one, where its true elements are those to be hidden."""
    syntax = bench.syntax
    name = finding.tensor
    if not name.isidentifier() or _hides(bench, name) is not True:
        return
    places = (finding.span, *(label.span for label in finding.labels if not label.span.path))
    for place in places:
        for span, node in (*syntax.inside(place), *syntax.around(place)):
            if not isinstance(node, cst.Call) or span.line != place.line:
                continue
            receiver = syntax.receiver(node)
            if receiver is None or syntax.plain(receiver) not in ("self", "F"):
                continue
            if any(arg.keyword and "mask" in arg.keyword.value for arg in node.args):
                continue
            for word in ("key_padding_mask", "attn_mask"):
                yield Candidate(syntax.argument(node, f"{word}={name}"), f"pass it: `{word}={name}`")


def _hides(bench: Bench, name: str) -> bool | None:
    """Whether a mask's true elements are hidden; None where that is not known."""
    known = {
        meaning.sign == "drop"
        for event in bench.trace.events
        for value in (event.result, *(o.value for o in event.operands))
        if isinstance(value, Tensor) and value.name == name and (meaning := masks(bench.trace).of(value)) is not None
    }
    return known.pop() if len(known) == 1 else None
