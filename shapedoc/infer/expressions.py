"""What every kind of expression is worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from shapedoc.core.dim import Dim
from shapedoc.core.value import (
    Bool,
    Bound,
    DictValue,
    Dtype,
    EllipsisValue,
    Float,
    Int,
    NoneValue,
    Seq,
    SizeOf,
    SliceValue,
    Str,
    Tensor,
    Unknown,
    Value,
)
from shapedoc.infer import attributes, numbers
from shapedoc.infer.builtins import BUILTINS
from shapedoc.infer.identity import identity, membership, same_dtype
from shapedoc.infer.join import join, settled, snapshot
from shapedoc.infer.machine import EVALUATE, Arg, Machine
from shapedoc.infer.subscripts import subscript
from shapedoc.infer.truth import truth
from shapedoc.infer.values import Builtin, Function, SizePart, Symbolic
from shapedoc.source import ir

__all__: list[str] = []

_OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "&": "and_",
    "|": "or_",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
}
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def evaluator(kind: type) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register the function for a node kind."""

    def register(function: Callable[..., Value]) -> Callable[..., Value]:
        EVALUATE[kind] = function
        return function

    return register


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
    return Unknown(f"name `{node.id}` is not known")


@evaluator(ir.Attribute)
def attribute(m: Machine, node: ir.Attribute) -> Value:
    return attributes.get(m, m.eval(node.value), node.attr, node)


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


@evaluator(ir.Call)
def call(m: Machine, node: ir.Call) -> Value:
    from shapedoc.infer.calls import call_expression

    return call_expression(m, node)


@evaluator(ir.BinOp)
def binop(m: Machine, node: ir.BinOp) -> Value:
    left, right = m.eval(node.left), m.eval(node.right)
    return binary(m, node.op, Arg(left, node.left), Arg(right, node.right), node)


def binary(m: Machine, op: str, a: Arg, b: Arg, node: ir.Expr | ir.Stmt) -> Value:
    """``a op b`` for anything."""
    left, right = _turned(m, a, b, op), _turned(m, b, a, op)
    if isinstance(left, Symbolic):
        left = _decide(left, right, op)
    if isinstance(right, Symbolic):
        right = _decide(right, left, op)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return m.operate(f"operator.{_OPERATORS[op]}", node, [Arg(left, a.node), Arg(right, b.node)])
    if isinstance(left, Bool) and left.value is not None:
        left = Int(Dim.of(int(left.value)))
    if isinstance(right, Bool) and right.value is not None:
        right = Int(Dim.of(int(right.value)))
    if isinstance(left, Int | Float) and isinstance(right, Int | Float):
        return numbers.arithmetic(op, left, right, m.sizes, owner=m.function, line=node.span[0])
    match op, left, right:
        case "+", Seq(), Seq() if left.rest is None and right.rest is None:
            return Seq((*left.items, *right.items), left.kind)
        case "+", Seq(), Seq():
            values = [*left.items, *right.items, *(r for r in (left.rest, right.rest) if r is not None)]
            return Seq((), left.kind, join(m, values, node))
        case "+", (Seq() | SizeOf() | SizePart()), (Seq() | SizeOf() | SizePart()):
            parts = [p.items if isinstance(p, Seq) else (p,) for p in (left, right)]
            return Seq((*parts[0], *parts[1]))
        case "*", Seq(rest=None), Int():
            return _repeat(m, left, right)
        case "*", Int(), Seq(rest=None):
            return _repeat(m, right, left)
        case (("+" | "%"), Str(), _):
            return Str(left.value + right.value if isinstance(right, Str) and left.value and right.value else None)
    events = tuple(dict.fromkeys(e for v in (left, right) if isinstance(v, Unknown) for e in v.events))
    reason = next((v.reason for v in (left, right) if isinstance(v, Unknown)), f"`{op}` on these values")
    return Unknown(reason, events)


def _decide(value: Symbolic, other: Value, op: str) -> Value:
    """What a parameter is that nobody describes, in arithmetic with `other`."""
    if op == "@" or isinstance(other, Tensor) or value.used_as_tensor:
        return value.as_tensor() if op == "@" or value.used_as_tensor or not value.size else value.as_float()
    if value.size or (isinstance(other, Int) and op in ("//", "%")):
        return value.as_int()
    if isinstance(other, Symbolic):
        return value.as_tensor() if other.used_as_tensor else Unknown(f"parameter `{value.name}`: a number or a tensor")
    return Unknown(f"parameter `{value.name}`: a number or a tensor")


def _turned(m: Machine, arg: Arg, other: Arg, op: str) -> Value:
    """The operand; ``x.T`` of a parameter that nobody describes is a tensor beside another, or in a product."""
    match arg.value:
        case Bound(Symbolic() as owner, ("T" | "mT") as name) if arg.node is not None and (
            op == "@" or isinstance(other.value, Tensor)
        ):
            return m.operate(f"torch.Tensor.{name}", arg.node, [Arg(owner.as_tensor(), arg.node)])
    return arg.value


def _repeat(m: Machine, seq: Seq, times: Int) -> Value:
    count = times.dim.value
    if count is not None and 0 <= count * len(seq.items) <= 64:
        return Seq(seq.items * count, seq.kind)
    if len(seq.items) == 1:
        return Seq((), seq.kind, seq.items[0], times.dim)
    return Seq((), seq.kind, join(m, seq.items)) if seq.items else seq


@evaluator(ir.UnaryOp)
def unary(m: Machine, node: ir.UnaryOp) -> Value:
    value = m.eval(node.operand)
    if node.op == "not":
        known = truth(m, value)
        return Bool(None if known is None else not known)
    if isinstance(value, Symbolic):
        value = value.as_tensor() if value.used_as_tensor or node.op == "~" else value.as_int() if value.size else value
    if isinstance(value, Tensor):
        op = {"-": "neg", "+": "pos", "~": "invert"}[node.op]
        return m.operate(f"operator.{op}", node, [Arg(value, node.operand)])
    if isinstance(value, Int | Float):
        if node.op == "-":
            return numbers.negate(value)
        return value if node.op == "+" else m.fresh_int()
    return value if isinstance(value, Unknown) else Unknown(f"`{node.op}` on this value")


@evaluator(ir.BoolOp)
def boolop(m: Machine, node: ir.BoolOp) -> Value:
    values: list[Value] = []
    for part in node.values:
        value = m.eval(part)
        known = truth(m, value)
        if known is None:
            values.append(value)
        elif known == (node.op == "or"):
            return value if not values else join(m, [*values, value], node)
        elif part is node.values[-1]:
            values.append(value)
    return join(m, values, node) if values else Bool(node.op == "and")


@evaluator(ir.Compare)
def compare(m: Machine, node: ir.Compare) -> Value:
    left, left_node = m.eval(node.left), node.left
    result: Value = Bool(True)
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = m.eval(right_node)
        result = _compare(m, op, Arg(left, left_node), Arg(right, right_node), node)
        if isinstance(result, Bool) and result.value is False:
            return result
        left, left_node = right, right_node
    return result if len(node.ops) == 1 else Bool() if not isinstance(result, Tensor) else result


def _compare(m: Machine, op: str, a: Arg, b: Arg, node: ir.Compare) -> Value:
    left, right = a.value, b.value
    _note_question(m, left, right)
    if op in ("is", "is not"):
        return identity(left, right, op == "is")
    if isinstance(left, Symbolic) and not isinstance(right, NoneValue | Str):
        left = left.as_tensor() if left.used_as_tensor else left.as_int() if left.size else left
    if isinstance(right, Symbolic):
        right = right.as_tensor() if right.used_as_tensor else right.as_int() if right.size else right
    if op in ("==", "!=") and not isinstance(right, Tensor) and _is_padding(b.value):
        right = b.value.as_int()  # tokens against the index of padding
    if op in _COMPARISONS and (isinstance(left, Tensor) or isinstance(right, Tensor)):
        return m.operate(f"operator.{_COMPARISONS[op]}", node, [Arg(left, a.node), Arg(right, b.node)])
    if isinstance(left, Int | Float) and isinstance(right, Int | Float) and op in _COMPARISONS:
        return numbers.compare(op, left, right, m.sizes)
    if isinstance(left, Str) and isinstance(right, Str) and left.value is not None and right.value is not None:
        if op in ("==", "!="):
            return Bool((left.value == right.value) == (op == "=="))
        if op in ("in", "not in"):
            return Bool((left.value in right.value) == (op == "in"))
    if isinstance(left, Dtype) and isinstance(right, Dtype) and op in ("==", "!="):
        return same_dtype(left, right, op == "==")
    if op in ("in", "not in"):
        return membership(left, right, op == "in")
    if op in ("==", "!=") and (isinstance(left, NoneValue) != isinstance(right, NoneValue)):
        return identity(left, right, op == "==")
    if isinstance(left, Unknown) and op in _COMPARISONS and _maybe_tensor(left):
        return m.operate(f"operator.{_COMPARISONS[op]}", node, [Arg(left, a.node), Arg(right, b.node)])
    if isinstance(left, Symbolic) and not left.size and op in _COMPARISONS and isinstance(right, Int):
        return m.operate(f"operator.{_COMPARISONS[op]}", node, [Arg(left.as_tensor(), a.node), Arg(right, b.node)])
    return Bool()


def _is_padding(value: Value) -> TypeGuard[Symbolic]:
    """Whether a parameter is the index of padding."""
    return isinstance(value, Symbolic) and value.name.lower().startswith("pad") and not value.used_as_tensor


def _note_question(m: Machine, left: Value, right: Value) -> None:
    """A parameter of a constructor that is compared with a string: the other answer is walked too, later."""
    for one, other in ((left, right), (right, left)):
        name = one.parameter if isinstance(one, Str) else one.name if isinstance(one, Symbolic) and one.size else ""
        if name and isinstance(other, Str) and other.value is not None and not other.parameter:
            m.ask(name, other.value)
        if isinstance(one, Int) and one.name and one.dim.const == 1 and isinstance(other, Int):
            m.ask(one.name, 1)


def _maybe_tensor(value: Unknown) -> bool:
    return bool(value.events)


@evaluator(ir.IfExp)
def ifexp(m: Machine, node: ir.IfExp) -> Value:
    known = truth(m, m.eval(node.test))
    if known is not None:
        return m.eval(node.body if known else node.orelse)
    values: list[Value] = []

    def walk(branch: ir.Expr) -> Callable[[], str]:
        def run() -> str:
            values.append(settled(m.sizes, m.eval(branch)))
            return ""

        return run

    states = [snapshot(m, walk(node.body)), snapshot(m, walk(node.orelse))]
    m.sizes.join([s.sizes for s in states])
    return join(m, values, node)


@evaluator(ir.Sequence)
def sequence(m: Machine, node: ir.Sequence) -> Value:
    items: list[Value] = []
    for item in node.items:
        value = m.eval(item)
        if not isinstance(item, ir.Starred):
            items.append(value)
            continue
        match value:
            case Seq(rest=None):
                items.extend(value.items)
            case SizeOf() if m.sizes.shape(value.tensor.shape).rank is not None:
                items.extend(Int(a.dim) for a in m.sizes.shape(value.tensor.shape).axes)
            case SizePart() | SizeOf():
                items.append(value)
            case _:
                return Unknown("a list of unknown length")
    return Seq(tuple(items), node.kind)


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
    from shapedoc.infer.loops import comprehend

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
