"""Tests that ask how many axes a tensor has, and what their branches know by that."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.value import Tensor
from shapedoc.infer.branches.join import State
from shapedoc.infer.machine import Machine, Signal
from shapedoc.infer.values import Symbolic
from shapedoc.source import ir

__all__ = ["assume_rank", "told_apart"]

_RANK_TESTS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _ranked(node: ir.Expr) -> ir.Expr | None:
    """What an expression gives the rank of: ``x.dim()``, ``x.ndim``, ``len(x.shape)``, ``len(x.size())``."""
    match node:
        case ir.Call(func=ir.Attribute(value=source, attr="dim" | "ndimension")):
            return source
        case ir.Attribute(value=source, attr="ndim"):
            return source
        case ir.Call(func=ir.Name(id="len"), args=[ir.Attribute(value=source, attr="shape")]):
            return source
        case ir.Call(func=ir.Name(id="len"), args=[ir.Call(func=ir.Attribute(value=source, attr="size"))]):
            return source
    return None


def told_apart(test: ir.Expr, states: Sequence[State]) -> None:
    """Forget the rank that a variable has in one branch where the test sends that rank there and others elsewhere.

    After ``if x.ndim > 1: ... x of two axes ... else: ...`` x has one axis as well as two. states: where the test
    holds, and where it does not.
    """
    match test:
        case ir.Compare(left=left, ops=[op], comparators=[ir.Const(value=int(number))]) if op in _RANK_TESTS:
            source = _ranked(left)
        case _:
            return
    if not isinstance(source, ir.Name) or len(states) != 2 or any(s.signal for s in states):
        return
    sides = [(s, s.variables.get(source.id)) for s in states]
    shapes = [s.sizes.shape(v.shape) if isinstance(v, Tensor) else None for s, v in sides]
    if None in shapes or sum(s is not None and s.rank is None for s in shapes) != 1:
        return
    for holds, (state, value), shape in zip((True, False), sides, shapes, strict=True):
        known = shape.rank if shape is not None else None
        if known is not None and isinstance(value, Tensor) and _RANK_TESTS[op](known, number) == holds:
            state.variables[source.id] = replace(value, shape=Shape.unknown())


def assume_rank(m: Machine, left: ir.Expr, rank: int) -> Signal:
    """Inside ``if x.dim() == 3`` (or ``x.ndim``, ``len(x.shape)``) the rank is known; one of more never does."""
    source = _ranked(left)
    if source is None:
        return ""
    value = m.eval(source)
    if isinstance(value, Symbolic) and value.used_as_tensor:
        value = value.as_tensor()
    if isinstance(value, Tensor):
        shape = m.sizes.shape(value.shape)
        if rank < len(shape.axes):
            return "raise"
        if shape.run is not None:
            run = shape.items[shape.run]
            assert isinstance(run, Run)
            missing = rank - (len(shape.items) - 1)
            m.sizes.bind_run(run, tuple(Axis(m.sizes.fresh()) for _ in range(missing)))
    return ""
