"""What operators are worth: arithmetic, comparisons, and, or, not."""

from __future__ import annotations

from typing import TypeGuard

from shapedoc.core.dim import Dim
from shapedoc.core.value import (
    Bool,
    Bound,
    Dtype,
    Float,
    Int,
    Library,
    NoneValue,
    Seq,
    SizeOf,
    SizePart,
    Str,
    Tensor,
    Unknown,
    Value,
)
from shapedoc.infer import numbers
from shapedoc.infer.branches.identity import identity, membership, same_builtin, same_dtype
from shapedoc.infer.branches.join import join
from shapedoc.infer.branches.truth import truth
from shapedoc.infer.machine import Arg, Machine, called, evaluator
from shapedoc.infer.values import Builtin, Symbolic
from shapedoc.source import ir
from shapedoc.source.operators import ARITHMETIC, COMPARISONS

__all__ = ["binary"]


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
        if op == "+" and any(_is_no_tensor(m, *pair) for pair in ((left, right), (right, left))):
            return Unknown("a list, where it is put together with one")
        return m.operate(f"operator.{ARITHMETIC[op]}", node, [Arg(left, a.node), Arg(right, b.node)])
    if isinstance(left, Bool) and left.value is not None:
        left = Int(Dim.of(int(left.value)))
    if isinstance(right, Bool) and right.value is not None:
        right = Int(Dim.of(int(right.value)))
    if isinstance(left, Int | Float) and isinstance(right, Int | Float):
        return numbers.arithmetic(op, left, right, m.sizes, owner=m.function, line=node.span[0])
    match op, left, right:
        case "+", Seq(), Seq() if left.rest is None and right.rest is None:
            return Seq((*left.items, *right.items), left.kind)
        case "+", Seq(kind="tuple", rest=None), Seq(kind="tuple"):
            return Seq((*left.items, *right.items), left.kind, right.rest)
        case "+", Seq(kind="tuple"), Seq(kind="tuple"):
            values = [left.rest or NoneValue(), *right.items, *([right.rest] if right.rest is not None else [])]
            return Seq(left.items, left.kind, join(m, values, node))
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
        case "*", Seq(kind="list"), Unknown() if left.items:
            return Seq((), left.kind, join(m, left.items))
        case (("+" | "%"), Str(), _):
            return Str(left.value + right.value if isinstance(right, Str) and left.value and right.value else None)
    events = tuple(dict.fromkeys(e for v in (left, right) if isinstance(v, Unknown) for e in v.events))
    reason = next((v.reason for v in (left, right) if isinstance(v, Unknown)), f"`{op}` on these values")
    return Unknown(reason, events)


def _is_no_tensor(m: Machine, value: Value, other: Value) -> bool:
    """``x[:n] + [0]`` of a parameter that nobody describes: torch adds no list to a tensor, so that it is no tensor."""
    if not isinstance(value, Tensor) or value.library != "torch" or not isinstance(other, Seq) or other.kind != "list":
        return False
    return m.sizes.shape(value.shape).rank is None


def _decide(value: Symbolic, other: Value, op: str) -> Value:
    """What a parameter is that nobody describes, in arithmetic with `other`."""
    if op == "@" or isinstance(other, Tensor) or value.used_as_tensor:
        return value.as_float() if op != "@" and value.is_number else value.as_tensor()
    if value.size or (isinstance(other, Int) and op in ("//", "%")):
        return value.as_int()
    if isinstance(other, Symbolic):
        return value.as_tensor() if other.used_as_tensor else Unknown(f"parameter `{value.name}`: a number or a tensor")
    return Unknown(f"parameter `{value.name}`: a number or a tensor")


def _turned(m: Machine, arg: Arg, other: Arg, op: str) -> Value:
    """The operand; ``x.T`` of a parameter that nobody describes is a tensor beside another, or in a product."""
    value = arg.value
    if not isinstance(value, Bound):
        return value
    match value:
        case Bound(Symbolic() as owner, ("T" | "mT") as name) if arg.node is not None and (
            op == "@" or isinstance(other.value, Tensor)
        ):
            return m.operate(f"torch.Tensor.{name}", arg.node, [Arg(owner.as_tensor(), arg.node)])
    return value


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
    if isinstance(value, Tensor) or (isinstance(value, Unknown) and value.events and node.op == "~"):
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
        value = _if_at_all(m, part) if values else m.eval(part)
        known = truth(m, value, learn=False)
        if known is None:
            values.append(value)
        elif known == (node.op == "or"):
            return value if not values else join(m, [*values, value], node)
        elif part is node.values[-1]:
            values.append(value)
    return join(m, values, node) if values else Bool(node.op == "and")


def _if_at_all(m: Machine, part: ir.Expr) -> Value:
    """What may not be evaluated: what it would need to be true of sizes is not known to be."""
    sizes = m.sizes
    m.sizes = sizes.fork()
    try:
        return m.eval(part)
    finally:
        m.sizes = sizes


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
    if op in COMPARISONS and (isinstance(left, Tensor) or isinstance(right, Tensor)):
        return m.operate(f"operator.{COMPARISONS[op]}", node, [Arg(left, a.node), Arg(right, b.node)])
    if isinstance(left, Int | Float) and isinstance(right, Int | Float) and op in COMPARISONS:
        return numbers.compare(op, left, right, m.sizes)
    if isinstance(left, Str) and isinstance(right, Str) and left.value is not None and right.value is not None:
        if op in ("==", "!="):
            return Bool((left.value == right.value) == (op == "=="))
        if op in ("in", "not in"):
            return Bool((left.value in right.value) == (op == "in"))
    if isinstance(left, Bool) and isinstance(right, Bool) and op in ("==", "!="):
        known = left.value is not None and right.value is not None
        return Bool((left.value == right.value) == (op == "==") if known else None)
    if isinstance(left, Dtype) and isinstance(right, Dtype) and op in ("==", "!="):
        return same_dtype(left, right, op == "==")
    if isinstance(left, Library) and isinstance(right, Library) and op in ("==", "!="):
        return Bool((left.qualified == right.qualified) == (op == "=="))
    if isinstance(left, Builtin) and isinstance(right, Builtin) and op in ("==", "!="):
        return same_builtin(left, right, op == "==")
    if op in ("in", "not in"):
        return membership(left, right, op == "in")
    if op in ("==", "!=") and (isinstance(left, NoneValue) != isinstance(right, NoneValue)):
        return identity(left, right, op == "==")
    if isinstance(left, Unknown) and op in COMPARISONS and _maybe_tensor(left):
        return m.operate(f"operator.{COMPARISONS[op]}", node, [Arg(left, a.node), Arg(right, b.node)])
    asked = (m.path, node.span) in m.conditions
    if isinstance(left, Symbolic) and not left.size and op in COMPARISONS and isinstance(right, Int) and not asked:
        return m.operate(f"operator.{COMPARISONS[op]}", node, [Arg(left.as_tensor(), a.node), Arg(right, b.node)])
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
        if isinstance(one, Bool) and isinstance(other, Bool) and one.value is not None and (one.parameter or one.flag):
            m.ask(one.parameter or called(one.flag), not one.value)
        if isinstance(one, Int) and one.name and one.dim.const == 1 and isinstance(other, Int):
            m.ask(one.name, 1)


def _maybe_tensor(value: Unknown) -> bool:
    return bool(value.events)
