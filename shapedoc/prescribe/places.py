"""The places of a finding in the syntax: its calls, operators and names, and the names that are in scope there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.shape import Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.span import Span
from shapedoc.core.trace import Event
from shapedoc.core.value import Tensor
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.syntax import Syntax
from shapedoc.rules.reading.flow import shape_at

__all__ = [
    "calls",
    "expressions",
    "is_bool",
    "is_numpy",
    "is_square",
    "names_in_scope",
    "rank_of",
    "shapes_of",
    "spots",
    "unused",
]


def spots(bench: Bench, finding: Finding, *, labels: bool = False) -> Iterator[Span]:
    """The span of a finding and, if asked for, those of its labels in the same file."""
    yield finding.span
    if labels:
        yield from (label.span for label in finding.labels if not label.span.path)


def expressions(bench: Bench, span: Span) -> Iterator[cst.BaseExpression]:
    """The expressions at a span: what stands there, what lies in it, then what is around it in the same statement."""
    syntax = bench.syntax
    for _, node in syntax.inside(span):
        if isinstance(node, cst.BaseExpression):
            yield node
    for place, node in syntax.around(span):
        if isinstance(node, cst.BaseSmallStatement | cst.BaseCompoundStatement):
            return
        if isinstance(node, cst.BaseExpression) and place != span:
            yield node


def calls(bench: Bench, finding: Finding, *names: str, labels: bool = False) -> Iterator[cst.Call]:
    """The calls of these names (of any, where none is given) at a finding, the nearest first, each once."""
    seen: set[int] = set()
    for span in spots(bench, finding, labels=labels):
        for node in expressions(bench, span):
            if isinstance(node, cst.Call) and id(node) not in seen:
                seen.add(id(node))
                if not names or bench.syntax.called(node) in names:
                    yield node


def is_numpy(bench: Bench, events: list[Event]) -> bool:
    """Whether the tensors at a place are NumPy's."""
    for event in events:
        for value in (event.result, *(o.value for o in event.operands)):
            if isinstance(value, Tensor):
                return value.library == "numpy"
    return "torch" not in bench.text


def shapes_of(events: Iterable[Event], span: Span | None) -> Iterator[tuple[Event, Shape]]:
    """The shapes of the expression at a span, as a result and as an operand, where the rank is known."""
    for event in events if span is not None else ():
        for operand in event.operands:
            if operand.span == span and (shape := shape_at(event, operand)) is not None and shape.rank is not None:
                yield event, shape
        if event.span == span and event.shape is not None and event.sizes is not None:
            shape = event.sizes.shape(event.shape)
            if shape.rank is not None:
                yield event, shape


def rank_of(events: Iterable[Event], span: Span | None) -> int | None:
    """How many axes the expression at a span has: as a result, or as an operand."""
    return next((shape.rank for _, shape in shapes_of(events, span)), None)


def is_square(events: Iterable[Event], span: Span | None) -> bool:
    """Whether the last two axes of the expression at a span have one size, so that nothing tells them apart."""
    for event, shape in shapes_of(events, span):
        if len(shape.axes) >= 2 and event.sizes is not None:
            return event.sizes.compare(shape.axes[-1].dim, shape.axes[-2].dim).kind is Kind.ALWAYS
    return False


def names_in_scope(syntax: Syntax, span: Span) -> dict[str, str]:
    """How sizes and tensors can be written at a place: a bare name -> the expression that stands for it.

    Parameters and names assigned above in the function around it; attributes that the class around it sets.
    """
    found: dict[str, str] = {}
    klass = syntax.klass(span)
    if klass is not None:
        for _, node in syntax.inside(klass[0]):
            if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == "self":
                found.setdefault(node.attr.value, f"self.{node.attr.value}")
    function = syntax.function(span)
    if function is None:
        scope, until = Span(1, 0, span.line, span.column), span
        for place, node in syntax.inside(scope):
            if isinstance(node, cst.Assign) and (place.end_line, place.end_column) <= (until.line, until.column):
                found.update((name, name) for name in _targets(node))
        return found
    place, definition = function
    for param in (*definition.params.params, *definition.params.kwonly_params):
        found[param.name.value] = param.name.value
    for inner, node in syntax.inside(place):
        if inner.end_line < span.line or (inner.end_line, inner.end_column) <= (span.line, span.column):
            if isinstance(node, cst.Assign):
                found.update((name, name) for name in _targets(node))
            elif isinstance(node, cst.For):
                found.update((name, name) for name in _names(node.target))
    return found


def _targets(node: cst.Assign) -> Iterator[str]:
    for target in node.targets:
        yield from _names(target.target)


def _names(node: cst.BaseExpression) -> Iterator[str]:
    match node:
        case cst.Name(value=name):
            yield name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _names(element.value)


def unused(bench: Bench, span: Span) -> list[str]:
    """The parameters and variables of the function around a place that it never reads."""
    found = bench.syntax.function(span)
    if found is None:
        return []
    place, function = found
    names: Counter[str] = Counter()
    made: Counter[str] = Counter()
    for _, node in bench.syntax.inside(place):
        if isinstance(node, cst.Name):
            names[node.value] += 1
        elif isinstance(node, cst.Assign):
            made.update(_targets(node))
    never = [p.name.value for p in function.params.params if not names[p.name.value] and p.name.value != "self"]
    return never + [name for name in made if names[name] == made[name] and name != "_"]


def is_bool(bench: Bench, span: Span | None) -> bool:
    """Whether the elements of the expression at a span are truth values, as far as they are known."""
    kinds = {
        operand.value.kind
        for event in bench.trace.events
        for operand in event.operands
        if operand.span == span and isinstance(operand.value, Tensor)
    }
    kinds |= {e.result.kind for e in bench.trace.events if e.span == span and isinstance(e.result, Tensor)}
    return kinds <= {"bool", ""} and "bool" in kinds
