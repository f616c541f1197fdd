"""Losses: where the classes stand, what the target is, and one softmax too many."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls, rank_of

__all__: list[str] = []


@proposes("SD108")
def classes_second(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The classes on axis 1, where cross-entropy takes them."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    rank = rank_of(bench.trace.events, finding.span)
    if isinstance(node, cst.BaseExpression) and rank is not None and rank >= 3:
        turn = f".transpose(1, {rank - 1})"
        yield Candidate(syntax.postfix(node, turn), f"bring the classes to axis 1: `{syntax.written(node)}{turn}`")


@proposes("SD406")
def one_softmax(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Leave out the softmax that the other one makes one too many."""
    syntax = bench.syntax
    for call in calls(bench, finding, "softmax", "Softmax"):
        place = syntax.span(call)
        receiver = syntax.receiver(call)
        if place is None:
            continue
        method = receiver is not None and syntax.plain(receiver).split(".")[-1] not in (
            "F",
            "torch",
            "functional",
            "nn",
        )
        tensor = receiver if method else call.args[0].value if call.args else None
        if tensor is None:
            continue
        text = syntax.source(syntax.whole(tensor) or place) if method else syntax.plain(tensor)
        yield Candidate((syntax.replace(place, text),), "leave out this softmax")
        return


@proposes("SD407")
def summed(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``sum`` for ``mean``."""
    syntax = bench.syntax
    for call in calls(bench, finding, "mean"):
        if not isinstance(call.func, cst.Attribute):
            continue
        whole = syntax.span(call.func)
        if whole is None:
            continue
        place = Span(whole.end_line, whole.end_column - len("mean"), whole.end_line, whole.end_column)
        yield Candidate((syntax.replace(place, "sum"),), "sum the weighted values: `sum`")
        return
