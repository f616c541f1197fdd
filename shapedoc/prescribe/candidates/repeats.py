"""``repeat`` for ``repeat_interleave`` and back; the order of a repeated axis in an einops pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls, rank_of

__all__: list[str] = []


@proposes("SD605")
def other_order(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The copies in the other order."""
    syntax = bench.syntax
    for call in calls(bench, finding, "repeat", "repeat_interleave"):
        receiver, place, name = syntax.receiver(call), syntax.span(call), syntax.called(call)
        if place is None:
            continue
        if receiver is None:
            yield from _pattern(bench, call)
            continue
        if syntax.plain(receiver) in ("torch", "np", "einops"):
            continue
        rank = rank_of(bench.trace.events, syntax.span(receiver))
        if name == "repeat":
            counts = [syntax.plain(arg.value) for arg in call.args]
            several = [(axis, count) for axis, count in enumerate(counts) if count != "1"]
            if len(several) == 1 and (rank is None or rank == len(counts)):
                axis, count = several[0]
                text = f"{syntax.written(receiver)}.repeat_interleave({count}, dim={axis})"
                yield Candidate((syntax.replace(place, text),), f"keep the copies of one element together: `{text}`")
        elif rank is not None:
            yield from _whole_copies(bench, call, receiver, rank)


def _whole_copies(bench: Bench, call: cst.Call, receiver: cst.BaseExpression, rank: int) -> Iterator[Candidate]:
    syntax = bench.syntax
    place = syntax.span(call)
    arguments = {arg.keyword or str(i): arg.value for i, arg in enumerate(syntax.arguments(call))}
    count, axis = arguments.get("0") or arguments.get("repeats"), arguments.get("dim") or arguments.get("1")
    if count is None or axis is None or place is None or not isinstance(axis, cst.Integer | cst.UnaryOperation):
        return
    counts = ["1"] * rank
    counts[int(syntax.plain(axis).replace(" ", ""))] = syntax.plain(count)
    text = f"{syntax.written(receiver)}.repeat({', '.join(counts)})"
    yield Candidate((syntax.replace(place, text),), f"keep whole copies together: `{text}`")


def _pattern(bench: Bench, call: cst.Call) -> Iterator[Candidate]:
    """``(h b)`` for ``(b h)`` on the right of an einops pattern."""
    syntax = bench.syntax
    for arg in call.args:
        place = syntax.span(arg.value)
        if isinstance(arg.value, cst.SimpleString) and place is not None:
            left, arrow, right = syntax.source(place).partition("->")
            turned = re.sub(r"\((\w+) (\w+)\)", r"(\2 \1)", right)
            if turned != right:
                yield Candidate(
                    (syntax.replace(place, left + arrow + turned),), "exchange the two names in parentheses"
                )
