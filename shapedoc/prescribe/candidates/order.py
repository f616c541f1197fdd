"""Statements in another order: the mask before the softmax, the attention before or after the cell."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls
from shapedoc.prescribe.syntax import Syntax

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


_CELLS = ("GRUCell.forward", "LSTMCell.forward", "RNNCell.forward", "GRU.forward", "LSTM.forward", "RNN.forward")


@proposes("SD302")
def cell_first(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Run the cell before whatever reads its state in the same step."""
    syntax = bench.syntax
    function = syntax.function(finding.span)
    if function is None:
        return
    lines = {event.span.line for event in bench.trace.events if event.short in _CELLS}
    block = [(Span(*place), node) for place, node in syntax.lowered.statements.items() if isinstance(node, cst.Assign)]
    block = sorted((one for one in block if function[0].contains(one[0])), key=lambda one: one[0].line)
    for index, (place, cell) in enumerate(block):
        if place.line not in lines:
            continue
        made = {name for target in cell.targets for name in _read(target.target)}
        above = [one for one in block[:index] if one[0].column == place.column]
        first = next((i for i, (_, node) in enumerate(above) if _read(node.value) & made), None)
        if first is None or not _neighbours(syntax, above[first][0], place):
            continue
        between = {name for _, node in above[first:] for target in node.targets for name in _read(target.target)}
        if between & (_read(cell.value) | made):
            continue
        yield Candidate(
            _moved(bench, place, above[first][0]), "run the cell first, and attend with the state that it returns"
        )


def _neighbours(syntax: Syntax, first: Span, last: Span) -> bool:
    """Whether nothing but plain statements of one block stands between two."""
    between = Span(first.line, first.column, last.end_line, last.end_column)
    inner = [node for place, node in syntax.inside(between) if isinstance(node, cst.BaseCompoundStatement)]
    lines = syntax.source(between).splitlines()[1:]
    return not inner and all(not line.strip() or line.startswith(" " * first.column) for line in lines)


def _moved(bench: Bench, place: Span, above: Span) -> tuple[Edit, ...]:
    """A statement taken from its line and written on a line of its own above another one."""
    syntax = bench.syntax
    text = syntax.source(place)
    indent = syntax.source(Span(above.line, 0, above.line, above.column))
    return (
        Edit(Span(above.line, 0, above.line, 0), f"{indent}{text}\n"),
        Edit(Span(place.line, 0, place.end_line + 1, 0), ""),
    )


@proposes("SD301")
def attention_first(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The attention before the cell, where the two statements are neighbours."""
    syntax = bench.syntax
    places = [s for s in (syntax.statement(span) for span in _spans(finding)) if s is not None]
    for one in places:
        for other in places:
            first, second = one[0], other[0]
            if first.end_line < second.line and first.column == second.column and _independent(one[1], other[1]):
                texts = syntax.source(first), syntax.source(second)
                yield Candidate(
                    (syntax.replace(first, texts[1]), syntax.replace(second, texts[0])),
                    "exchange the two steps: attend first",
                )


def _independent(first: cst.CSTNode, second: cst.CSTNode) -> bool:
    """Whether the second statement reads nothing that only the first one makes."""
    if not isinstance(first, cst.Assign) or not isinstance(second, cst.Assign):
        return False
    made = {name for target in first.targets for name in _read(target.target)}
    context = {name for target in second.targets for name in _read(target.target)}
    if not context & _read(first.value):
        return False  # the context must enter the cell of the same step
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
