"""Both sides of an arrow, ``# (B, T) -> (B, 1, 1, T)``, held against the axes that a statement puts in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shapedoc.core.sizes import Kind, Sameness
from shapedoc.core.span import Span
from shapedoc.core.trace import Stated
from shapedoc.core.value import Tensor
from shapedoc.infer.machine import Machine
from shapedoc.source import ir
from shapedoc.source.contracts import Bound

__all__ = ["begins_arrow", "note_arrow"]

_MORE = frozenset(("unsqueeze", "expand_dims"))
_SAME = frozenset(
    ("transpose", "permute", "contiguous", "float", "long", "bool", "to", "type", "cuda", "logical_not", "invert")
)
_DEPTH = 8


def note_arrow(m: Machine, statement: ir.Stmt, before: Sequence[Bound], bound: Bound, made: Tensor) -> bool:
    """Note an arrow that puts in other axes than its statement does, whatever the rank is; whether it does."""
    rank = _made_of(m, statement, before, bound, made)
    if rank is None or m.path:
        return False
    given, shape = before[0].shape, bound.shape
    inferred = f"{given} with {rank - len(given.dims)} more"
    said = Stated(Span(*shape.span), bound.name, str(shape), shape.form, inferred, Sameness(Kind.NEVER), True)
    said = replace(said, event=made.event, function=m.function, driver=m.driver)
    m.trace.stated.append(said)
    return True


def begins_arrow(m: Machine, before: Sequence[Bound], bound: Bound, made: Tensor) -> bool:
    """Whether a statement comes to the left side of an arrow, and what the right side says is made further down.

    It has come to as many axes as the left side has from other ones: nothing that the arrow says has been left out.
    """
    rank = m.sizes.shape(made.shape).rank
    if len(before) != 1 or rank is None or before[0].shape.rank != rank or bound.shape.rank == rank or made.event < 0:
        return False
    given = [o.value for o in m.trace.events[made.event].operands if isinstance(o.value, Tensor)]
    return bool(given) and all(m.sizes.shape(t.shape).rank not in (None, rank) for t in given)


def _made_of(m: Machine, statement: ir.Stmt, before: Sequence[Bound], bound: Bound, made: Tensor) -> int | None:
    """How many axes a statement makes of as many as the left side has, where the right side has others.

    None where it does something else than putting in axes of size 1, or where an arrow says how many there may be.
    """
    if (
        not _starts_with_a_name(statement)
        or len(before) != 1
        or before[0].shape.rank is None
        or bound.shape.rank is None
        or not bound.shape.sure
    ):
        return None
    if before[0].shape.alternatives or bound.shape.alternatives:
        return None
    events, more, value = m.trace.events, 0, made
    for _ in range(_DEPTH):
        event = events[value.event] if 0 <= value.event < len(events) else None
        if event is None or not statement.span[:2] <= (event.span.line, event.span.column) <= statement.span[2:]:
            break
        given = event.operands[0].value if event.operands else None
        if event.short not in _MORE | _SAME or not isinstance(given, Tensor):
            return None
        more += event.short in _MORE
        value = given
    rank = before[0].shape.rank + more
    return rank if more and rank != bound.shape.rank else None


def _starts_with_a_name(statement: ir.Stmt) -> bool:
    """Whether a statement assigns methods of a variable: ``mask.unsqueeze(1)``, and no part of one."""
    node = statement.value if isinstance(statement, ir.Assign) else None
    while isinstance(node, ir.Call | ir.Attribute):
        node = node.func if isinstance(node, ir.Call) else node.value
    return isinstance(node, ir.Name)
