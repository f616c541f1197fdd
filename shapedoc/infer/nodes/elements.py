"""What a loop goes over."""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.core.dim import Dim
from shapedoc.core.value import DictValue, Int, Seq, SizeOf, Str, Tensor, Unknown, Value
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.values import Container, Range, Symbolic
from shapedoc.source import ir

__all__ = ["Elements", "elements", "length"]

_EXACT = 4
_LISTED = 24


@dataclass(slots=True, eq=False)
class Elements:
    """The elements of an iterable: all of them (`exact`), or two that stand for `length` of them."""

    items: tuple[Value, ...]
    exact: bool
    length: Dim | None = None


def elements(m: Machine, value: Value, node: ir.Expr | ir.Stmt, *, unpack: bool = False) -> Elements:
    """The elements of any iterable."""
    match value:
        case Seq(rest=None) if len(value.items) <= _LISTED or unpack:
            return Elements(value.items, True)
        case Seq(rest=None):
            return Elements(value.items[:2], False, Dim.of(len(value.items)))
        case Seq():
            assert value.rest is not None
            return Elements((*value.items, value.rest, value.rest)[: max(2, len(value.items) + 1)], False, value.length)
        case Range():
            return _range(m, value)
        case Tensor():
            return _rows(m, value, node, unpack)
        case Container(repeated=True, items=Seq(rest=None)):
            return Elements(value.items.items, False, value.length)
        case Container():
            return elements(m, value.items, node)
        case DictValue():
            keys = tuple(Str(k) if isinstance(k, str) else Unknown("a key") for k in value.items)
            return Elements(keys, value.complete)
        case SizeOf():
            return Elements((m.fresh_int(), m.fresh_int()), False)
        case Symbolic():
            if value.used_as_tensor:
                return _rows(m, value.as_tensor(), node, unpack)
            return Elements((value.child("each"),) * 2, False)
        case Unknown():
            return Elements((Unknown(value.reason, value.events),) * 2, False)
    return Elements((Unknown("an element"),) * 2, False)


def _range(m: Machine, value: Range) -> Elements:
    start, stop, step = (m.sizes.resolve(i.dim) for i in (value.start, value.stop, value.step))
    a, b, c = start.value, stop.value, step.value
    if a is not None and b is not None and c:
        count = len(range(a, b, c))
        if count <= _EXACT:
            return Elements(tuple(Int(Dim.of(i)) for i in range(a, b, c)), True)
    trips = stop - start if c == 1 else None
    first = Int(start) if start.const is not None else m.fresh_int()
    return Elements((first, m.fresh_int()), False, trips)


def _rows(m: Machine, tensor: Tensor, node: ir.Expr | ir.Stmt, unpack: bool) -> Elements:
    shape = m.sizes.shape(tensor.shape)
    if unpack and 0 <= tensor.event < len(m.trace.events):
        made = m.trace.events[tensor.event]
        if (made.lost or made.problems) and made.short != "getitem" and tensor is made.result:
            # It may be that the call gives several results: they have nothing in common.
            return Elements((Unknown(made.lost or "what does not fit", (made.index,)),) * 2, False)
    first = shape.prefix[0].dim if shape.prefix else None
    count = first.const if first is not None else None
    if count is not None and count <= (8 if unpack else _EXACT):
        rows = [_row(m, tensor, Int(Dim.of(i)), node) for i in range(count)]
        return Elements(tuple(rows), True)
    return Elements((_row(m, tensor, m.fresh_int(), node), _row(m, tensor, m.fresh_int(), node)), False, first)


def _row(m: Machine, tensor: Tensor, index: Int, node: ir.Expr | ir.Stmt) -> Value:
    return m.operate("operator.getitem", node, [Arg(tensor), Arg(index)])


def length(m: Machine, value: Value) -> Dim | None:
    """How many elements there are, where that can be known."""
    match value:
        case Seq(rest=None):
            return Dim.of(len(value.items))
        case Seq():
            return value.length
        case DictValue(complete=True):
            return Dim.of(len(value.items))
        case Container(repeated=True):
            return value.length
        case Container():
            return length(m, value.items)
        case Range(start=start, stop=stop, step=step) if step.dim.value == 1:
            return m.sizes.resolve(stop.dim - start.dim)
        case Str(value=str(text)):
            return Dim.of(len(text))
    return None
