"""Another size in the place of one: in a view, and in the tuple of sizes that a tensor is built with."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls, names_in_scope

__all__: list[str] = []

_VIEWS = ("view", "reshape")
_MAKERS = ("randn", "rand", "zeros", "ones", "empty", "normal", "standard_normal", "uniform", "random", "full")


@proposes("SD103")
def another_size(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Another size that is in scope, in the place of each one that a view is given."""
    syntax = bench.syntax
    if "float" in finding.message:
        return
    scope = names_in_scope(syntax, finding.span)
    sizes = {text for name, text in scope.items() if name in _sizes(bench)}
    for call in calls(bench, finding, *_VIEWS):
        there = {syntax.plain(arg.value) for arg in call.args}
        for arg in call.args:
            place = syntax.whole(arg.value)
            if place is None or not isinstance(arg.value, cst.Name | cst.Attribute):
                continue
            for text in sorted(sizes - there):
                yield Candidate((syntax.replace(place, text),), f"view it with `{text}`")
        return


def _sizes(bench: Bench) -> set[str]:
    """The names that the analysis knows as sizes: symbols, and variables that hold a number of elements."""
    names: set[str] = set()
    for event in bench.trace.events:
        if event.shape is not None and event.sizes is not None:
            for axis in event.sizes.shape(event.shape).axes:
                names.update(re.findall(r"[A-Za-z_]\w*", event.sizes.show(axis.dim)))
    for node in bench.syntax.lowered.statements.values():
        value = node.value if isinstance(node, cst.Assign) else None
        divided = isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.FloorDivide)
        for target in node.targets if divided and isinstance(node, cst.Assign) else ():
            if isinstance(target.target, cst.Name):
                names.add(target.target.value)
            elif isinstance(target.target, cst.Attribute):
                names.add(target.target.attr.value)
    return names


@proposes("SD101", "SD102")
def built_turned(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The two sizes of a matrix the other way round, where it is built."""
    syntax = bench.syntax
    for call in calls(bench, finding, *_MAKERS):
        if syntax.span(call) != finding.span:
            continue
        sizes: list[cst.BaseExpression] = [arg.value for arg in call.args if arg.keyword is None]
        named = [arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value in ("size", "shape")]
        inner = next((node for node in (*named, *sizes) if isinstance(node, cst.Tuple)), None)
        if inner is not None:
            sizes = [element.value for element in inner.elements]
        if len(sizes) != 2:
            return
        one, other = syntax.whole(sizes[0]), syntax.whole(sizes[1])
        if one is not None and other is not None:
            turned = f"({syntax.source(other)}, {syntax.source(one)})"
            yield Candidate(
                (syntax.replace(one, syntax.source(other)), syntax.replace(other, syntax.source(one))),
                f"build it as `{turned}`",
            )
        return


@proposes("SD102")
def cut_to_length(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """A mask or table cut to the length of the sequence."""
    syntax = bench.syntax
    found = re.fullmatch(r"cut (.+) to the length of the sequence: `(\[.*\])`", finding.help)
    if found is None:
        return
    scope = names_in_scope(syntax, finding.span)
    if any(scope.get(name) != name for name in re.findall(r"[A-Za-z_]\w*", found[2])):
        return
    for _, node in syntax.inside(finding.span):
        if not isinstance(node, cst.BaseExpression) or syntax.plain(node) != found[1]:
            continue
        table = node.left if isinstance(node, cst.Comparison) else node
        yield Candidate(syntax.postfix(table, found[2]), f"cut it to the length of the sequence: `{found[2]}`")
        return
