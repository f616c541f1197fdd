"""What the finding's own step says, where it is code: put in the place of what it stands on."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import names_in_scope, spots

__all__: list[str] = []

# Findings that may stand on a call, while what they tell is to be written inside of it.
_ELSEWHERE = ("SD105", "SD107")
_LIBRARIES = ("torch", "F", "nn", "np", "math", "float", "len", "int", "self", "True", "False", "None")


@proposes(
    "SD101", "SD102", "SD104", "SD105", "SD106", "SD108", "SD112", "SD201", "SD202", "SD205", "SD502", "SD602",
    "SD606", "SD802", "SD111", "SD107", "SD305"
)  # fmt: skip
def as_told(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The expression that the finding's help spells out."""
    for span in dict.fromkeys(spots(bench, finding, labels=finding.code in _ELSEWHERE)):
        yield from _at(bench, finding, span)


def _at(bench: Bench, finding: Finding, span: Span) -> Iterator[Candidate]:
    """The step taken at one of the places of a finding."""
    syntax = bench.syntax
    scope = names_in_scope(syntax, span)
    for text in (finding.help, *re.findall(r"`([^`]+)`", finding.help), *re.split(r", or |: ", finding.help)):
        keyword = re.match(r"(\w+)=(?!=)", text)
        if (keyword is not None and span != finding.span) or (keyword is None and finding.code == "SD802"):
            continue  # an argument is written where the finding stands; where a cache begins is not known
        code = text[keyword.end() :] if keyword else text
        tree = _parsed(code)
        if tree is None or "..." in code or isinstance(tree, cst.Name | cst.Integer | cst.UnaryOperation):
            continue
        if any(scope.get(name) != name and name not in _LIBRARIES for name in _names(tree)):
            continue
        for _, node in (*syntax.inside(span), *syntax.around(span)):
            place = syntax.span(node)
            if not isinstance(node, cst.BaseExpression) or place is None:
                continue
            exact = syntax.source(place) == finding.tensor or (
                place == finding.span == span and not isinstance(node, cst.BinaryOperation)
            )
            product = (
                isinstance(node, cst.BinaryOperation)
                and isinstance(tree, cst.BinaryOperation)
                and type(node.operator) is type(tree.operator)
            )
            if (exact and not isinstance(tree, cst.BinaryOperation)) or (product and place.contains(span)):
                yield Candidate((syntax.replace(place, code),), f"write `{code}`", known=1)


def _parsed(text: str) -> cst.BaseExpression | None:
    try:
        return cst.parse_expression(text)
    except (cst.ParserSyntaxError, ValueError):
        return None


def _names(tree: cst.CSTNode) -> Iterator[str]:
    """The names that an expression reads; attributes and keywords are none."""
    if isinstance(tree, cst.Name):
        yield tree.value
    elif isinstance(tree, cst.Attribute | cst.Arg):
        yield from _names(tree.value)
    else:
        for child in tree.children:
            yield from _names(child)
