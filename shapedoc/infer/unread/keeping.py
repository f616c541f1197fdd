"""Callables that nobody describes, called after what keeps the axes of a tensor: ``self.dropout``, ``self.norm1``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.value import Tensor, Unknown, Value
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.operands import operand_of
from shapedoc.infer.values import Symbolic
from shapedoc.source import ir

__all__ = ["keeps_axes"]

# A norm and a dropout change elements alone. An activation may be one that halves the last axis.
_KEEPS = re.compile(r"(\w+_)?(dropout|(layer_?|rms_?|batch_?)?norm)(_?\d+)?")
_BENDS = re.compile(r"(\w+_)?(act|act_?fn|activation(_fn|_function)?|non_?linearity)(_?\d+)?")


def keeps_axes(
    m: Machine, func: Value, args: Sequence[Arg], keywords: Mapping[str, Arg], node: ir.Expr | ir.Stmt
) -> Value | None:
    """What a module of ``self`` makes of its one argument that is not known, and is called after what it does.

    What it does to the elements stays unknown: the event has the name of no operation. Of a tensor of unknown rank it
    says nothing.
    """
    if not isinstance(node, ir.Call) or len(args) != 1 or keywords or not isinstance(func, Unknown | Symbolic):
        return None
    called, value = node.func, args[0].value
    if not isinstance(called, ir.Attribute) or not isinstance(called.value, ir.Name) or called.value.id != "self":
        return None
    tensor = value._tensor if isinstance(value, Symbolic) else value
    if not isinstance(tensor, Tensor) or m.sizes.shape(tensor.shape).rank is None:
        return None
    if _KEEPS.fullmatch(called.attr):
        shape = m.sizes.shape(tensor.shape)
    elif _BENDS.fullmatch(called.attr):
        shape = _bent(m, m.sizes.shape(tensor.shape))
    else:
        return None
    result = Tensor(shape, "", tensor.library)
    m.emit(f"self.{called.attr}", node, (operand_of("input", tensor, args[0].node, m.path),), result)
    return result


def _bent(m: Machine, shape: Shape) -> Shape:
    """A shape whose last axis, if it has any, may have another size."""
    if not shape.suffix:
        return shape
    return Shape((*shape.items[:-1], Axis(m.sizes.fresh(owner=m.function))))
