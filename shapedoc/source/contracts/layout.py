"""Where the statements of a module stand: what is above and below a line, and who assigned a name before it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from shapedoc.source.ir import (
    Assert,
    Assign,
    Attribute,
    AugAssign,
    ClassDef,
    Compare,
    Expr,
    ExprStmt,
    For,
    FunctionDef,
    If,
    Import,
    Jump,
    Module,
    Name,
    OpaqueStmt,
    Return,
    Sequence,
    Starred,
    Stmt,
    Try,
    While,
    With,
)
from shapedoc.source.walk import blocks

__all__ = ["Layout", "Slot", "dotted", "target_names", "targets"]

# Statements that assign nothing, and those that have no block.
_PLAIN = (ExprStmt, Return, Import, Jump, Assert)
_SIMPLE = (Assign, AugAssign)
_COMPOUND = If | For | While | With | Try | FunctionDef | ClassDef | OpaqueStmt


@dataclass(slots=True, eq=False)
class Slot:
    """A statement with its block, its place there, and what it is inside of."""

    stmt: Stmt
    block: list[Stmt]
    index: int
    parent: Slot | None
    function: FunctionDef | None
    owner: ClassDef | None

    @property
    def line(self) -> int:
        return self.stmt.span[0]

    @property
    def end_line(self) -> int:
        return self.stmt.span[2]

    @property
    def compound(self) -> bool:
        return isinstance(self.stmt, _COMPOUND)


class Layout:
    """Every statement of a module in source order."""

    def __init__(self, module: Module) -> None:
        self.slots: list[Slot] = []
        self.of: dict[int, Slot] = {}
        self.functions: list[Slot] = []
        self._assigned: dict[tuple[int, str], list[Slot]] = {}
        self._block(module.body, None, None, None)
        self.lines = [s.line for s in self.slots]

    def _block(
        self, body: list[Stmt], parent: Slot | None, function: FunctionDef | None, owner: ClassDef | None
    ) -> None:
        scope = id(function)
        for index, stmt in enumerate(body):
            slot = Slot(stmt, body, index, parent, function, owner)
            self.slots.append(slot)
            self.of[id(stmt)] = slot
            if isinstance(stmt, _PLAIN):
                continue
            if isinstance(stmt, FunctionDef):
                self.functions.append(slot)
                self._block(stmt.body, slot, stmt, owner if function is None else None)
            elif isinstance(stmt, ClassDef):
                self._block(stmt.body, slot, None, stmt)
            else:
                for name in target_names(stmt):
                    self._assigned.setdefault((scope, name), []).append(slot)
                if not isinstance(stmt, _SIMPLE):
                    for inner in blocks(stmt):
                        self._block(inner, slot, function, owner)

    def upto(self, line: int) -> Slot | None:
        """The last statement that begins on `line` or before."""
        i = bisect_right(self.lines, line)
        return self.slots[i - 1] if i else None

    def after(self, line: int) -> Slot | None:
        """The first statement that begins after `line`."""
        i = bisect_right(self.lines, line)
        return self.slots[i] if i < len(self.slots) else None

    def around(self, line: int, column: int) -> tuple[Slot | None, Slot | None]:
        """The statements before and after a comment on a line of its own, in the block that its column says."""
        below = self.after(line)
        above = self.upto(line - 1)
        if below is not None and below.stmt.span[1] == column and _holds(below.parent, line):
            previous = below.index - 1
            return (self.of[id(below.block[previous])] if previous >= 0 else None), below
        slot = above
        while slot is not None and slot.stmt.span[1] > column:
            slot = slot.parent
        if slot is None:
            return None, below if below is not None and below.stmt.span[1] == column else None
        after = slot.block[slot.index + 1] if slot.index + 1 < len(slot.block) else None
        return slot, self.of[id(after)] if after is not None else None

    def last_assignment(self, function: FunctionDef | None, name: str, line: int) -> list[Slot]:
        """The statements of a function that assign `name` and begin before `line`, the latest first."""
        found = self._assigned.get((id(function), name), [])
        return [s for s in reversed(found) if s.line < line]

    def source(self, anchor: Slot, line: int, name: str) -> tuple[Slot, bool] | str | None:
        """Where the value of `name` at `line` comes from: a statement and whether for certain, or its parameter."""
        function = anchor.function
        around: dict[int, bool] = {}
        slot: Slot | None = anchor
        straight = True
        while slot is not None:
            around.setdefault(id(slot.block), straight)
            straight = straight and not isinstance(slot.parent.stmt if slot.parent else None, If)
            slot = slot.parent
        for assigned in self.last_assignment(function, name, line):
            outer: Slot | None = assigned
            while outer is not None and id(outer.block) not in around:
                outer = outer.parent
            if outer is None or (outer.line <= line <= outer.end_line and outer is not assigned):
                continue
            return outer, around[id(outer.block)]
        if function is not None and any(p.name == name for p in function.params):
            return name
        return None

    def always(self, anchor: Slot, name: str) -> bool:
        """Whether a statement runs in every call of its function, or in every one that is given the parameter."""
        slot = anchor.parent
        while slot is not None and not isinstance(slot.stmt, FunctionDef):
            if isinstance(slot.stmt, If) and not _asks_for(slot.stmt.test, name):
                return False
            slot = slot.parent
        return True

    def assigns(self, function: FunctionDef | None, name: str) -> bool:
        """Whether a function assigns `name` at all."""
        return (id(function), name) in self._assigned


def targets(stmt: Stmt) -> list[Expr]:
    """What a statement assigns to: a tuple target as its items, several targets as one only when there is one."""
    match stmt:
        case Assign(targets=[only]):
            return list(only.items) if isinstance(only, Sequence) else [only]
        case Assign(targets=many):
            return [t for t in many if not isinstance(t, Sequence)]
        case AugAssign(target=target):
            return [target]
        case For(target=target):
            return list(target.items) if isinstance(target, Sequence) else [target]
        case _:
            return []


def target_names(stmt: Stmt) -> list[str]:
    """The dotted names that a statement assigns, those inside nested tuples and ``with`` included."""
    pending: list[Expr]
    if isinstance(stmt, Assign):
        pending = stmt.targets[::-1]
    elif isinstance(stmt, AugAssign | For):
        pending = [stmt.target]
    elif isinstance(stmt, With):
        pending = [t for _, t in stmt.items if t is not None]
    else:
        return []
    names: list[str] = []
    while pending:
        node = pending.pop()
        if isinstance(node, Name):
            names.append(node.id)
        elif isinstance(node, Attribute):
            name = dotted(node)
            if name:
                names.append(name)
        elif isinstance(node, Sequence):
            pending.extend(reversed(node.items))
        elif isinstance(node, Starred):
            pending.append(node.value)
    return names


def dotted(node: Expr | None) -> str:
    """``a.b.c`` of a name or attribute chain, "" of anything else."""
    parts: list[str] = []
    while isinstance(node, Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def _asks_for(test: Expr, name: str) -> bool:
    """Whether a test asks no more than whether a parameter was given: ``mask is not None``."""
    return dotted(test.left if isinstance(test, Compare) and test.ops == ["is not"] else test) == name


def _holds(parent: Slot | None, line: int) -> bool:
    """Whether `line` is inside a statement (or the module, None)."""
    return parent is None or parent.line <= line <= parent.end_line
