"""The decoder's state: carried on, read after the cell, its directions taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import rank_of
from shapedoc.prescribe.syntax import Syntax

__all__: list[str] = []


# -- SD303: what the cell returns is given to the next step


@proposes("SD303")
def carried(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The names that the step was given, in the places where it returns their successors."""
    syntax = bench.syntax
    found = syntax.statement(finding.span)
    if found is None or not isinstance(found[1], cst.Assign) or len(found[1].targets) != 1:
        return
    target, call = found[1].targets[0].target, found[1].value
    if not isinstance(target, cst.Tuple) or not isinstance(call, cst.Call):
        return
    dropped = [e.value for e in target.elements if isinstance(e.value, cst.Name) and e.value.value == "_"]
    given = [arg.value.value for arg in call.args if isinstance(arg.value, cst.Name)]
    written = _targets(target)
    for start in range(len(given) - len(dropped) + 1) if dropped else ():
        names = given[start : start + len(dropped)]
        places = [syntax.whole(node) for node in dropped]
        if not set(names) & written and None not in places:
            edits = tuple(syntax.replace(p, n) for p, n in zip(places, names, strict=True) if p is not None)
            yield Candidate(edits, f"keep the state that comes back: `{', '.join(names)}`")
    yield from _renewed(bench, found, finding, target)


def _renewed(bench: Bench, found: tuple[Span, cst.CSTNode], finding: Finding, target: cst.Tuple) -> Iterator[Candidate]:
    """A line that gives the new state the old one's name; an axis that was put in for the call is taken out again."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    axis = ""
    if isinstance(node, cst.Call) and syntax.called(node) == "unsqueeze" and len(node.args) == 1:
        axis = f".squeeze({syntax.plain(node.args[0].value)})"
        node = syntax.receiver(node)
    if not isinstance(node, cst.Name):
        return
    for element in target.elements:
        new = element.value
        if not isinstance(new, cst.Name) or new.value in ("_", node.value):
            continue
        line = f"{node.value} = {new.value}{axis}"
        yield Candidate((_below(syntax, found[0], line),), f"keep the state that comes back: `{line}`")


def _below(syntax: Syntax, place: Span, line: str) -> Edit:
    """A line of its own below a statement, at its indentation."""
    indent = syntax.source(Span(place.line, 0, place.line, place.column))
    return syntax.insert(place.end_line + 1, 0, f"{indent}{line}\n")


def _targets(node: cst.CSTNode) -> set[str]:
    if isinstance(node, cst.Name):
        return {node.value}
    if isinstance(node, cst.Attribute):
        return set()
    return {name for child in node.children for name in _targets(child)}


# -- SD302: the query is what the cell returns


@proposes("SD302")
def what_the_cell_returns(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The output or the new state of the cell as the query, where it has the query's shape."""
    syntax = bench.syntax
    lines = [label.span for label in finding.labels if "goes into the cell" in label.text and not label.span.path]
    node = syntax.at(finding.span)
    made = [s for span in lines if (s := syntax.statement(span)) is not None and isinstance(s[1], cst.Assign)]
    if not made or not isinstance(node, cst.Call) or made[0][0].line >= finding.span.line:
        return
    assign = made[0][1]
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    names = _targets(target) if target is not None else set()
    last = bench.syntax.plain(target.elements[-1].value) if isinstance(target, cst.Tuple) else ""
    for arg in node.args:
        place = syntax.whole(arg.value)
        before = rank_of(bench.trace.events, syntax.span(arg.value))
        if place is None or before is None or not isinstance(arg.value, cst.Subscript | cst.Name):
            continue
        base = arg.value.value if isinstance(arg.value, cst.Subscript) else None
        inner = syntax.whole(base) if isinstance(base, cst.Name) else None
        for name in sorted(names - {syntax.plain(arg.value)}):
            if inner is not None and base is not None and _goes_in(assign, syntax.plain(base)):
                told = f"attend with the state that the cell returns: `{name}`"
                yield Candidate((syntax.replace(inner, name),), told, known=int(name == last))
            if _named_rank(bench, name) == before:
                yield Candidate((syntax.replace(place, name),), f"attend with what the cell returns: `{name}`")


def _goes_in(node: cst.CSTNode, name: str) -> bool:
    """Whether a name is an argument of the call that a statement assigns."""
    call = node.value if isinstance(node, cst.Assign) else None
    return isinstance(call, cst.Call) and any(
        isinstance(arg.value, cst.Name) and arg.value.value == name for arg in call.args
    )


def _named_rank(bench: Bench, name: str) -> int | None:
    """How many axes a name has where it is used."""
    for event in bench.trace.events:
        for operand in event.operands:
            if operand.text == name and (rank := rank_of([event], operand.span)) is not None:
                return rank
    return None


# -- SD305: a layer's two directions lie beside each other


@proposes("SD305")
def layers_first(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``view(layers, 2, ...)``, and directions read along the second axis."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    statement = syntax.statement(finding.span)
    function = syntax.function(finding.span)
    if not isinstance(node, cst.Call) or len(node.args) < 3 or "is viewed as" not in finding.message:
        return
    one, other = (syntax.whole(arg.value) for arg in node.args[:2])
    if one is None or other is None or statement is None or not isinstance(statement[1], cst.Assign):
        return
    edits = [syntax.replace(one, syntax.source(other)), syntax.replace(other, syntax.source(one))]
    target = statement[1].targets[0].target
    scope = function[0] if function is not None else Span(1, 0, statement[0].end_line + 40, 0)
    name = target.value if isinstance(target, cst.Name) else ""
    for place, inner in syntax.inside(scope) if name else ():
        if isinstance(inner, cst.Subscript) and place.line > finding.span.line:
            base = syntax.whole(inner.value)
            index = (
                syntax.source(Span(base.end_line, base.end_column, place.end_line, place.end_column)) if base else ""
            )
            if isinstance(inner.value, cst.Name) and inner.value.value == name and base is not None:
                if not re.fullmatch(r"\[-?\d\]", index):
                    return
                where = Span(base.end_line, base.end_column, place.end_line, place.end_column)
                edits.append(syntax.replace(where, f"[:, {index[1:-1]}]"))
    text = f"view({syntax.source(other)}, {syntax.source(one)}, ...)"
    yield Candidate(tuple(edits), f"torch orders (layers, directions): `{text}`")


@proposes("SD305")
def directions_added(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Forward and backward states of every layer added, where a slice took the lower layers."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    if not isinstance(node, cst.Subscript) or "takes both directions" not in finding.message:
        return
    base = syntax.whole(node.value)
    if base is not None:
        name = syntax.source(base)
        text = f"{name}[0::2] + {name}[1::2]"
        yield Candidate((syntax.replace(finding.span, text),), f"add the two directions of every layer: `{text}`")


# -- SD107: a state has an axis of layers


@proposes("SD107")
def all_layers(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The whole state, where one layer of it was taken."""
    syntax = bench.syntax
    if "axes" not in finding.message:
        return
    places = [finding.span, *(label.span for label in finding.labels if "one layer is taken" in label.text)]
    for place in places:
        edits: list[Edit] = []
        for where, node in syntax.inside(place):
            base = syntax.whole(node.value) if isinstance(node, cst.Subscript) else None
            if base is None:
                continue
            index = Span(base.end_line, base.end_column, where.end_line, where.end_column)
            if re.fullmatch(r"\[-?\d\]", syntax.source(index)):
                edits.append(syntax.replace(index, ""))
        if edits:
            yield Candidate(tuple(edits), "pass the whole state, with its axis of layers")


# -- SD105: a step that lacks its axis of time


@proposes("SD105")
def one_step(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """An axis of time of size 1, where the step is made."""
    syntax = bench.syntax
    found = re.match(r"(\w+)\.unsqueeze\((\d)\), a sequence of one step", finding.help)
    if found is None:
        return
    for label in finding.labels:
        statement = syntax.statement(label.span) if not label.span.path else None
        if statement is None or not isinstance(statement[1], cst.Assign):
            continue
        target, value = statement[1].targets[0].target, statement[1].value
        if isinstance(target, cst.Name) and target.value == found[1]:
            yield Candidate(
                syntax.postfix(value, f".unsqueeze({found[2]})"),
                f"make it a sequence of one step: `.unsqueeze({found[2]})`",
            )
            return
