"""Positions along time: the length of the sequence, not the size of the batch."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import expressions, names_in_scope, spots

__all__: list[str] = []


@proposes("SD207")
def along_time(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``size(1)`` for ``size(0)``, and the table brought to ``(1, T, d)``."""
    syntax = bench.syntax
    for span in spots(bench, finding):
        for node in expressions(bench, span):
            place = syntax.span(node)
            if isinstance(node, cst.Call) and syntax.called(node) == "size" and len(node.args) == 1:
                number = syntax.span(node.args[0].value)
                if number is not None and syntax.source(number) == "0":
                    for edits in _brought(bench, finding):
                        yield Candidate(
                            (syntax.replace(number, "1"), *edits),
                            "cut the table to the length of time: `size(1)`",
                            exact=True,
                        )
            elif isinstance(node, cst.Subscript) and place is not None and syntax.plain(node.value).endswith(".shape"):
                index = place
                text = syntax.source(index)
                if text.endswith("[0]"):
                    for edits in _brought(bench, finding):
                        yield Candidate(
                            (syntax.replace(index, text[:-3] + "[1]"), *edits), "cut the table to the length of time"
                        )


@proposes("SD207")
def counted_to_length(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``arange`` up to the length of time, where it counts the batch."""
    syntax = bench.syntax
    wanted = [axis.strip() for axis in finding.expected.strip("()").split(",")]
    scope = names_in_scope(syntax, finding.span)
    if len(wanted) < 2 or wanted[1] not in scope:
        return
    for _, node in syntax.inside(finding.span):
        if isinstance(node, cst.Call) and syntax.called(node) == "arange" and len(node.args) >= 1:
            place = syntax.span(node.args[0].value)
            if place is None:
                continue
            text = scope[wanted[1]]
            for edits in _brought(bench, finding):
                yield Candidate(
                    (syntax.replace(place, text), *edits), f"count up to the length of time: `{text}`", exact=True
                )


def _brought(bench: Bench, finding: Finding) -> Iterator[tuple[Edit, ...]]:
    """As it is, with its first two axes exchanged, or without an ``unsqueeze`` behind it."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    yield ()
    if isinstance(node, cst.BaseExpression):
        yield syntax.postfix(node, ".transpose(0, 1)")
        for _, outer in syntax.around(finding.span):
            receiver = syntax.receiver(outer) if isinstance(outer, cst.Call) else None
            if not isinstance(outer, cst.Call) or syntax.called(outer) != "unsqueeze" or receiver is None:
                continue
            whole, base = syntax.span(outer), syntax.whole(receiver)
            if whole is not None and base is not None:
                yield (Edit(Span(base.end_line, base.end_column, whole.end_line, whole.end_column), ""),)
