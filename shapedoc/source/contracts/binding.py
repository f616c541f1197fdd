"""What a comment is said of.

At the end of a line: of the target of the assignment, of the argument that ends there, of the parameter, of the
value that a ``return`` gives. What stands on a line of its own is in `own_lines`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from shapedoc.source.contracts.layout import Layout, Slot, dotted, target_names, targets
from shapedoc.source.contracts.lexicon import BATCH
from shapedoc.source.contracts.places import (
    ends_on,
    exchanges,
    input_name,
    is_no_tensor,
    kept_value,
    lays_out,
    parameter_on,
    printed_shape_of,
    reads,
    returned,
)
from shapedoc.source.contracts.stated import Bound, StatedShape
from shapedoc.source.ir import (
    Assign,
    AugAssign,
    ClassDef,
    Comment,
    Const,
    Expr,
    ExprStmt,
    For,
    FunctionDef,
    Return,
    Sequence,
    Span4,
    Stmt,
)

__all__ = ["GENERIC_IN", "Binder"]

_GENERIC_OUT = frozenset(("output", "outputs", "out", "result", "results", "after", "new", "returns", "return"))
_LEAD = re.compile(r"\s*([A-Za-z_]\w*)\s*-+>\s*[\[(]")
GENERIC_IN = frozenset(("input", "inputs", "before", "original", "in"))


class Binder:
    """Gives every stated shape its place; the tables are keyed by the identity of the ir node, or by span."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.after: dict[int, list[Bound]] = {}
        self.before: dict[int, list[Bound]] = {}
        self.rounds: dict[int, list[Bound]] = {}
        self.near: dict[int, list[StatedShape]] = {}
        self.operands: dict[int, tuple[StatedShape, StatedShape]] = {}
        self.at: dict[Span4, list[StatedShape]] = {}
        self.params: dict[int, dict[str, list[StatedShape]]] = {}
        self.returns: dict[int, list[Bound]] = {}

    # -- at the end of a line

    def trailing(self, comment: Comment, shapes: list[StatedShape]) -> bool:
        """Bind the shapes of a comment after code; whether any was."""
        slot = self.layout.upto(comment.span[0])
        if slot is None:
            return False
        line = comment.span[0]
        stmt = slot.stmt
        if isinstance(stmt, FunctionDef):
            return line <= stmt.header[2] and self.on_header(stmt, line, shapes)
        if isinstance(stmt, ClassDef) or line > slot.end_line:
            return False
        shapes = self._resolve_names(slot, self._led(slot, comment, shapes))
        if slot.compound:
            return isinstance(stmt, For) and self._loop(slot, shapes)
        if line < slot.end_line:
            return self._inside(slot, line, shapes)
        return self._statement(slot, shapes)

    def _led(self, slot: Slot, comment: Comment, shapes: list[StatedShape]) -> list[StatedShape]:
        """``y = embed(x)  # x -> (B, T)``: of x, or of what it becomes."""
        lead = _LEAD.match(comment.text)
        name = lead.group(1) if lead is not None else ""
        if len(shapes) != 1 or shapes[0].name is not None or not name or name in target_names(slot.stmt):
            return shapes
        return [replace(shapes[0], name=name, sure=False)] if self._known(slot, name) else shapes

    def printed(self, comment: Comment, shapes: list[StatedShape]) -> bool:
        """Bind numbers after ``print(x.shape)`` and ``x.shape``, where they can only be the shape of x."""
        slot = self.layout.upto(comment.span[0])
        if slot is None or not isinstance(slot.stmt, ExprStmt) or len(shapes) != 1:
            return False
        name = printed_shape_of(slot.stmt.value)
        return bool(name) and self.by_name(slot, slot.line, replace(shapes[0], name=name, sure=True))

    def _resolve_names(self, slot: Slot, shapes: list[StatedShape]) -> list[StatedShape]:
        """The shapes with names that are no variables left out: ``gate energies (B, T)`` is said of the target."""
        out: list[StatedShape] = []
        for shape in shapes:
            name = shape.name
            if name is None or self._known(slot, name) or shape.form == "explicit":
                out.append(shape)
            elif name.lower() in GENERIC_IN:
                out.append(replace(shape, name=None, where="before"))
            elif name.lower() in _GENERIC_OUT:
                out.append(replace(shape, name=None))
            elif sum(s.name is not None for s in shapes) == 1 and _begins_with_batch(shape):
                out.append(replace(shape, name=None, sure=False))
        return out

    def _known(self, slot: Slot, name: str) -> bool:
        return (
            name in target_names(slot.stmt)
            or self.layout.assigns(slot.function, name)
            or (slot.function is not None and any(p.name == name for p in slot.function.params))
        )

    def _statement(self, slot: Slot, shapes: list[StatedShape]) -> bool:
        stmt = slot.stmt
        names = target_names(stmt)
        named = [s for s in shapes if s.name is not None]
        bound = False
        for shape in named:
            bound |= self._named_here(slot, names, shape)
        rest = [s for s in shapes if s.name is None]
        return self.unnamed(slot, rest) or bound

    def _named_here(self, slot: Slot, names: list[str], shape: StatedShape) -> bool:
        name = shape.name or ""
        if name in names and shape.where != "before":
            self.add(self.after, slot.stmt, Bound(name, shape, shape.index))
            return True
        if isinstance(slot.stmt, Return):
            for i, item in enumerate(returned(slot.stmt)):
                if dotted(item) == name:
                    index = i if len(returned(slot.stmt)) > 1 else None
                    self.add(self.after, slot.stmt, Bound("", shape, index))
                    return True
        if lays_out(slot.stmt, name):
            # Said of the variable, or from habit of what is made of it: they are told apart where both are known.
            told = replace(shape, sure=shape.sure and not exchanges(slot.stmt, name))
            self.add(self.after, slot.stmt, Bound(name, told, shape.index))
            return True
        return self.by_name(slot, slot.line, shape if reads(slot.stmt, name) else replace(shape, sure=False))

    def unnamed(self, slot: Slot, shapes: list[StatedShape]) -> bool:
        """Bind shapes without a name to a statement; several only where there are as many targets."""
        stmt = slot.stmt
        plain = [s for s in shapes if s.where == "after"]
        operands = [s for s in shapes if s.where in ("left", "right")]
        before = [s for s in shapes if s.where == "before"]
        if len(operands) == 2:
            self.operands[id(stmt)] = (operands[0], operands[1])
        if len(before) == 1:
            name = input_name(stmt)
            self.add(self.before, stmt, Bound(name, before[0]))
        bound = bool(operands or before)
        match stmt:
            case Assign() | AugAssign():
                return self._targets(stmt, plain) or bound
            case Return(value=value) if value is not None:
                return self._components(stmt, len(returned(stmt)), plain) or bound
            case ExprStmt(value=value):
                printed = printed_shape_of(value)
                if printed and len(plain) == 1:
                    return self.by_name(slot, slot.line, replace(plain[0], name=printed, sure=True))
                kept = kept_value(value)
                if kept is not None and len(plain) == 1:
                    self.at.setdefault(kept.span, []).append(plain[0])
                    return True
                return self._components(stmt, 1, plain) or bound
            case _:
                return bound

    def _targets(self, stmt: Assign | AugAssign, shapes: list[StatedShape]) -> bool:
        value = stmt.value
        if not shapes or value is None or is_no_tensor(value):
            return False
        goals = targets(stmt)
        if isinstance(stmt, Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], Sequence):
            parts = _grouped(shapes)
            if len(parts) != len(goals):
                return False
            for goal, part in zip(goals, parts, strict=True):
                self._part(stmt, goal, part)
            return True
        if len(shapes) > 1 and not all(s.index is not None for s in shapes):
            return False
        for goal in goals:
            for shape in shapes:
                self._goal(stmt, goal, shape)
        return True

    def _goal(self, stmt: Stmt, goal: Expr, shape: StatedShape) -> None:
        name = dotted(goal)
        if name:
            if name != "_":
                self.add(self.after, stmt, Bound(name, shape, shape.index))
        else:
            self.add(self.after, stmt, Bound("", replace(shape, sure=False), shape.index))

    def _part(self, stmt: Stmt, goal: Expr, part: list[StatedShape]) -> None:
        """Bind one shape, or those of a nested display, to one item of a tuple target."""
        inner = goal.items if isinstance(goal, Sequence) else [goal]
        if len(part) == 1 and len(inner) > 1:
            part = [replace(part[0], sure=False)] * len(inner)
        if len(inner) == len(part):
            for item, shape in zip(inner, part, strict=True):
                self._goal(stmt, item, replace(shape, index=None, of=1))
        elif len(inner) == 1:
            for shape in part:
                self._goal(stmt, goal, shape)

    def _components(self, stmt: Stmt, count: int, shapes: list[StatedShape]) -> bool:
        """Bind to the value of a statement: its parts where there are several."""
        if len(shapes) == 1 and (count == 1 or shapes[0].index is not None):
            self.add(self.after, stmt, Bound("", shapes[0], shapes[0].index))
            return True
        if len(shapes) == count and count > 1:
            for i, shape in enumerate(shapes):
                self.add(self.after, stmt, Bound("", replace(shape, index=None, of=1), i))
            return True
        return False

    def _inside(self, slot: Slot, line: int, shapes: list[StatedShape]) -> bool:
        """Bind a comment between the lines of a statement to the expression that ends on its line."""
        named = [s for s in shapes if s.name is not None]
        rest = [s for s in shapes if s.name is None and s.where == "after"]
        bound = False
        for shape in named:
            bound |= self._named_here(slot, target_names(slot.stmt), shape)
        expression = ends_on(slot.stmt, line)
        if expression is not None and not isinstance(expression, Const) and len(rest) == 1:
            value = slot.stmt.value if isinstance(slot.stmt, Assign | Return | ExprStmt) else None
            if expression is value:
                return self._statement(slot, rest) or bound
            self.at.setdefault(expression.span, []).append(rest[0])
            return True
        return bound

    def _loop(self, slot: Slot, shapes: list[StatedShape]) -> bool:
        names = target_names(slot.stmt)
        found = [s for s in shapes if s.name in names]
        for shape in found:
            self.add(self.rounds, slot.stmt, Bound(shape.name or "", shape))
        return bool(found)

    def on_header(self, function: FunctionDef, line: int, shapes: list[StatedShape]) -> bool:
        """A comment on a parameter's line or on the line of the ``def``."""
        params = [p.name for p in function.params]
        rest = [s for s in shapes if s.name is None]
        bound = False
        for shape in shapes:
            if shape.name in params:
                self._param(function, shape.name or "", shape)
                bound = True
        if not rest:
            return bound
        only = parameter_on(function, line)
        plain = [s for s in rest if s.where == "after"]
        if only is not None and len(rest) == 1:
            self._param(function, only, rest[0])
            return True
        if line != function.header[2]:
            return bound
        values = [p for p in params if p not in ("self", "cls")]
        given = [s for s in rest if s.where == "before"]
        if len(given) == 1 and len(plain) == 1:
            if len(values) == 1:
                self._param(function, values[0], replace(given[0], where="after"))
            self.returns.setdefault(id(function), []).append(Bound("", plain[0]))
            return True
        if len(plain) == len(values) > 1:
            for name, shape in zip(values, plain, strict=True):
                self._param(function, name, shape)
            return True
        if len(plain) != 1:
            return bound
        if function.header[0] < line:
            # `):  # (B, T)` and `) -> Tensor:  # (B, T)` close a header of several lines.
            self.returns.setdefault(id(function), []).append(Bound("", plain[0]))
        elif len(values) == 1:
            self._param(function, values[0], replace(plain[0], sure=False))
        else:
            self.returns.setdefault(id(function), []).append(Bound("", replace(plain[0], sure=False)))
        return True

    def _param(self, function: FunctionDef, name: str, shape: StatedShape) -> None:
        self.params.setdefault(id(function), {}).setdefault(name, []).append(replace(shape, name=name))

    # -- by name

    def by_name(self, anchor: Slot, line: int, shape: StatedShape) -> bool:
        """Bind to what the name stands for at `line`: an assignment before it or a parameter."""
        name = shape.name or ""
        source = self.layout.source(anchor, line, name)
        if source is None:
            return False
        if isinstance(source, str):
            function = anchor.function
            if function is not None:
                certain = shape.sure and self.layout.always(anchor, name)
                self._param(function, name, replace(shape, sure=certain))
            return True
        slot, certain = source
        if not certain:
            shape = replace(shape, sure=False)
        table = self.rounds if isinstance(slot.stmt, For) and slot.line < line <= slot.end_line else self.after
        self.add(table, slot.stmt, Bound(name, shape, shape.index))
        return True

    def add(self, table: dict[int, list[Bound]], stmt: Stmt, bound: Bound) -> None:
        table.setdefault(id(stmt), []).append(bound)


def _begins_with_batch(shape: StatedShape) -> bool:
    """Whether the first axis is a batch or a time: ``flatten (H, W)`` names axes, ``scores of it (B, T)`` a shape."""
    first = str(shape.dims[0]) if shape.dims else ""
    return len(shape.dims) > 2 or first in BATCH or "batch" in first.lower()


def _grouped(shapes: list[StatedShape]) -> list[list[StatedShape]]:
    """The shapes with those of one nested display together."""
    groups: list[list[StatedShape]] = []
    for shape in shapes:
        if shape.index and groups:
            groups[-1].append(shape)
        else:
            groups.append([shape])
    return groups
