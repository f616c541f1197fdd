"""The scale of dot products: missing, of another size, inverted, or applied twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.candidates.modules import spelled
from shapedoc.prescribe.places import expressions, is_numpy, names_in_scope

__all__: list[str] = []

_PRODUCTS = ("matmul", "bmm", "dot", "einsum", "baddbmm")


@proposes("SD405")
def turned(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Divide where it multiplies, or the other way round."""
    if "multiplied" not in finding.message:
        return
    syntax = bench.syntax
    for node in expressions(bench, finding.span):
        if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply | cst.Divide):
            continue
        left, right = syntax.whole(node.left), syntax.whole(node.right)
        if left is None or right is None or syntax.span(node) != finding.span:
            continue
        between = Span(left.end_line, left.end_column, right.line, right.column)
        text = syntax.source(between)
        old, new = ("*", "/") if isinstance(node.operator, cst.Multiply) else ("/", "*")
        yield Candidate(
            (syntax.replace(between, text.replace(old, new)),),
            f"{'divide' if new == '/' else 'multiply'} instead: `{new}`",
        )
        return


@proposes("SD405")
def left_out(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Leave a scale out that the attention applies by itself."""
    if "again" not in finding.message:
        return
    syntax = bench.syntax
    node = syntax.at(finding.span)
    if isinstance(node, cst.BinaryOperation):
        yield Candidate((syntax.replace(finding.span, syntax.plain(node.left)),), "leave the scale out here")


@proposes("SD405")
def of_the_summed_size(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The root of the size that is summed in the place of another one."""
    found = re.fullmatch(r"1 / (?:math\.)?sqrt\((.+)\)", finding.expected)
    if found is None or "but the product sums over" not in finding.message:
        return
    syntax, scope = bench.syntax, names_in_scope(bench.syntax, finding.span)
    wanted = spelled(found[1], scope)
    if not wanted:
        return
    for _, node in syntax.inside(finding.span):
        place = syntax.span(node)
        if place is None or not isinstance(node, cst.Name | cst.Attribute):
            continue
        if isinstance(node, cst.Name) and node.value == "self":
            continue
        text = syntax.source(place)
        if syntax.text[: syntax.offset(place.line, place.column)].endswith("."):
            continue
        if (
            text.split(".")[-1] in scope
            and text != wanted
            and text in (scope[text.split(".")[-1]], text.split(".")[-1])
        ):
            yield Candidate((syntax.replace(place, wanted),), f"take the root of the size that is summed: `{wanted}`")


@proposes("SD405")
def put_in(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Divide the scores by the root of the size of the query's last axis."""
    if "are not scaled" not in finding.message:
        return
    syntax, events = bench.syntax, bench.touching(finding)
    size = "{}.shape[-1] ** 0.5" if is_numpy(bench, events) else "{}.size(-1) ** 0.5"
    node = syntax.at(finding.span)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
        query = _simple(bench, node.left)
    elif isinstance(node, cst.Call) and syntax.called(node) in _PRODUCTS:
        query = _query(bench, node)
    else:
        if isinstance(node, cst.Call):
            yield from _passed(bench, finding, node)
        return
    if query:
        whole = syntax.whole(node)
        if whole is not None:
            divisor = size.format(query)
            yield Candidate(
                (syntax.insert(whole.end_line, whole.end_column, f" / {divisor}"),),
                f"divide the scores by the root of the size that is summed: `/ {divisor}`",
            )


def _passed(bench: Bench, finding: Finding, call: cst.Call) -> Iterator[Candidate]:
    """Pass the scale where the function takes it as a parameter."""
    found = re.search(r"`(\w+)=1 / math\.sqrt\((\w+)\)`", finding.help)
    scope = names_in_scope(bench.syntax, finding.span)
    if found is None or found[2] not in scope:
        return
    text = f"{found[1]}={scope[found[2]]} ** -0.5"
    yield Candidate(bench.syntax.argument(call, text), f"pass the scale: `{text}`")


def _simple(bench: Bench, node: cst.BaseExpression) -> str:
    return bench.syntax.plain(node) if isinstance(node, cst.Name | cst.Attribute) else ""


def _query(bench: Bench, call: cst.Call) -> str:
    """The first operand of a product that is written as a call, where its summed axis is its last."""
    syntax = bench.syntax
    receiver = syntax.receiver(call)
    if syntax.called(call) == "einsum":
        arguments = [a.value for a in call.args]
        if len(arguments) != 3 or not isinstance(arguments[0], cst.SimpleString):
            return ""
        left, _, made = str(arguments[0].evaluated_value).replace(" ", "").partition("->")
        first = left.split(",")[0]
        return _simple(bench, arguments[1]) if first and first[-1] not in made else ""
    if receiver is not None and syntax.plain(receiver) not in ("torch", "np", "numpy"):
        return _simple(bench, receiver)
    return _simple(bench, call.args[0].value) if call.args else ""
