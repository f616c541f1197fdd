"""Numbers that index a list: one that was an index already, ``states[i - 1][i - 1]``, and one that is no whole number.

The number of a beam, ``ids / vocab_size``, is real, and stays so where ``.item()`` takes it out of its tensor.
"""

from __future__ import annotations

from shapedoc.core.trace import Operand
from shapedoc.core.value import Seq, Tensor, Unknown, Value
from shapedoc.infer.machine import Machine, span_of
from shapedoc.source import ir

__all__ = ["note_number", "note_real"]


def note_number(m: Machine, seq: Seq, node: ir.Subscript) -> None:
    """Record a pair of tensors that is indexed with the number which it was itself found by."""
    outer = node.value
    if m.path or m.watched or not isinstance(outer, ir.Subscript) or seq.rest is not None or len(seq.items) != 2:
        return
    if isinstance(node.index, ir.Const) or not _is_alike(outer.index, node.index):
        return
    match seq.items:
        case Tensor() as first, Tensor() as second:
            pair = (Operand("h", first, shape=first.shape), Operand("c", second, shape=second.shape))
            m.emit("numbered", node, pair, Unknown("one of two, by a number"))


def note_real(m: Machine, seq: Seq, index: Value, node: ir.Subscript) -> None:
    """Record a list that is indexed with a number which was taken out of a tensor of floats."""
    tensor = m.taken_out.get(id(index), (None, None))[1]
    if tensor is None or m.path or m.watched:
        return
    operand = Operand("index", tensor, span=span_of(node.index), shape=tensor.shape)
    m.emit("real index", node, (Operand("input", seq), operand), Unknown("an element by a real number"))


def _is_alike(one: ir.Expr, other: ir.Expr) -> bool:
    """Whether two numbers are written in the same way, of names and literals."""
    match one, other:
        case ir.Name(id=a), ir.Name(id=b):
            return a == b
        case ir.Const(value=a), ir.Const(value=b):
            return a == b
        case ir.BinOp(op=a), ir.BinOp(op=b):
            return a == b and _is_alike(one.left, other.left) and _is_alike(one.right, other.right)
    return False
