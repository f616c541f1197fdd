"""The statements that a fix changes: which value of which function they make, and how it is written after the fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from shapedoc.core.fix import Edit
from shapedoc.core.span import Span
from shapedoc.prescribe.syntax import Syntax
from shapedoc.prescribe.verify import moved

__all__ = ["Made", "changed"]


@dataclass(frozen=True, slots=True)
class Made:
    """A value that a changed statement makes.

    function: its qualified name, "<module>" outside of any. name: the variable or attribute (``self.scale``),
    "return" for what is returned. nth: which of the assignments to that name (which of the returns) it is, from 0.
    expression: how the value is written after the fix. part: its place in a tuple of targets, or -1. line: where the
    statement stands after the fix. always: the function comes to it whenever it runs to its end.
    """

    function: str
    name: str
    nth: int
    expression: str
    part: int
    line: int
    always: bool = False


def changed(before: Syntax, after: Syntax, edits: Sequence[Edit]) -> list[Made]:
    """What the statements that a fix edits make; empty where one of them makes nothing that can be compared."""
    found: dict[tuple[int, int], Made] = {}
    written: set[tuple[str, str, int]] = set()
    for edit in edits:
        statement = before.statement(edit.span)
        if statement is None or not isinstance(statement[1], cst.Assign | cst.Return):
            return []
        place = moved(statement[0], [e for e in edits if e.span.end_line < statement[0].line])
        there = [(s, n) for s, n in _simple(after) if s.line == place.line and s.column == place.column]
        if not there:
            return []
        old, made = list(_made(before, *statement)), list(_made(after, *there[0]))
        if not made or {one.name for one in old} != {one.name for one in made}:
            return []
        for index, one in enumerate(made):
            found[place.line, index] = one
        same = {(one.name, one.expression, one.part) for one in old}
        written |= {(one.name, one.expression, one.part) for one in made} - same
    return [one for one in found.values() if (one.name, one.expression, one.part) in written]


def _simple(syntax: Syntax) -> Iterator[tuple[Span, cst.CSTNode]]:
    for place, node in syntax.lowered.statements.items():
        if isinstance(node, cst.Assign | cst.Return):
            yield Span(*place), node


def _made(syntax: Syntax, place: Span, node: cst.CSTNode) -> Iterator[Made]:
    function = _qualified(syntax, place)
    always = _unnested(syntax, place)
    if isinstance(node, cst.Return):
        if node.value is not None:
            nth = _count(syntax, place, function, "return")
            yield Made(function, "return", nth, _text(syntax, node.value), -1, place.line, always)
        return
    if not isinstance(node, cst.Assign) or len(node.targets) != 1:
        return
    target, text = node.targets[0].target, _text(syntax, node.value)
    name = _named(target)
    if name:
        yield Made(function, name, _count(syntax, place, function, name), text, -1, place.line, always)
    elif isinstance(target, cst.Tuple):
        for part, element in enumerate(target.elements):
            inner = _named(element.value)
            if inner and inner != "_":
                yield Made(function, inner, _count(syntax, place, function, inner), text, part, place.line, always)


def _unnested(syntax: Syntax, place: Span) -> bool:
    """Whether a statement stands directly in its function."""
    for _, node in syntax.around(place):
        if isinstance(node, cst.If | cst.For | cst.While | cst.Try | cst.With):
            return False
        if isinstance(node, cst.FunctionDef):
            return True
    return False


def _text(syntax: Syntax, node: cst.BaseExpression) -> str:
    whole = syntax.whole(node)
    return " ".join(line.strip() for line in syntax.source(whole).splitlines()) if whole is not None else ""


def _named(target: cst.CSTNode) -> str:
    if isinstance(target, cst.Name):
        return target.value
    if isinstance(target, cst.Attribute) and isinstance(target.value, cst.Name) and target.value.value == "self":
        return f"self.{target.attr.value}"
    return ""


def _qualified(syntax: Syntax, place: Span) -> str:
    names: list[str] = []
    for _, node in syntax.around(place):
        if isinstance(node, cst.FunctionDef):
            names.append(node.name.value if not names else f"{node.name.value}.<locals>")
        elif isinstance(node, cst.ClassDef):
            names.append(node.name.value)
    return ".".join(reversed(names)) if names else "<module>"


def _count(syntax: Syntax, place: Span, function: str, name: str) -> int:
    """How many statements above one make the same name in the same function."""
    count = 0
    for other, node in _simple(syntax):
        if (other.line, other.column) >= (place.line, place.column) or _qualified(syntax, other) != function:
            continue
        if name == "return":
            count += isinstance(node, cst.Return)
        elif isinstance(node, cst.Assign):
            targets = [t.target for t in node.targets]
            flat = [e.value for t in targets if isinstance(t, cst.Tuple) for e in t.elements] + targets
            count += any(_named(t) == name for t in flat)
    return count
