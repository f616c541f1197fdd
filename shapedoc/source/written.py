"""The ir to what stands in a file: functions, the names that they read, the calls in them, what is left unread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import cache, partial
from typing import Any

from shapedoc.core.span import Span
from shapedoc.core.written import Assigned, Contents, Function, Parameter, Written, WrittenCall
from shapedoc.source import ir
from shapedoc.source.lowered import lowered
from shapedoc.source.parse import SourceError, TooDeep
from shapedoc.source.set_aside import set_aside
from shapedoc.source.walk import blocks

__all__ = ["written", "written_in"]

# Fields that hold no part of the program.
_PLAIN = frozenset(
    ["span", "header", "attr_span", "op", "ops", "kind", "names", "name", "id", "attr", "doc", "is_async", "module"]
)


def written(module: ir.Module) -> Written:
    """What stands in a file; the insides are looked at when they are asked for."""
    scopes: dict[str, Callable[[], Contents]] = {}
    for statement in _definitions(module.body):
        scopes.setdefault(statement.name, cache(partial(_contents, [statement])))
    return Written(tuple(_functions(module, module.body, "")), scopes, cache(partial(_contents, module.body)))


def written_in(text: str) -> Written:
    """What stands in a text; nothing where it does not parse."""
    try:
        return written(lowered(text))
    except (SourceError, TooDeep):
        return Written()


def _definitions(body: list[ir.Stmt]) -> Iterator[ir.FunctionDef | ir.ClassDef]:
    for statement in body:
        if isinstance(statement, ir.FunctionDef | ir.ClassDef):
            yield statement
        else:
            for block in blocks(statement):
                yield from _definitions(block)


def _functions(module: ir.Module, body: list[ir.Stmt], prefix: str) -> Iterator[Function]:
    for definition in _definitions(body):
        if isinstance(definition, ir.ClassDef):
            yield from _functions(module, definition.body, f"{prefix}{definition.name}.")
        else:
            given = tuple(_parameter(p) for p in definition.params if p.kind in ("pos", "kw"))
            look = partial(_contents, definition.body, definition.params)
            aside = partial(set_aside, module.comments, definition)
            yield Function(f"{prefix}{definition.name}", given, look, aside)
            yield from _functions(module, definition.body, prefix)


def _parameter(p: ir.Param) -> Parameter:
    line, column = p.span[:2]
    default = p.default.value if isinstance(p.default, ir.Const) else None
    return Parameter(p.name, Span(line, column, line, column + len(p.name)), default)


class _Look:
    """One walk through a part of a file."""

    def __init__(self) -> None:
        self.reads: set[str] = set()
        self.calls: list[WrittenCall] = []
        self.assigned: list[tuple[str, Span]] = []
        self.rounds: set[str] = set()
        self.named: Counter[str] = Counter()
        # Names that are given a value where they stand (ids of nodes).
        self.given: set[int] = set()

    def note(self, node: object) -> None:
        match node:
            case ir.Name(id=name):
                self.named[name] += 1
                if id(node) not in self.given:
                    self.reads.add(name)
            case ir.Attribute(value=ir.Name(id="self"), attr=attr):
                self.named[f"self.{attr}"] += 1
            case ir.Call():
                self.calls.append(_call(node))
                self.named.update(name for name, _ in node.keywords if name is not None)
            case ir.Assign():
                self._assign(node)
            case ir.AugAssign() | ir.NamedExpr():
                self._give(node.target)
            case ir.For() | ir.Generator():
                self.rounds.update(self._give(node.target))
            case ir.With():
                for _, target in node.items:
                    if target is not None:
                        self._give(target)
            case ir.Param(name=name):
                self.named[name] += 1

    def _assign(self, node: ir.Assign) -> None:
        for target in node.targets:
            self._give(target)
            if node.value is None:
                continue
            place = Span(*node.value.span)
            match target:
                case ir.Name(id=name):
                    self.assigned.append((name, place))
                case ir.Attribute(value=ir.Name(id="self"), attr=attr):
                    self.assigned.append((f"self.{attr}", place))

    def _give(self, target: ir.Expr) -> list[str]:
        """Remember which names a target gives a value to, and return them."""
        match target:
            case ir.Name(id=name):
                self.given.add(id(target))
                return [name]
            case ir.Sequence(items=items):
                return [name for item in items for name in self._give(item)]
            case ir.Starred(value=value):
                return self._give(value)
        return []

    def contents(self) -> Contents:
        assigned = tuple(Assigned(name, place, self.named[name] == 1) for name, place in self.assigned)
        return Contents(frozenset(self.reads), tuple(self.calls), assigned, frozenset(self.rounds))


def _contents(body: Iterable[ir.Stmt], params: Iterable[ir.Param] = ()) -> Contents:
    look = _Look()
    look.named.update(p.name for p in params)
    pending: list[object] = [*body]
    pending.reverse()
    while pending:
        part = pending.pop()
        kind = type(part)
        if isinstance(part, list | tuple):
            pending.extend(reversed(part))
        elif kind not in _NO_PARTS:
            if kind in _NOTED:
                look.note(part)
            pending.extend([getattr(part, name) for name in _inside(kind)])
    return look.contents()


_NO_PARTS = (ir.Const, str, int, type(None))
_NOTED = frozenset(
    [
        ir.Name,
        ir.Attribute,
        ir.Call,
        ir.Assign,
        ir.For,
        ir.AugAssign,
        ir.NamedExpr,
        ir.Generator,
        ir.With,
        ir.Param,
    ]
)


def _inside(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a node that hold parts of the program, the last first."""
    found = _INSIDE.get(kind)
    if found is None:
        found = _INSIDE[kind] = tuple(f.name for f in reversed(fields(kind)) if f.name not in _PLAIN)
    return found


_INSIDE: dict[type[Any], tuple[str, ...]] = {}


def _call(node: ir.Call) -> WrittenCall:
    literals = {n: v.value for n, v in node.keywords if n is not None and isinstance(v, ir.Const)}
    given = [n for n, _ in node.keywords]
    return WrittenCall(
        Span(*node.span),
        Span(*node.func.span),
        tuple(map(_name, node.args)),
        literals if given else {},
        frozenset(n for n in given if n is not None),
        None in given or any(isinstance(a, ir.Starred) for a in node.args),
    )


def _name(node: ir.Expr) -> str:
    match node:
        case ir.Name(id=name) | ir.Attribute(attr=name):
            return name
    return ""
