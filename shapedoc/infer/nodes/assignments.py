"""What assignments do: to names, attributes and items, to several at once, and in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.value import (
    DictValue,
    Int,
    Layer,
    Seq,
    SizePart,
    SliceValue,
    Str,
    Tensor,
    Unknown,
    Value,
)
from shapedoc.infer.branches.granted import asks_sizes
from shapedoc.infer.branches.join import join
from shapedoc.infer.machine import Arg, Machine, Signal, executor, span_of
from shapedoc.infer.nodes.elements import elements
from shapedoc.infer.nodes.methods import assign_back
from shapedoc.infer.nodes.operators import binary
from shapedoc.infer.nodes.subscripts import key_of, settle_index
from shapedoc.infer.noticed.results import note_results
from shapedoc.infer.supposed.unpacked import named_sizes, note_misnamed
from shapedoc.infer.unread.rotated import rotated
from shapedoc.infer.values import Container, Instance, Setting, Symbolic
from shapedoc.source import ir

__all__ = ["assign"]


@executor(ir.Assign)
def assignment(m: Machine, node: ir.Assign) -> Signal:
    if node.value is None:
        if isinstance(node.targets[0], ir.Name) and len(m.frames) > 1:
            m.frame.variables.setdefault(node.targets[0].id, Unknown("declared, not set"))
        return ""
    value = m.eval(node.value)
    if isinstance(node.value, ir.Name) and isinstance(value, Tensor) and not m.path:
        m.trace.aliases.setdefault(value.uid, span_of(node.value))
    for target in node.targets:
        value = _named_literal(m, target, node.value, value)
        if isinstance(value, Unknown):
            value = rotated(m, target, value, node.value)
        assign(m, target, value, node.value)
        if isinstance(target, ir.Name | ir.Attribute):
            _note_target(m, target, value)
    if m.after_assign is not None:
        m.after_assign(m, node)
    return ""


def _note_target(m: Machine, target: ir.Name | ir.Attribute, value: Value) -> None:
    if isinstance(value, Tensor | Layer) and 0 <= value.event < len(m.trace.events):
        event = m.trace.events[value.event]
        if not event.target and event.result is value:
            event.target = target.id if isinstance(target, ir.Name) else f"self.{target.attr}"


def _named_difference(m: Machine, target: ir.Expr, source: ir.Expr, value: Value) -> Value:
    """Two sizes that are always equal differ by a 0 that stands where they are subtracted."""
    if isinstance(target, ir.Name) and isinstance(source, ir.BinOp) and isinstance(value, Int) and value.value == 0:
        return Int(value.dim, target.id, span_of(source, m.path))
    return value


def _named_literal(m: Machine, target: ir.Expr, source: ir.Expr, value: Value) -> Value:
    """A literal put into a variable becomes a size of that name which knows its number."""
    if isinstance(source, ir.Sequence):
        if not isinstance(value, Seq) or not isinstance(target, ir.Sequence):
            return value
        if len(target.items) == len(source.items) == len(value.items):
            parts = zip(target.items, source.items, value.items, strict=True)
            return Seq(tuple([_named_literal(m, t, s, v) for t, s, v in parts]), value.kind)
    if not isinstance(source, ir.Const) or not isinstance(value, Int):
        return _named_difference(m, target, source, value)
    name = target.id if isinstance(target, ir.Name) else target.attr if isinstance(target, ir.Attribute) else ""
    const = value.dim.const
    if not name or const is None:
        return value
    if const < 2:
        return Int(value.dim, name, span_of(source, m.path))
    sym = Sym(name, value=const, owner=m.function, origin=f"{name} = {const}", line=target.span[0])
    return Int(Dim.of(sym), name)


def assign(m: Machine, target: ir.Expr, value: Value, source: ir.Expr | None = None) -> None:
    """Bind a target to a value; `source` is what stands for the value in the text."""
    match target:
        case ir.Name():
            if isinstance(value, Int):
                value = m.name_size(value, target.id, target.span[0], m.function)
            m.store(target.id, value)
        case ir.Attribute():
            m.patched = m.patched or target.attr == "forward"
            owner = m.eval(target.value)
            if isinstance(owner, Instance):
                if isinstance(value, Int):
                    value = m.name_size(value, target.attr, target.span[0], owner.cls.name)
                m.set_attribute(owner, target.attr, value)
            elif _has_fields(owner) and target.attr not in _OF_TENSORS:
                assign_back(m, target.value, owner.amended(target.attr, value))
            elif isinstance(owner, Tensor | Symbolic) and target.attr == "data" and isinstance(value, Tensor):
                assign(m, target.value, value)
        case ir.Sequence():
            _unpack(m, target, _sizes_of(m, target, note_results(m, target, value, source), source))
        case ir.Subscript():
            _assign_item(m, target, value, source)
        case ir.Starred():
            assign(m, target.value, value)
        case _:
            pass


# What is assigned to a tensor, which a parameter may turn out to be.
_OF_TENSORS = frozenset(("data", "grad", "requires_grad", "names"))


def _has_fields(value: Value) -> TypeGuard[Symbolic]:
    """Whether a value is a parameter that may be a config or a dict: what is assigned to its fields is known then."""
    return isinstance(value, Symbolic) and not isinstance(value, Setting) and not value.used_as_tensor


def _sizes_of(m: Machine, target: ir.Sequence, value: Value, source: ir.Expr | None) -> Value:
    """``B, T, d = x.shape`` of what is not known: numbers, and wherever one of them is used it is the same."""
    if not isinstance(value, Unknown) or source is None or not asks_sizes(source):
        return value
    if any(isinstance(t, ir.Starred) for t in target.items):
        return value
    return Seq(tuple(m.fresh_int() for _ in target.items))


def _unpack(m: Machine, target: ir.Sequence, value: Value) -> None:
    count, exact = len(target.items), True
    star = next((i for i, t in enumerate(target.items) if isinstance(t, ir.Starred)), None)
    value = named_sizes(m, target, value, star)
    if isinstance(value, Symbolic) and not value.used_as_tensor:
        values: Sequence[Value] = [value.child(str(i)) for i in range(count)]
    else:
        got = elements(m, value, target, unpack=True)
        values, exact = got.items, got.exact
        if not exact:
            filler = values[-1] if values else Unknown("an element")
            rows = isinstance(value, Tensor | Symbolic)
            if not rows and isinstance(filler, Tensor) and m.sizes.shape(filler.shape).rank is None:
                # What one element is says nothing of the others.
                filler = Unknown("an element", (filler.event,) if filler.event >= 0 else ())
            begun = value.items[: count if star is None else star] if isinstance(value, Seq) else ()
            values = [*begun, *[filler] * (count - len(begun))]
    if star is not None and not exact:
        values = [*values[:star], Seq((), "list", values[star]), *values[star + 1 :]]
    elif star is not None and len(values) >= count - 1:
        after = count - star - 1
        rest = tuple(values[star : len(values) - after])
        middle = rest[0] if len(rest) == 1 and isinstance(rest[0], SizePart) else Seq(rest, "list")
        values = [*values[:star], middle, *values[len(values) - after :]]
    if len(values) != count:
        _wrong_count(m, target, value, len(values))
        values = [Unknown("unpacking of another length")] * count
    if len(target.items) > 1 and all(isinstance(v, Int) for v in values):
        names = [t.id if isinstance(t, ir.Name) else "" for t in target.items]
        note_misnamed(m, names, [v.dim for v in values if isinstance(v, Int)])
    sizes: list[Dim] = []
    again: list[tuple[Dim, Dim]] = []
    for place, (t, v) in enumerate(zip(target.items, values, strict=True)):
        before = m.frame.variables.get(t.id) if isinstance(t, ir.Name) else None
        assign(m, t, v)
        stored = m.lookup(t.id) if isinstance(t, ir.Name) and isinstance(v, Int) else None
        if isinstance(t, ir.Name) and t.id.strip("_") and isinstance(stored, Int):
            sizes.append(stored.dim)
            if isinstance(before, Int) and before.name == t.id and t.id.strip("_"):
                m.sizes.alike(stored.dim, before.dim)
                again.append((before.dim, stored.dim))
                if place == 0 and stored.dim.const == 1:
                    m.sizes.meet(before.dim, stored.dim)  # one batch of all, by the author's word: here it is 1
    if len(sizes) > 1 and m.last_shape is not None and m.last_shape[1] is value and not m.last_shape[2]:
        m.sizes.apart(*sizes)
        for old, new in again:
            m.sizes.alike(old, new)


def _wrong_count(m: Machine, target: ir.Sequence, value: Value, got: int) -> None:
    """Unpacking the sizes of a tensor into another number of names."""
    if m.last_shape is not None and m.last_shape[1] is value:
        tensor, _, beside = m.last_shape
        m.wrong_rank(tensor, len(target.items) - beside, got - beside, target)


def _assign_item(m: Machine, target: ir.Subscript, value: Value, source: ir.Expr | None) -> None:
    owner = m.eval(target.value)
    index = m.eval(target.index)
    if isinstance(owner, Symbolic):
        owner = owner.as_tensor() if owner.used_as_tensor else owner
    match owner:
        case Tensor():
            args = [Arg(owner, target.value), Arg(settle_index(index), target.index), Arg(value, source)]
            result = m.operate("operator.setitem", target, args)
            if isinstance(result, Tensor):
                assign_back(m, target.value, result)
        case DictValue():
            key = key_of(index)
            items = {**owner.items, key: value} if key is not None else dict(owner.items)
            assign_back(m, target.value, DictValue(items, owner.complete and key is not None))
        case Seq():
            number = index.dim.value if isinstance(index, Int) else None
            if number is not None and owner.rest is None and -len(owner.items) <= number < len(owner.items):
                changed = list(owner.items)
                changed[number] = value
                assign_back(m, target.value, Seq(tuple(changed), owner.kind))
            elif not isinstance(index, SliceValue):
                every = [*owner.items, *((owner.rest,) if owner.rest is not None else ()), value]
                size = owner.length if owner.rest is not None else Dim.of(len(owner.items))
                assign_back(m, target.value, Seq((), owner.kind, join(m, every, target), size))
            else:
                assign_back(m, target.value, Seq((), owner.kind, Unknown("an element of a list that was changed")))
        case Symbolic() if _has_fields(owner) and isinstance(index, Str) and index.value is not None:
            assign_back(m, target.value, owner.amended(index.value, value))
        case Container() if isinstance(index, Str) and index.value is not None:
            m.add_modules(owner, [value], index.value)
        case _:
            pass


def _keep_rank(m: Machine, result: Tensor, changed: Tensor) -> None:
    """What is changed in place keeps its axes, whatever is added to it; a number of NumPy is no array yet."""
    ours = m.sizes.shape(changed.shape)
    if ours.rank and m.sizes.shape(result.shape).run is not None:
        result.shape = ours
        if result.event >= 0:
            m.trace.events[result.event].shape = ours


@executor(ir.AugAssign)
def augmented(m: Machine, node: ir.AugAssign) -> Signal:
    old, value = m.eval(node.target), m.eval(node.value)
    result = binary(m, node.op, Arg(old, node.target), Arg(value, node.value), node)
    if isinstance(old, Tensor) or (isinstance(old, Symbolic) and old.used_as_tensor):
        if isinstance(old, Tensor) and isinstance(result, Tensor) and node.op != "@":
            _keep_rank(m, result, old)
        m.changes(result)
    if isinstance(node.target, ir.Subscript):
        _assign_item(m, node.target, result, None)
    else:
        assign(m, node.target, result)
    if m.after_assign is not None:
        m.after_assign(m, node)
    return ""
