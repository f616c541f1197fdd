"""``value[index]`` and ``value[index] = ...``."""

from __future__ import annotations

from dataclasses import replace

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.value import (
    Bool,
    Bound,
    DictValue,
    Dtype,
    EllipsisValue,
    Float,
    Int,
    Library,
    NoneValue,
    Seq,
    SizeOf,
    SizePart,
    SliceValue,
    Str,
    Tensor,
    Unknown,
    Value,
)
from shapedoc.infer.branches.join import join
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.nodes.attributes import inherited
from shapedoc.infer.nodes.numbered import note_number, note_real
from shapedoc.infer.sizes_of import size_at
from shapedoc.infer.values import Container, Setting, Symbolic
from shapedoc.ops.calling.bind import as_tensor
from shapedoc.source import ir

__all__ = ["key_of", "settle_index", "subscript"]


def subscript(m: Machine, value: Value, index: Value, node: ir.Subscript) -> Value:
    """``value[index]``."""
    if isinstance(value, Symbolic):
        if value.used_as_tensor or _tensor_index(index):
            value = value.as_tensor()
        else:
            key = key_of(index)
            return value.item(str(key)) if key is not None else Unknown(f"an element of `{value.name}`")
    match value:
        case Tensor():
            if _is_old_number(m, value, index, node.value):
                return value
            args = [Arg(value, node.value), Arg(settle_index(index), node.index)]
            return m.operate("operator.getitem", node, args)
        case Seq():
            return _of_sequence(m, value, index, node)
        case SizeOf():
            return _of_size(m, value, index, node)
        case SizePart():
            return _of_part(m, value, index)
        case DictValue():
            return _of_dict(value, index)
        case Container():
            if isinstance(index, Str) and index.value in value.names:
                return value.items.items[value.names.index(index.value or "")]
            got = _of_sequence(m, value.items, index, node)
            return Container(value.kind, got, repeated=value.repeated) if isinstance(got, Seq) else got
        case Unknown():
            if value.events and isinstance(index, Seq) and _tensor_index(index):
                args = [Arg(as_tensor(value), node.value), Arg(settle_index(index), node.index)]
                return m.operate("operator.getitem", node, args)
            return Unknown(value.reason, value.events)
        case Library() | Dtype():
            return value
        case Bound():
            setting, key = inherited(m, value), key_of(index)
            if setting is not None and isinstance(key, str):
                return setting.child(key)
    return Unknown("an element of this value")


def _is_old_number(m: Machine, value: Tensor, index: Value, node: ir.Expr) -> bool:
    """``loss.data[0]``: a single number had one axis before torch 0.4, and that is how it was read."""
    if not isinstance(index, Int) or index.dim.value != 0 or m.sizes.shape(value.shape).rank != 0:
        return False
    while isinstance(node, ir.Attribute | ir.Call):
        if isinstance(node, ir.Call):
            node = node.func
        elif node.attr == "data":
            return True
        else:
            node = node.value
    return False


def settle_index(index: Value) -> Value:
    """An index in which parameters that nobody describes are taken for what an index can be."""
    match index:
        case Setting():
            return Unknown("an index that another file sets")
        case Symbolic():
            if index.size and not index.used_as_tensor and not index.counted:
                return Unknown(f"`{index.name}`: a number or a list of them")
            return index.as_tensor() if index.used_as_tensor or not index.size else index.as_int()
        case Seq():
            return Seq(tuple(settle_index(i) for i in index.items), index.kind, index.rest)
        case SliceValue():
            return SliceValue(*(_bound(b) for b in (index.lower, index.upper, index.step)))
    return index


def _bound(value: Value) -> Value:
    return value.as_int() if isinstance(value, Symbolic) else value


def _tensor_index(index: Value) -> bool:
    match index:
        case SliceValue() | NoneValue() | EllipsisValue() | Tensor():
            return True
        case Seq():
            return (
                any(isinstance(i, SliceValue | NoneValue | EllipsisValue) for i in index.items) or len(index.items) > 1
            )
    return False


def key_of(index: Value) -> object:
    """A literal key: a string or a number."""
    match index:
        case Str(value=str(text)):
            return text
        case Int() if index.dim.value is not None:
            return index.dim.value
        case Bool(value=bool(b)):
            return b
    return None


def _of_sequence(m: Machine, seq: Seq, index: Value, node: ir.Subscript) -> Value:
    if isinstance(index, SliceValue):
        return _sliced(m, seq, index)
    if isinstance(index, Symbolic):
        index = index.as_int()
    if isinstance(index, Float):
        note_real(m, seq, index, node)
    if isinstance(index, Int):
        if isinstance(node.value, ir.Subscript):
            note_number(m, seq, node)
        number = index.dim.value
        if number is not None and seq.rest is None and -len(seq.items) <= number < len(seq.items):
            return seq.items[number]
        if number is not None and seq.rest is not None and 0 <= number < len(seq.items):
            return seq.items[number]
        shown = m.last_shape
        if number is not None and shown is not None and shown[1] is seq and not (shown[2] or m.watched):
            m.no_such_axis(shown[0], number, len(seq.items), node)
    values = [*seq.items, *((seq.rest,) if seq.rest is not None else ())]
    return (
        _of_its_own(m, join(m, values, node), several=seq.rest is not None)
        if values
        else Unknown("an element of an empty list")
    )


def _of_its_own(m: Machine, element: Value, *, several: bool) -> Value:
    """An element that stands for many: what nobody knows of one number, or tensor, says nothing of the next one.

    several: a loop filled the list, each element in another round. What the first round of another loop takes of it
    need not be as large as what a later round takes.
    """
    if several and isinstance(element, Seq) and element.rest is None:
        return replace(element, items=tuple(_of_its_own(m, v, several=True) for v in element.items))
    if several and isinstance(element, Tensor):
        shape = m.sizes.shape(element.shape)
        later = bool(m.loops) and m.loops[-1][1] > 0
        return replace(element, shape=_renewed(m, shape)) if shape.is_unknown or later else element
    if not isinstance(element, Int):
        return element
    dim = m.sizes.resolve(element.dim)
    open_ = {s: m.sizes.fresh(owner=m.function) for s in dim.syms if s.flexible and not s.name}
    return Int(dim.substitute(open_), element.name) if open_ else element


def _renewed(m: Machine, shape: Shape) -> Shape:
    """A shape of another element, in which the sizes are open that nobody gave a number."""
    if shape.is_unknown:
        return Shape.unknown()
    dims = {i: m.sizes.resolve(i.dim) for i in shape.items if isinstance(i, Axis)}
    own = {i for i, d in dims.items() if any(m.sizes.is_open(s) for s in d.syms)}
    return Shape(tuple(Axis(m.sizes.fresh(owner=m.function)) if i in own else i for i in shape.items))


def _sliced(m: Machine, seq: Seq, index: SliceValue) -> Value:
    numbers = [_number(p) for p in (index.lower, index.upper, index.step)]
    if seq.rest is None and all(ok for ok, _ in numbers):
        lower, upper, step = (n for _, n in numbers)
        if step != 0:
            return Seq(seq.items[slice(lower, upper, step)], seq.kind)
    if seq.items and seq.kind == "tuple" and all(ok and (n is None or n >= 0) for ok, n in numbers[:2]):
        # What is known to stand in front, of a tuple that may go on.
        lower, upper, step = (n for _, n in numbers)
        if step in (None, 1) and (lower or 0) <= len(seq.items):
            known = seq.items[lower:upper]
            return Seq(known, seq.kind, None if upper is not None and upper <= len(seq.items) else seq.rest)
    values = [*seq.items, *((seq.rest,) if seq.rest is not None else ())]
    return Seq((), seq.kind, join(m, values)) if values else seq


def _number(value: Value) -> tuple[bool, int | None]:
    if isinstance(value, NoneValue):
        return True, None
    if isinstance(value, Int) and value.dim.value is not None:
        return True, value.dim.value
    return False, None


def _of_size(m: Machine, value: SizeOf, index: Value, node: ir.Subscript) -> Value:
    if isinstance(index, Int) and index.value is not None:
        return size_at(m, value.tensor, index.value, node)
    if isinstance(index, SliceValue):
        lower, upper = _number(index.lower), _number(index.upper)
        low, high = lower[1], upper[1]
        if lower[0] and upper[0] and isinstance(index.step, NoneValue):
            if low is not None and low < 0 and high is None:
                return Seq(tuple(size_at(m, value.tensor, i, node) for i in range(low, 0)))
            if (low is None or low >= 0) and high is not None and 0 <= high <= 8:
                return Seq(tuple(size_at(m, value.tensor, i, node) for i in range(low or 0, high)))
            if (low is None or low >= 0) and (high is None or -8 <= high < 0):
                return _between(m, value, low or 0, high, node)
    return Unknown("a part of the shape of a tensor of unknown rank")


def _between(m: Machine, value: SizeOf, low: int, high: int | None, node: ir.Subscript) -> Value:
    """``x.shape[1:-1]``: all sizes but some at either end; those are there."""
    if low:
        size_at(m, value.tensor, low - 1, node)
    if high is not None:
        size_at(m, value.tensor, high, node)
    shape = m.sizes.shape(value.tensor.shape)
    if len(shape.suffix) < -(high or 0) or len(shape.prefix) < low:
        return Unknown("a part of the shape of a tensor of unknown rank")
    return SizePart(shape.items[low:high])


def _of_part(m: Machine, value: SizePart, index: Value) -> Value:
    """One of the sizes in a part of a shape: one that is counted from an end whose axes are known."""
    number = index.dim.value if isinstance(index, Int) else None
    if number is None:
        return Unknown("a part of the shape of a tensor of unknown rank")
    counted = value.items[: number + 1] if number >= 0 else value.items[number:]
    wanted = number + 1 if number >= 0 else -number
    axes = [i for i in counted if isinstance(i, Axis)]
    if len(axes) < wanted:
        return m.fresh_int()
    return Int(axes[-1 if number >= 0 else 0].dim)


def _of_dict(value: DictValue, index: Value) -> Value:
    key = key_of(index)
    if key is not None and key in value.items:
        return value.items[key]
    return Unknown("a key that is not known")
