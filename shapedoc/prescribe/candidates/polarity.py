"""What a mask's true elements mean: turned round, or filled in where it was added."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Operand
from shapedoc.core.value import Tensor
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import is_bool, is_numpy
from shapedoc.rules.reading.masks import masks

__all__: list[str] = []

_OPPOSITE = {cst.Equal: "!=", cst.NotEqual: "=="}


@proposes("SD501")
def turned_round(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The mask's negation, written where the mask is used or where it is made."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    if node is None or not isinstance(node, cst.BaseExpression):
        return
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        yield from _compared(bench, node)
        return
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.BitInvert):
        yield Candidate((syntax.replace(finding.span, syntax.plain(node.expression)),), "leave out the `~`")
        return
    text = syntax.written(node)
    if is_bool(bench, finding.span):
        yield Candidate(
            (syntax.replace(syntax.whole(node) or finding.span, f"~{text}"),), f"turn the mask round: `~{text}`"
        )
    else:
        yield Candidate((syntax.replace(finding.span, f"{text} == 0"),), f"turn the mask round: `{text} == 0`")


def _compared(bench: Bench, node: cst.Comparison) -> Iterator[Candidate]:
    syntax = bench.syntax
    target = node.comparisons[0]
    right, left = syntax.whole(target.comparator), syntax.whole(node.left)
    if right is None or left is None:
        return
    number = syntax.plain(target.comparator)
    between = Span(left.end_line, left.end_column, right.line, right.column)
    if isinstance(target.operator, cst.Equal) and number in ("0", "1"):
        flipped = "0" if number == "1" else "1"
        yield Candidate((syntax.replace(right, flipped),), f"fill where the mask is {flipped}")
    elif type(target.operator) in _OPPOSITE:
        old = syntax.source(between)
        word = _OPPOSITE[type(target.operator)]
        yield Candidate(
            (syntax.replace(between, old.replace(old.strip(), word)),), f"turn the comparison round: `{word}`"
        )
    else:
        place = syntax.span(node)
        if place is not None:
            yield Candidate((syntax.replace(place, f"~({syntax.source(place)})"),), "turn the mask round")


@proposes("SD505")
def filled(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Fill the scores where the mask drops, in the place of a sum."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Add):
        return
    for event in bench.events(finding.span):
        for operand in event.operands:
            sign = _sign(bench, operand)
            if sign is None or operand.span is None:
                continue
            mask, scores = (
                (node.right, node.left) if operand.span == syntax.span(node.right) else (node.left, node.right)
            )
            if operand.span != syntax.span(mask):
                continue
            boolean = isinstance(operand.value, Tensor) and operand.value.kind == "bool"
            text = syntax.written(mask)
            drop = (
                (f"~{text}" if boolean else f"{text} == 0") if sign == "keep" else (text if boolean else f"{text} != 0")
            )
            if is_numpy(bench, [event]):
                new = f"np.where({drop}, -np.inf, {syntax.plain(scores)})"
            else:
                new = f'{syntax.written(scores)}.masked_fill({drop}, float("-inf"))'
            yield Candidate(
                (syntax.replace(finding.span, new),), f"fill the scores where nothing is to be seen: `{new}`"
            )
            return


def _sign(bench: Bench, operand: Operand) -> str | None:
    meaning = masks(bench.trace).of(operand.value)
    return meaning.sign if meaning is not None and not meaning.additive else None
