"""Where a running instruction stands in its source: the node of the ir, its function, its loops and its statement."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from types import CodeType

from shapedoc.source import ir, lower_ast
from shapedoc.source.contracts import ModuleContracts
from shapedoc.source.expected import expects_failure
from shapedoc.source.parse import SourceError

__all__ = ["Place", "SourceFile", "parts_of", "place_of", "source_file", "span_of", "spans_of"]

Node = ir.Expr | ir.Stmt


@dataclass(slots=True, eq=False)
class Place:
    """One node with what is around it.

    function: the function's name as findings give it (``Attention.forward``), "" outside. owner: its class. loops: the
    loops around the node, outermost first. statement: the simple statement that the node is a part of. tried: it stands
    where an exception of it is caught or expected.
    """

    node: Node
    function: str = ""
    owner: str = ""
    definition: ir.FunctionDef | None = None
    loops: tuple[Node, ...] = ()
    statement: ir.Stmt | None = None
    tried: bool = False

    def at(self, node: Node, loops: tuple[Node, ...] | None = None) -> Place:
        """The place of another node in the same surroundings."""
        around = self.loops if loops is None else loops
        return Place(node, self.function, self.owner, self.definition, around, self.statement, self.tried)


@dataclass(slots=True, eq=False)
class SourceFile:
    """One file: its text, its ir, its functions, and every node by its span.

    assigned: for each function (and "" for the file), name -> what is assigned to it, None where it is no expression
    or differs from place to place. attributes: the same for ``self.name``, by class.
    """

    path: str
    text: str
    module: ir.Module
    by_span: dict[ir.Span4, Place] = field(default_factory=dict)
    definitions: list[Place] = field(default_factory=list)
    assigned: dict[str, dict[str, ir.Expr | None]] = field(default_factory=dict)
    attributes: dict[str, dict[str, ir.Expr | None]] = field(default_factory=dict)
    _contracts: ModuleContracts | None = None
    _visible: dict[str, dict[str, ir.Expr | None]] = field(default_factory=dict)

    @property
    def contracts(self) -> ModuleContracts:
        """What the author states of shapes in this file."""
        if self._contracts is None:
            self._contracts = ModuleContracts(self.module)
        return self._contracts

    def visible(self, function: str) -> Mapping[str, ir.Expr | None]:
        """What is assigned to the names that a function sees."""
        known = self._visible.get(function)
        if known is None:
            known = self._visible[function] = {**self.assigned.get("", {}), **self.assigned.get(function, {})}
        return known

    def fill(self) -> None:
        """Index every node."""
        for statement in self.module.body:
            self._statement(statement, Place(statement))

    def _statement(self, statement: ir.Stmt, around: Place) -> None:
        place = around.at(statement)
        place.statement = statement
        self.by_span.setdefault(statement.span, place)
        if isinstance(statement, ir.FunctionDef):
            self.definitions.append(place)
        inner = place
        match statement:
            case ir.FunctionDef():
                name = f"{around.owner}.{statement.name}" if around.owner and not around.function else statement.name
                inner = Place(statement, name, around.owner, statement)
            case ir.ClassDef():
                inner = Place(statement, "", statement.name)
            case ir.For() | ir.While():
                inner = place.at(statement, (*place.loops, statement))
            case ir.Assign():
                for target in statement.targets:
                    self._assign(target, statement.value, place)
            case ir.AugAssign():
                self._assign(statement.target, None, place)
            case ir.With() if expects_failure(statement):
                inner = place.at(statement)
                inner.tried = True
            case _:
                pass
        if isinstance(statement, ir.For):
            self._assign(statement.target, None, inner)
        caught = statement.body if isinstance(statement, ir.Try) else ()
        for part in parts_of(statement):
            if isinstance(part, ir.Stmt):
                within = inner
                if caught and any(part is c for c in caught):
                    within = inner.at(statement)
                    within.tried = True
                self._statement(part, within)
            elif isinstance(part, ir.Expr):
                self._expression(part, inner if isinstance(statement, ir.While) else place)

    def _expression(self, node: ir.Expr, around: Place) -> None:
        place = around
        if isinstance(node, ir.Comprehension):
            place = around.at(node, (*around.loops, node))
        if node.span not in self.by_span or isinstance(self.by_span[node.span].node, ir.ExprStmt):
            self.by_span[node.span] = place.at(node)
        if not isinstance(node, ir.FString):
            for part in parts_of(node):
                if isinstance(part, ir.Expr):
                    self._expression(part, place)

    def _assign(self, target: ir.Expr, value: ir.Expr | None, place: Place) -> None:
        match target:
            case ir.Name():
                _once(self.assigned.setdefault(place.function, {}), target.id, value)
            case ir.Attribute(value=ir.Name(id="self")):
                _once(self.attributes.setdefault(place.owner, {}), target.attr, value)
            case ir.Sequence():
                values = value.items if isinstance(value, ir.Sequence) and len(value.items) == len(target.items) else ()
                for i, item in enumerate(target.items):
                    self._assign(item, values[i] if values else None, place)
            case ir.Starred():
                self._assign(target.value, None, place)
            case _:
                pass


def _once(table: dict[str, ir.Expr | None], name: str, value: ir.Expr | None) -> None:
    table[name] = value if name not in table else None


def parts_of(node: Node) -> Iterator[object]:
    """What a node is made of, one by one."""
    pending: list[object] = [getattr(node, f.name) for f in fields(node) if f.name not in ("span", "header", "doc")]
    while pending:
        part = pending.pop(0)
        if isinstance(part, list | tuple):
            pending[:0] = part
        elif isinstance(part, ir.Generator):
            pending[:0] = [part.target, part.iterable, *part.conditions]
        elif isinstance(part, ir.Param):
            pending[:0] = [p for p in (part.annotation, part.default) if p is not None]
        elif isinstance(part, ir.Stmt | ir.Expr):
            yield part


@lru_cache(maxsize=512)
def source_file(path: str) -> SourceFile | None:
    """The file of this name, read and indexed; None where there is no text or it does not parse."""
    text = "".join(linecache.getlines(path))
    if not text:
        return None
    try:
        made = SourceFile(path, text, lower_ast.lower(text))
        made.fill()
    except (SourceError, RecursionError):
        return None
    return made


@lru_cache(maxsize=4096)
def _positions(code: CodeType) -> tuple[tuple[int | None, int | None, int | None, int | None], ...]:
    return tuple(code.co_positions())


@cache
def span_of(code: CodeType, instruction: int) -> ir.Span4 | None:
    """The span of an instruction, its columns in characters."""
    line, end_line, column, end_column = _positions(code)[instruction // 2]
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return (line, _character(code, line, column), end_line, _character(code, end_line, end_column))


def _character(code: CodeType, line: int, column: int) -> int:
    text = linecache.getline(code.co_filename, line)
    return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))


def spans_of(code: CodeType) -> dict[int, ir.Span4]:
    """The spans of all instructions of a function, by where they stand in it."""
    found = ((2 * i, span_of(code, 2 * i)) for i in range(len(_positions(code))))
    return {at: span for at, span in found if span is not None}


@cache
def place_of(code: CodeType, instruction: int) -> Place | None:
    """The node that an instruction (``f_lasti`` or ``tb_lasti``) evaluates."""
    source = source_file(code.co_filename)
    span = span_of(code, instruction)
    return source.by_span.get(span) if source is not None and span is not None else None
