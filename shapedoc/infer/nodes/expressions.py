"""What every kind of expression is worth."""

from __future__ import annotations

from collections.abc import Callable

from shapedoc.core.dim import Dim
from shapedoc.core.value import (
    Bool,
    DictValue,
    EllipsisValue,
    Float,
    Int,
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
from shapedoc.infer.branches.join import join, settled, snapshot
from shapedoc.infer.branches.truth import condition, truth
from shapedoc.infer.machine import Machine, evaluator
from shapedoc.infer.nodes import attributes
from shapedoc.infer.nodes.builtins import BUILTINS
from shapedoc.infer.nodes.seen import as_seen
from shapedoc.infer.nodes.starred import brought
from shapedoc.infer.nodes.subscripts import subscript
from shapedoc.infer.values import Builtin, Function, Symbolic
from shapedoc.source import ir

__all__: list[str] = []


@evaluator(ir.Const)
def const(m: Machine, node: ir.Const) -> Value:
    key = (type(node.value), node.value)
    known = _literals.get(key)
    if known is None:
        if len(_literals) > 10_000:
            _literals.clear()
        known = _literals[key] = _literal(node)
    return known


_literals: dict[tuple[type, object], Value] = {}


def _literal(node: ir.Const) -> Value:
    match node.value:
        case None:
            return NoneValue()
        case bool(b):
            return Bool(b)
        case int(n):
            return Int(Dim.of(n))
        case float(f):
            return Float(f, known=True)
        case str(s):
            return Str(s)
        case x if x is ...:
            return EllipsisValue()
    return Unknown("a literal that is no size")


@evaluator(ir.Name)
def name(m: Machine, node: ir.Name) -> Value:
    value = m.lookup(node.id)
    if value is not None:
        return value
    if node.id in BUILTINS:
        return Builtin(node.id)
    if (found := brought(m, node.id)) is not None:
        return found
    m.unbound |= {(len(m.frames), node.id)}
    return Unknown(f"name `{node.id}` is not known")


@evaluator(ir.Attribute)
def attribute(m: Machine, node: ir.Attribute) -> Value:
    value = m.eval(node.value)
    if isinstance(value, Unknown):
        value = as_seen(m, value, node)
    return attributes.get(m, value, node.attr, node)


@evaluator(ir.Subscript)
def subscription(m: Machine, node: ir.Subscript) -> Value:
    return subscript(m, m.eval(node.value), m.eval(node.index), node)


@evaluator(ir.Slice)
def slice_(m: Machine, node: ir.Slice) -> Value:
    parts = [m.eval(p) if p is not None else NoneValue() for p in (node.lower, node.upper, node.step)]
    return SliceValue(*parts)


@evaluator(ir.Starred)
def starred(m: Machine, node: ir.Starred) -> Value:
    return m.eval(node.value)


@evaluator(ir.IfExp)
def ifexp(m: Machine, node: ir.IfExp) -> Value:
    outer, m.testing = m.testing, id(node)
    known = truth(m, condition(m, node.test))
    m.testing = outer
    if known is not None:
        m.sides[known].add(id(node))
        return m.eval(node.body if known else node.orelse)
    values: list[Value] = []

    def walk(branch: ir.Expr) -> Callable[[], str]:
        def run() -> str:
            values.append(settled(m.sizes, m.eval(branch)))
            return ""

        return run

    states = [snapshot(m, walk(node.body)), snapshot(m, walk(node.orelse))]
    m.sizes.join([s.sizes for s in states])
    tensors = tuple(v.event for v in values if isinstance(v, Tensor) and v.event >= 0)
    if tensors and any(_is_given_with_another(m, node.test, v) for v in values):
        return Unknown("a tensor in one branch, a parameter in another", tensors)
    return join(m, values, node)


def _is_given_with_another(m: Machine, test: ir.Expr, value: Value) -> bool:
    """Whether a side of a choice is a parameter, and the test asks whether another is given.

    ``mask(x) if cache is None else step``: with a cache, a step is what its caller counts, and no mask.
    """
    match test:
        case ir.Compare(left=ir.Name(id=asked), ops=["is" | "is not"], comparators=[ir.Const(value=None)]):
            other = m.lookup(asked)
            return (
                isinstance(value, Symbolic)
                and not value.used_as_tensor
                and isinstance(other, Symbolic)
                and other is not value
            )
    return False


@evaluator(ir.Sequence)
def sequence(m: Machine, node: ir.Sequence) -> Value:
    items: list[Value] = []
    whole: tuple[Tensor, Value, int] | None = None
    for item in node.items:
        value = m.eval(item)
        if not isinstance(item, ir.Starred):
            items.append(value)
            continue
        if m.last_shape is not None and m.last_shape[1] is value:
            whole = m.last_shape
        match value:
            case Seq(rest=None):
                items.extend(value.items)
            case SizeOf() if m.sizes.shape(value.tensor.shape).rank is not None:
                items.extend(Int(a.dim) for a in m.sizes.shape(value.tensor.shape).axes)
            case SizePart() | SizeOf():
                items.append(value)
            case _:
                return Unknown("a list of unknown length")
    found = Seq(tuple(items), node.kind)
    if whole is not None and isinstance(whole[1], Seq):
        m.last_shape = (whole[0], found, len(items) - len(whole[1].items))
    return found


@evaluator(ir.Dict)
def dictionary(m: Machine, node: ir.Dict) -> Value:
    items: dict[object, Value] = {}
    complete = True
    for key, value in zip(node.keys, node.values, strict=True):
        got = m.eval(value)
        if key is None:
            if isinstance(got, DictValue):
                items.update(got.items)
                complete = complete and got.complete
            else:
                complete = False
            continue
        k = m.eval(key)
        if isinstance(k, Str) and k.value is not None:
            items[k.value] = got
        elif isinstance(k, Int) and k.dim.value is not None:
            items[k.dim.value] = got
        else:
            complete = False
    return DictValue(items, complete)


@evaluator(ir.Comprehension)
def comprehension(m: Machine, node: ir.Comprehension) -> Value:
    from shapedoc.infer.nodes.loops import comprehend

    return comprehend(m, node)


@evaluator(ir.Lambda)
def lambda_(m: Machine, node: ir.Lambda) -> Value:
    frame = m.frame
    closure = {**frame.closure, **frame.variables} if len(m.frames) > 1 else dict(frame.closure)
    defaults = {p.name: m.eval(p.default) for p in node.params if p.default is not None}
    return Function(node, closure, frame.owner, defaults, frame.module)


@evaluator(ir.NamedExpr)
def named(m: Machine, node: ir.NamedExpr) -> Value:
    value = m.eval(node.value)
    m.store(node.target.id, value)
    return value


@evaluator(ir.FString)
def fstring(m: Machine, node: ir.FString) -> Value:
    for part in node.values:
        m.eval(part)
    return Str()


@evaluator(ir.Opaque)
def opaque(m: Machine, node: ir.Opaque) -> Value:
    values = [m.eval(v) for v in node.values]
    if node.kind in ("yield", "await") and values:
        if node.kind == "yield":
            m.frame.returned.append(Seq((), "list", values[0]))
        return values[0] if node.kind == "await" else Unknown("what a generator is sent")
    return Unknown(f"`{node.kind}` is not followed")
