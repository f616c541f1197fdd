"""Calls that stand as statements of their own: nobody takes what they give."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.trace import Event
from shapedoc.infer.machine import Machine, Signal, span_of
from shapedoc.source import ir

__all__ = ["drops_result", "note_discarded", "watched"]

_CHANGES = frozenset(("out", "inplace"))


def note_discarded(m: Machine, node: ir.Call, begin: int) -> None:
    """Note of the operation that a statement is, that its result is thrown away.

    Not at the top of a file or a cell, where an expression may stand to be shown, nor inside of ``try``, where it may
    stand to see whether it raises, nor of what changes an operand.
    """
    top = len(m.frames) == 1 and not m.loops and not m.branch
    if top or m.watched:
        return
    span = span_of(node, m.path)
    for event in reversed(m.trace.events[begin:]):
        if event.span == span and event.short != "phi":
            event.discarded = drops_result(node, event)
            return


def drops_result(node: ir.Call, event: Event) -> bool:
    """Whether a call that stands as a statement, and whose operation this is, drops what it makes."""
    if _stands_again(node) or any(_changes_an_operand(event, *k) for k in node.keywords):
        return False
    called = node.func.attr if isinstance(node.func, ir.Attribute) else ""
    return not called.endswith("_") or event.short.endswith(".forward")


def _changes_an_operand(event: Event, name: str | None, value: ir.Expr) -> bool:
    """Whether a keyword says where the result goes, as ``out=x`` and ``inplace=True`` do, or may say so.

    Source: NumPy documentation, numpy.nan_to_num, copy: "Whether to create a copy of x (True) or to replace values
    in-place (False)". Elsewhere, as in ``astype``, it only spares a copy, and the result is dropped all the same.
    """
    if name == "copy":
        return event.short == "nan_to_num" and isinstance(value, ir.Const) and value.value is False
    return name is None or name in _CHANGES


def _stands_again(node: ir.Call) -> bool:
    """Whether the first argument stands again behind, as where NumPy is to put the result: ``np.clip(x, 0, 1, x)``."""
    first, *others = node.args or (None,)
    return isinstance(first, ir.Name) and any(isinstance(o, ir.Name) and o.id == first.id for o in others)


def watched(m: Machine, body: Sequence[ir.Stmt]) -> Signal:
    """Execute statements whose exceptions are caught."""
    m.watched += 1
    try:
        return m.run(body)
    finally:
        m.watched -= 1
