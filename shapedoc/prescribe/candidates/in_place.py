"""A new tensor in the place of one that is changed where it lies."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes

__all__: list[str] = []

_OPERATORS = {"mul_": "*", "add_": "+", "sub_": "-", "div_": "/"}
_AUGMENTED = {
    cst.MultiplyAssign: "*",
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.DivideAssign: "/",
}


@proposes("SD604")
def anew(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``x * y`` for ``x.mul_(y)``, ``x = x * y`` for ``x *= y``."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    if isinstance(node, cst.Call) and syntax.called(node) in _OPERATORS and len(node.args) == 1:
        receiver = syntax.receiver(node)
        if receiver is None:
            return
        sign = _OPERATORS[syntax.called(node)]
        text = f"{syntax.written(receiver)} {sign} {syntax.written(node.args[0].value)}"
        alone = syntax.statement(finding.span)
        if alone is not None and isinstance(alone[1], cst.Expr):
            name = syntax.plain(receiver)
            yield Candidate((syntax.replace(finding.span, f"{name} = {text}"),), f"make a new tensor: `{text}`")
            return
        inner = any(
            isinstance(outer, cst.Attribute | cst.BinaryOperation | cst.Subscript)
            for place, outer in syntax.around(finding.span)
            if place != finding.span and _same_statement(bench, place, finding.span)
        )
        new = f"({text})" if inner else text
        yield Candidate((syntax.replace(finding.span, new),), f"make a new tensor: `{text}`")
        return
    statement = syntax.statement(finding.span)
    if statement is not None and isinstance(statement[1], cst.AugAssign):
        assign = statement[1]
        sign = _AUGMENTED.get(type(assign.operator), "")
        target, value = syntax.whole(assign.target), syntax.whole(assign.value)
        if sign and target is not None and value is not None and isinstance(assign.target, cst.Name):
            name = assign.target.value
            between = Span(target.end_line, target.end_column, value.line, value.column)
            edits = [syntax.replace(between, f" = {name} {sign} ")]
            if isinstance(assign.value, cst.BinaryOperation) and value == syntax.span(assign.value):
                edits += [
                    syntax.insert(value.line, value.column, "("),
                    syntax.insert(value.end_line, value.end_column, ")"),
                ]
            yield Candidate(tuple(edits), f"make a new tensor: `{name} = {name} {sign} ...`")


def _same_statement(bench: Bench, place: Span, span: Span) -> bool:
    statement = bench.syntax.statement(span)
    return statement is not None and statement[0].contains(place) and statement[0] != place
