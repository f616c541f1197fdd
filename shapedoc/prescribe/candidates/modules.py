"""Modules built with another size than they are fed, or with time and batch the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls, names_in_scope

__all__: list[str] = []

_SIZE = re.compile(r"[A-Za-z_]\w*|\d+|//|[-+*()]| ")
_LAYERS = frozenset(
    ["GRU", "LSTM", "RNN", "MultiheadAttention", "Transformer", "TransformerEncoderLayer", "TransformerDecoderLayer"]
)


def spelled(size: str, scope: dict[str, str]) -> str:
    """A size of the analysis as an expression of the place where it is needed; "" where a name is not known there."""
    if not size or "".join(_SIZE.findall(size)) != size:
        return ""
    for name in re.findall(r"[A-Za-z_]\w*", size):
        if name not in scope:
            return ""
    text = re.sub(r"[A-Za-z_]\w*", lambda found: scope[found[0]], size)
    return re.sub(r"(?<=[\w)])(\*|//)(?=[\w(])", r" \1 ", text)


@proposes("SD106", "SD107")
def built_with(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The size that the module is fed, written where it is built."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    scope = names_in_scope(syntax, finding.span)
    told = re.findall(r"(?:=|`)([\w*+/() -]+?)(?:`|$|,)", finding.help)
    sizes = told + re.findall(r"(?:fed|got) `([^`]+)`", finding.message)
    for size in dict.fromkeys(size.partition("=")[2] or size for size in sizes):
        text = spelled(size, scope)
        if not text or not isinstance(node, cst.BaseExpression):
            continue
        if isinstance(node, cst.Call):
            gets = re.search(r"where it gets `([^`]+)`", finding.help)
            wrong = spelled(gets[1], scope) if gets is not None else ""
            for arg in node.args:
                place = syntax.whole(arg.value)
                if place is not None and wrong and syntax.source(place) == wrong:
                    yield Candidate((syntax.replace(place, text),), f"build it with `{text}`")
        elif not _last_use(bench, node):
            yield Candidate((syntax.replace(syntax.whole(node) or finding.span, text),), f"build it with `{text}`")


def _last_use(bench: Bench, node: cst.BaseExpression) -> bool:
    """Whether a parameter of the constructor would be used no more: then it is the input that is at fault."""
    syntax, place = bench.syntax, bench.syntax.span(node)
    found = syntax.function(place) if place is not None else None
    if not isinstance(node, cst.Name) or found is None:
        return False
    names = [n.value for _, n in syntax.inside(found[0]) if isinstance(n, cst.Name)]
    return names.count(node.value) == 1


@proposes("SD106", "SD107")
def assigned(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Where the size is a variable of its own, the variable without the part that does not fit."""
    syntax = bench.syntax
    statement = syntax.statement(finding.span)
    if statement is None or not isinstance(statement[1], cst.Assign):
        return
    value = statement[1].value
    if isinstance(value, cst.IfExp):
        yield from _conditional(bench, value)


def _conditional(bench: Bench, node: cst.IfExp) -> Iterator[Candidate]:
    """``n * 2 if both else 1`` is ``(n * 2) if both else 1``; ``n * (2 if both else 1)`` is meant."""
    syntax = bench.syntax
    place = syntax.span(node)
    body = node.body
    if isinstance(body, cst.BinaryOperation) and isinstance(body.operator, cst.Multiply) and place is not None:
        text = (
            f"{syntax.written(body.left)} * ({syntax.plain(body.right)} if {syntax.plain(node.test)} "
            f"else {syntax.plain(node.orelse)})"
        )
        yield Candidate((syntax.replace(place, text),), f"bind the condition first: `{text}`", known=1)


@proposes("SD107", "SD106")
def precedence(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The same where the argument is a name: its assignment is mended."""
    syntax = bench.syntax
    names = {node.value for _, node in syntax.inside(finding.span) if isinstance(node, cst.Name)}
    for place, node in syntax.lowered.statements.items():
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.IfExp):
            targets = {t.target.value for t in node.targets if isinstance(t.target, cst.Name)}
            if targets & names and Span(*place).line < finding.span.line:
                yield from _conditional(bench, node.value)


@proposes("SD602", "SD106", "SD105")
def batch_first(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``batch_first`` as the tensors that the module is fed need it."""
    syntax = bench.syntax
    for call in calls(bench, finding, *_LAYERS, labels=True):
        for index, arg in enumerate(syntax.arguments(call)):
            if arg.keyword == "batch_first":
                yield Candidate(syntax.without_argument(call, index), "build it without `batch_first`")
                break
        else:
            yield Candidate(syntax.argument(call, "batch_first=True"), "build it with `batch_first=True`")


@proposes("SD103")
def whole_division(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """A size is a whole number: ``//``."""
    if "float" not in finding.message:
        return
    syntax = bench.syntax
    for _, node in (*syntax.inside(finding.span), *syntax.around(finding.span)):
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
            left, right = syntax.whole(node.left), syntax.whole(node.right)
            if left is None or right is None:
                continue
            between = Span(left.end_line, left.end_column, right.line, right.column)
            text = syntax.source(between).replace("/", "//")
            yield Candidate((syntax.replace(between, text),), "divide with `//`")
            return
        if isinstance(node, cst.BaseCompoundStatement):
            return
