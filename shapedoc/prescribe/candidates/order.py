"""Statements in another order: the mask before the softmax, the attention before or after the cell."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls

__all__: list[str] = []


@proposes("SD404")
def masked_first(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Fill the scores, then take the softmax of them."""
    syntax = bench.syntax
    later = syntax.statement(finding.span)
    for call in calls(bench, finding, "masked_fill", "where"):
        place = syntax.span(call)
        if later is None or place is None or len(call.args) != 2 or syntax.called(call) != "masked_fill":
            continue
        found = _softmax(bench, later[0])
        if found is None:
            continue
        earlier, softmax = found
        scores = _scores(bench, softmax)
        target = later[1].targets[0].target if isinstance(later[1], cst.Assign) else None
        if scores is None or target is None or not isinstance(scores, cst.Name):
            continue
        mask = syntax.plain(call.args[0].value)
        filled = f'{scores.value} = {scores.value}.masked_fill({mask}, float("-inf"))'
        if _assigned(target) != _target(bench, earlier):
            continue
        yield Candidate(
            (syntax.replace(earlier, filled), syntax.replace(later[0], syntax.source(earlier))),
            f"mask the scores, then take the softmax: `{filled}`",
        )


def _softmax(bench: Bench, later: Span) -> tuple[Span, cst.Call] | None:
    """The statement with a softmax that stands directly above."""
    syntax = bench.syntax
    lines = [Span(*s) for s, n in syntax.lowered.statements.items() if isinstance(n, cst.Assign)]
    above = [s for s in lines if s.end_line < later.line and s.column == later.column]
    if not above:
        return None
    place = max(above, key=lambda s: s.line)
    if syntax.text[syntax.offset(place.end_line, place.end_column) : syntax.offset(later.line, 0)].strip(
        " \n\r\t"
    ) not in ("",):
        between = syntax.text[syntax.offset(place.end_line, place.end_column) : syntax.offset(later.line, 0)]
        if any(line.strip() and not line.strip().startswith("#") for line in between.splitlines()):
            return None
    for _, node in syntax.inside(place):
        if isinstance(node, cst.Call) and syntax.called(node) == "softmax":
            return place, node
    return None


def _scores(bench: Bench, softmax: cst.Call) -> cst.BaseExpression | None:
    receiver = bench.syntax.receiver(softmax)
    if receiver is not None and bench.syntax.plain(receiver).split(".")[-1] not in ("F", "torch", "functional", "nn"):
        return receiver
    return softmax.args[0].value if softmax.args else None


def _assigned(target: cst.BaseExpression) -> str:
    return target.value if isinstance(target, cst.Name) else ""


def _target(bench: Bench, place: Span) -> str:
    node = bench.syntax.lowered.statements.get((place.line, place.column, place.end_line, place.end_column))
    return _assigned(node.targets[0].target) if isinstance(node, cst.Assign) else ""


@proposes("SD301", "SD302")
def moved_call(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The attention before the cell (additive) or after it (multiplicative)."""
    syntax = bench.syntax
    places = [s for s in (syntax.statement(span) for span in _spans(finding)) if s is not None]
    for one in places:
        for other in places:
            first, second = one[0], other[0]
            if first.end_line < second.line and first.column == second.column and _independent(one[1], other[1]):
                texts = syntax.source(first), syntax.source(second)
                yield Candidate(
                    (syntax.replace(first, texts[1]), syntax.replace(second, texts[0])),
                    "exchange the two steps: "
                    + ("attend first" if finding.code == "SD301" else "attend after the cell"),
                )


def _independent(first: cst.CSTNode, second: cst.CSTNode) -> bool:
    """Whether the second statement reads nothing that only the first one makes."""
    if not isinstance(first, cst.Assign) or not isinstance(second, cst.Assign):
        return False
    made = {name for target in first.targets for name in _read(target.target)}
    return not (made & _read(second.value)) - _read(first.value)


def _read(node: cst.CSTNode) -> set[str]:
    if isinstance(node, cst.Name):
        return {node.value}
    if isinstance(node, cst.Attribute):
        return _read(node.value)
    return {name for child in node.children for name in _read(child)}


def _spans(finding: Finding) -> Iterator[Span]:
    yield finding.span
    yield from (label.span for label in finding.labels if not label.span.path)
