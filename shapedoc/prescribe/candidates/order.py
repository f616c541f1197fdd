"""Statements in another order: the mask before the softmax, the attention before or after the cell."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.core.span import Span
from shapedoc.core.value import Tensor
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.candidates.modules import spelled
from shapedoc.prescribe.places import calls, is_bool, is_numpy, names_in_scope
from shapedoc.prescribe.syntax import Syntax
from shapedoc.rules.reading.flow import shape_at

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


@proposes("SD404")
def masked_not_multiplied(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The scores filled before the softmax, where the weights were multiplied with the mask behind it."""
    syntax = bench.syntax
    later = syntax.statement(finding.span)
    node = syntax.at(finding.span)
    if later is None or not isinstance(later[1], cst.Assign) or not isinstance(node, cst.BinaryOperation):
        return
    found = _softmax(bench, later[0])
    if found is None or later[1].value is not node or not isinstance(node.operator, cst.Multiply):
        return
    earlier, softmax = found
    scores, target = _scores(bench, softmax), _assigned(later[1].targets[0].target)
    if not isinstance(scores, cst.Name) or not target or target != _target(bench, earlier):
        return
    for weights, mask in ((node.left, node.right), (node.right, node.left)):
        if syntax.plain(weights) != target:
            continue
        text = syntax.written(mask)
        hidden = f"~{text}" if is_bool(bench, syntax.span(mask)) else f"{text} == 0"
        if is_numpy(bench, bench.touching(finding)):
            filled = f"{scores.value} = np.where({hidden}, -np.inf, {scores.value})"
        else:
            filled = f'{scores.value} = {scores.value}.masked_fill({hidden}, float("-inf"))'
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


@proposes("SD301")
def context_into_the_cell(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Attend first, and let the context enter the cell, which is built for it."""
    syntax = bench.syntax
    cells = [
        found
        for label in finding.labels
        if "without a context" in label.text and (found := syntax.statement(label.span)) is not None
    ]
    attention = syntax.statement(finding.span)
    if not cells or attention is None or not isinstance(attention[1], cst.Assign):
        return
    place, cell = cells[0]
    if not isinstance(cell, cst.Assign) or not isinstance(cell.value, cst.Call) or place.column != attention[0].column:
        return
    if place.end_line >= attention[0].line or not _neighbours(syntax, place, attention[0]):
        return
    made = {name for target in cell.targets for name in _read(target.target)}
    if (made & _read(attention[1].value)) - _read(cell.value) or not cell.value.args:
        return
    built = _built(bench, place, syntax.called(cell.value))
    where, fed = syntax.span(cell.value), syntax.whole(cell.value.args[0].value)
    if built is None or where is None or fed is None:
        return
    size = syntax.whole(built.args[0].value) if built.args else None
    for context in sorted({name for target in attention[1].targets for name in _read(target.target)}):
        width = _width(bench, context, syntax.span(built))
        if not width or size is None:
            continue
        start = syntax.offset(fed.line, fed.column) - syntax.offset(place.line, place.column)
        text, old = syntax.source(place), syntax.source(fed)
        joined = f"{text[:start]}torch.cat(({old}, {context}), dim=-1){text[start + len(old) :]}"
        yield Candidate(
            (
                syntax.insert(size.end_line, size.end_column, f" + {width}"),
                syntax.replace(place, syntax.source(attention[0])),
                syntax.replace(attention[0], joined),
            ),
            f"attend first, and feed the cell with the context: `torch.cat(({old}, {context}), dim=-1)`",
        )


def _built(bench: Bench, span: Span, name: str) -> cst.Call | None:
    """The call that builds the module of an attribute, in the class around a span."""
    klass = bench.syntax.klass(span)
    for _, node in bench.syntax.inside(klass[0]) if klass is not None else ():
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call):
            target = node.targets[0].target
            if isinstance(target, cst.Attribute) and target.attr.value == name:
                return node.value
    return None


def _width(bench: Bench, name: str, at: Span | None) -> str:
    """The size of a tensor's last axis, as it can be written at a place."""
    scope = names_in_scope(bench.syntax, at) if at is not None else {}
    scope = {word: word for word, text in scope.items() if text == word}
    for event in bench.trace.events:
        shapes = [shape_at(event, o) for o in event.operands if isinstance(o.value, Tensor) and o.value.name == name]
        shapes += [event.shape] if event.target == name else []
        for shape in shapes:
            if shape is None or event.sizes is None or not event.sizes.shape(shape).suffix:
                continue
            text = spelled(event.sizes.show(event.sizes.shape(shape).suffix[-1].dim), scope)
            if text and not text.isdigit():
                return text
    return ""


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
