"""Operands of a product: one transposed, one not transposed, or the two the other way round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import expressions, is_numpy, is_square, rank_of

__all__ = ["operands_of"]

_PRODUCTS = ("matmul", "bmm", "mm", "mv", "dot", "linear")
_TURNS = ("t", "transpose", "swapaxes", "permute", "mT")


_ASIDE = 30


@proposes("SD101", "SD109")
def turned(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The last two axes of one operand exchanged, or left as they are."""
    yield from (_priced(finding, candidate) for candidate in _turned(bench, finding))


def _priced(finding: Finding, candidate: Candidate) -> Candidate:
    """A candidate that leaves the fault and mends the product that shows it comes last."""
    aside = any(not finding.span.covers(edit.span.line) for edit in candidate.edits)
    return replace(candidate, aside=_ASIDE) if aside else candidate


def _turned(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    operands = operands_of(bench, finding)
    if operands is None:
        return
    numpy = is_numpy(bench, bench.touching(finding))
    for node in operands:
        yield from _straight(bench, node)
        rank = rank_of(bench.trace.events, bench.syntax.span(node))
        if rank is None or rank < 2 or is_square(bench.trace.events, bench.syntax.span(node)):
            continue
        turn = ".T" if rank == 2 else ".swapaxes(-2, -1)" if numpy else ".transpose(-2, -1)"
        yield Candidate(
            bench.syntax.postfix(node, turn), f"exchange the last two axes: `{bench.syntax.written(node)}{turn}`"
        )


def _straight(bench: Bench, node: cst.BaseExpression) -> Iterator[Candidate]:
    """The operand without the transposition that is written."""
    syntax = bench.syntax
    place = syntax.span(node)
    base: cst.BaseExpression | None = None
    if isinstance(node, cst.Attribute) and node.attr.value in ("T", "mT"):
        base = node.value
    elif isinstance(node, cst.Call) and syntax.called(node) in _TURNS:
        base = syntax.receiver(node)
    if base is not None and place is not None:
        yield Candidate(
            (syntax.replace(place, syntax.source(syntax.whole(base) or place)),),
            f"leave `{syntax.plain(base)}` as it is",
        )


@proposes("SD101")
def exchanged(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The operands the other way round: rows of examples stand on the left."""
    operands = operands_of(bench, finding)
    if operands is None:
        return
    syntax = bench.syntax
    left, right = operands
    places = syntax.whole(left), syntax.whole(right)
    if places[0] is None or places[1] is None:
        return
    square = is_square(bench.trace.events, syntax.span(left))
    for turn in (".T",) if square else (".T", ""):
        one: tuple[Edit, ...] = (
            syntax.replace(places[0], syntax.source(places[1])),
            syntax.replace(places[1], syntax.written(left) + turn),
        )
        yield _priced(
            finding,
            Candidate(one, f"multiply the other way round: `{syntax.plain(right)} @ {syntax.written(left)}{turn}`"),
        )


def operands_of(bench: Bench, finding: Finding) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The two operands of the product that a finding stands on, or that it shows."""
    places = [finding.span, *(label.span for label in finding.labels if not label.span.path)]
    return next((found for place in places if (found := _product(bench, place)) is not None), None)


def _product(bench: Bench, place: Span) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The operands of the product at a place, or around it in its statement."""
    syntax = bench.syntax
    for node in expressions(bench, place):
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
            return node.left, node.right
        if isinstance(node, cst.Call) and syntax.called(node) in _PRODUCTS:
            values = [arg.value for arg in node.args if arg.keyword is None]
            receiver = syntax.receiver(node)
            if receiver is not None and syntax.plain(receiver).split(".")[-1] not in ("torch", "np", "numpy", "F"):
                values = [receiver, *values]
            if len(values) >= 2:
                return values[0], values[1]
    return None
