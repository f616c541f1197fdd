"""What a comment on a line of its own is said of.

With a name: of the value that the name has there (nearest assignment above, then the parameters, then the statement
below). Without one: of what stands below or above; an arrow or a product of the step below.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from shapedoc.source.contracts.binding import GENERIC_IN, Binder
from shapedoc.source.contracts.layout import Layout, Slot, target_names
from shapedoc.source.contracts.places import is_no_tensor, is_reshaped, reads
from shapedoc.source.contracts.stated import Bound, StatedShape
from shapedoc.source.ir import (
    Assign,
    Attribute,
    Call,
    ClassDef,
    Comment,
    Const,
    Expr,
    ExprStmt,
    For,
    FunctionDef,
    If,
    Name,
    Return,
    Stmt,
    UnaryOp,
    With,
)

__all__ = ["OwnLines"]

_KEEPS = re.compile(r"softmax|drop|norm|relu|gelu|tanh|sigmoid|activation|fill|float|contiguous", re.IGNORECASE)
_BEFORE = re.compile(r"\bbefore\b", re.IGNORECASE)


def _sets(stmt: Stmt, name: str) -> bool:
    """Whether a statement assigns a variable, inside of it."""
    if name in target_names(stmt):
        return True
    blocks = (stmt.body, stmt.orelse) if isinstance(stmt, If) else (stmt.body,) if isinstance(stmt, For | With) else ()
    return any(_sets(inner, name) for block in blocks for inner in block)


def _goes_on(below: Slot | None, name: str | None) -> bool:
    """Whether a statement makes something else of a variable, under the same name."""
    return below is not None and name is not None and name in target_names(below.stmt) and reads(below.stmt, name)


def _begins(above: Slot | None) -> bool:
    """Whether nothing but a docstring stands above."""
    return above is None or (isinstance(above.stmt, ExprStmt) and isinstance(above.stmt.value, Const))


def _opens(anchor: Slot, shapes: list[StatedShape]) -> bool:
    """Whether a comment at the beginning of a function is a list of its parameters."""
    params = {p.name for p in anchor.function.params} if anchor.function is not None else set()
    return len({s.name for s in shapes}) > 1 and all(s.name in params for s in shapes)


def _made_anew(slot: Slot, name: str) -> bool:
    """Whether a statement only takes something apart, and one of the next two makes something of what it calls so."""
    if not isinstance(slot.stmt, Assign) or not isinstance(slot.stmt.value, Attribute | Name):
        return False
    later = slot.block[slot.index + 1 : slot.index + 3]
    return any(isinstance(s, Assign) and name in target_names(s) and reads(s, name) for s in later)


def _made_again(layout: Layout, slot: Slot, name: str) -> bool:
    """Whether the lines right below a statement, with nothing between them, assign the same variable once more."""
    end = slot.end_line
    for stmt in slot.block[slot.index + 1 :]:
        if layout.of[id(stmt)].line != end + 1:
            return False
        if name in target_names(stmt) and not _keeps_axes(stmt):
            return True
        end = layout.of[id(stmt)].end_line
    return False


def _keeps_axes(stmt: Stmt) -> bool:
    """Whether a statement calls what leaves the axes as they are, by its name: ``attn.softmax(dim=-1)``."""
    func = stmt.value.func if isinstance(stmt, Assign) and isinstance(stmt.value, Call) else None
    called = func.attr if isinstance(func, Attribute) else func.id if isinstance(func, Name) else ""
    return _KEEPS.search(called) is not None


def _returns_a_name(stmt: Stmt) -> bool:
    """Whether a statement only returns a variable, so that nothing is made in it."""
    return isinstance(stmt, Return) and isinstance(stmt.value, Name)


class OwnLines:
    """Binds comments in source order, and learns whether a function has its comments above or below what they say."""

    def __init__(self, binder: Binder, said: Collection[int] = ()) -> None:
        """said: the lines of code with a shape at their end."""
        self.binder = binder
        self.said = said
        self.layout = binder.layout
        self.below_style: dict[int, int] = {}
        self.above_style: dict[int, int] = {}

    def bind(self, comment: Comment, first: int, last: int, shapes: list[StatedShape]) -> bool:
        """Bind the shapes of a comment that has its line; `first` and `last` are those of its block of comments."""
        line, column = comment.span[0], comment.span[1]
        inside = self.layout.upto(line)
        if inside is not None and isinstance(inside.stmt, FunctionDef) and line <= inside.stmt.header[2]:
            return self.binder.on_header(inside.stmt, line, [s for s in shapes if s.name is not None])
        if inside is not None and not inside.compound and inside.line < line < inside.end_line:
            return False
        above, below = self.layout.around(line, column)
        anchor = above or below
        if anchor is None:
            return False
        gap_above = first - above.end_line - 1 if above is not None else 1
        gap_below = below.line - last - 1 if below is not None else 1
        bound = False
        unnamed: list[StatedShape] = []
        opening = _begins(above) and _opens(anchor, shapes)
        between = gap_above == gap_below == 0 and any(s.where == "before" for s in shapes)
        for shape in shapes:
            if _BEFORE.search(comment.text):
                shape = replace(shape, sure=False)  # of what the statement below is given, or of what it makes
            if between and _goes_on(below, shape.name) and self._style(anchor) >= 0:
                shape = replace(shape, sure=False)  # of the step above, or of the one below
            if opening:
                bound |= self.binder.by_name(anchor, line, shape)
            elif shape.name is not None and self._own_named(anchor, above, below, line, gap_above, gap_below, shape):
                bound = True
            elif shape.form != "explicit":
                generic_in = (shape.name or "").lower() in GENERIC_IN
                unnamed.append(
                    replace(
                        shape,
                        name=None,
                        where="before" if generic_in else shape.where,
                        sure=shape.sure and shape.name is None,
                    )
                )
        return self._own_unnamed(above, below, gap_above, gap_below, unnamed) or bound

    def _own_named(
        self,
        anchor: Slot,
        above: Slot | None,
        below: Slot | None,
        line: int,
        gap_above: int,
        gap_below: int,
        shape: StatedShape,
    ) -> bool:
        name = shape.name or ""
        following = self._assigned_below(below, name)
        earlier = self.layout.source(anchor, line, name)
        if earlier is None and following is None:
            return False
        if below is not None and gap_below == 0 and gap_above > 0 and is_reshaped(below.stmt, name):
            shape = replace(shape, sure=False)  # it may be said of a part of the statement below
        if _begins(above) and isinstance(earlier, str) and following is not None:
            shape = replace(shape, sure=False)  # of the parameter, or of what replaces it a few lines below
        own = following is not None and following.end_line in self.said and reads(following.stmt, name)
        if own and below is following and gap_below == 0:
            following = None  # what the line makes of it is said at its end
        if earlier is not None and following is not None and following is below:
            style = self._style(anchor)
            if (gap_below == 0 and gap_above > 0) or (gap_below == gap_above and style < 0):
                earlier = None
            elif not ((gap_above == 0 and gap_below > 0) or style > 0):
                shape = replace(shape, sure=False)
        elif not isinstance(earlier, str):  # what is said of a parameter stands where it can
            self._count(anchor, 1 if earlier is not None else -1)
        if earlier is None and following is not None:
            if _made_anew(following, name) or _made_again(self.layout, following, name):
                shape = replace(shape, sure=False)  # it may be said of what is made of it next
            said = self.binder.before if shape.where == "before" else self.binder.after
            self.binder.add(said, following.stmt, Bound(name, shape, shape.index))
            return True
        if below is not None and below.compound and _sets(below.stmt, name):
            shape = replace(shape, sure=False)  # it may be said of what it is made there
        return self.binder.by_name(anchor, line, shape)

    def _assigned_below(self, below: Slot | None, name: str) -> Slot | None:
        if below is None:
            return None
        for stmt in below.block[below.index : below.index + 3]:
            if not isinstance(stmt, FunctionDef | ClassDef) and name in target_names(stmt):
                return self.layout.of[id(stmt)]
        return None

    def _style(self, anchor: Slot) -> int:
        key = id(anchor.function)
        return self.above_style.get(key, 0) - self.below_style.get(key, 0)

    def _count(self, anchor: Slot, direction: int) -> None:
        table = self.above_style if direction > 0 else self.below_style
        key = id(anchor.function)
        table[key] = table.get(key, 0) + 1

    def _own_unnamed(
        self, above: Slot | None, below: Slot | None, gap_above: int, gap_below: int, shapes: list[StatedShape]
    ) -> bool:
        if not shapes:
            return False
        step = any(s.where in ("before", "left") for s in shapes)
        if step:
            goal = above if below is None or (gap_above == 0 and gap_below > 0) else below
            certain = below is not None and goal is below and gap_above > 0 and gap_below == 0
            if goal is None:
                return False
            if goal.compound or (isinstance(goal.stmt, Assign) and is_no_tensor(goal.stmt.value)):
                return False
            if any(s.where == "left" for s in shapes) and _takes_one(goal.stmt):
                return False  # the product stands further down
            following = goal.block[goal.index + 1] if goal.index + 1 < len(goal.block) else None
            alone = following is None or following.span[0] > goal.end_line + 1 or _does_the_same(goal.stmt, following)
            named = [s if certain and (alone or s.where != "after") else replace(s, sure=False) for s in shapes]
            return self.binder.unnamed(goal, [s for s in named if s.name is None])
        plain = [s for s in shapes if s.where == "after" and s.index is None]
        if len(plain) != 1:
            return False
        if below is not None and gap_above > 0 and gap_below == 0 and _returns_a_name(below.stmt):
            self.binder.add(self.binder.after, below.stmt, Bound("", plain[0]))
            return True
        hint = replace(plain[0], where="either", sure=False)
        for slot in (above, below):
            if slot is not None and not isinstance(slot.stmt, FunctionDef | ClassDef):
                self.binder.near.setdefault(id(slot.stmt), []).append(hint)
        return True


def _takes_one(stmt: Stmt) -> bool:
    """Whether a statement only calls a method of one thing: ``grads = grads.contiguous()``."""
    value = stmt.value if isinstance(stmt, Assign) else None
    return isinstance(value, Call) and isinstance(value.func, Attribute) and not value.args and not value.keywords


def _does_the_same(one: Stmt, other: Stmt) -> bool:
    """Whether two statements call one method with the same literals: what stands above them is said of both."""
    match one, other:
        case Assign(value=Call() as first), Assign(value=Call() as second):
            return _literals(first) is not None and _literals(first) == _literals(second)
    return False


def _literals(call: Call) -> tuple[object, ...] | None:
    """The method that a call is of, and its arguments, where all of them are literals."""
    values = [_literal(arg) for arg in call.args]
    if not isinstance(call.func, Attribute) or call.keywords or not values or None in values:
        return None
    return call.func.attr, *values


def _literal(expr: Expr) -> object:
    if isinstance(expr, UnaryOp) and isinstance(expr.operand, Const):
        return expr.op, expr.operand.value
    return expr.value if isinstance(expr, Const) else None
