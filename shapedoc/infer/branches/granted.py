"""What a branch may take for granted of the values that its test names."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ONE
from shapedoc.core.value import Bool, Int, NoneValue, Seq, SizeOf, Unknown
from shapedoc.infer.branches.join import OPTIONAL
from shapedoc.infer.branches.ranked import assume_rank
from shapedoc.infer.machine import Machine, Signal
from shapedoc.infer.values import Symbolic
from shapedoc.source import ir

__all__ = [
    "ask_the_others",
    "asks_shape",
    "asks_sizes",
    "holds_of_none",
    "settled_by_setting",
    "take_for_granted",
    "take_quotient",
]

_NO_TENSORS = frozenset(("tuple", "list", "dict", "int", "float", "str"))


def take_for_granted(m: Machine, test: ir.Expr, holds: bool) -> Signal:
    """What a branch may take for granted: ``x is None``, ``x.dim() == 3``."""
    if isinstance(test, ir.UnaryOp) and test.op == "not":
        return take_for_granted(m, test.operand, not holds)
    if isinstance(test, ir.BoolOp):
        if (test.op == "and") == holds:
            for part in test.values:
                take_for_granted(m, part, holds)
        return ""
    if isinstance(test, ir.Call) and holds:
        _assume_kind(m, test)
    if isinstance(test, ir.Name) and not holds:
        value = m.lookup(test.id)
        if isinstance(value, Symbolic) and value.hint == "none" and not value.size:
            m.frame.variables[test.id] = NoneValue()
    if not isinstance(test, ir.Compare) or len(test.ops) != 1:
        return ""
    op, right = test.ops[0], test.comparators[0]
    if isinstance(right, ir.Const) and right.value is None and isinstance(test.left, ir.Name):
        if (op in ("is", "==")) == holds:
            m.frame.variables[test.left.id] = NoneValue()
        else:
            _assume_some(m, test.left.id)
        return ""
    if op == "==" and holds and isinstance(right, ir.Const) and isinstance(right.value, int):
        _assume_one(m, test.left, right.value)
        return assume_rank(m, test.left, right.value)
    return ""


def ask_the_others(m: Machine, rest: Sequence[ir.Stmt]) -> None:
    """Where ``if self.score == "dot"`` holds, the answers that its ``elif`` ask for are walked too, later."""
    while len(rest) == 1 and isinstance(rest[0], ir.If):
        test = rest[0].test
        if isinstance(test, ir.Compare) and isinstance(test.comparators[0], ir.Const):
            outer, m.testing = m.testing, id(rest[0])
            m.eval(test)
            m.testing = outer
        rest = rest[0].orelse


def settled_by_setting(m: Machine, node: ir.If) -> bool | None:
    """``if self.use_global and q_global is not None``: a setting and an argument that belong together.

    Where the setting is on, callers give the argument; that it is off is walked with the other answer.
    """
    if not isinstance(node.test, ir.BoolOp) or node.test.op != "and" or len(node.test.values) != 2 or not node.orelse:
        return None
    setting, given = node.test.values
    if not _is_given(m, given):
        setting, given = given, setting
    value = m.eval(setting)
    if _is_given(m, given) and isinstance(value, Bool) and value.parameter and value.value is True:
        m.ask(value.parameter, False)
        return True
    return None


def take_quotient(m: Machine, test: ir.Expr) -> None:
    """``if self.groups > 1`` of ``groups = heads // kv_heads``, where it is 1: on this way both are one size."""
    if not isinstance(test, ir.Compare):
        return
    for part in (test.left, *test.comparators):
        value = m.eval(part) if isinstance(part, ir.Name | ir.Attribute) else None
        sym = m.sizes.resolve(value.dim).sym if isinstance(value, Int) else None
        if sym is not None and sym.value == 1 and sym.origin.startswith("exact "):
            m.sizes.bind(sym, ONE)


def _is_given(m: Machine, test: ir.Expr) -> bool:
    """``x is not None`` of a parameter that need not be given."""
    match test:
        case ir.Compare(left=ir.Name(id=name), ops=["is not"], comparators=[ir.Const(value=None)]):
            value = m.lookup(name)
            return isinstance(value, Symbolic) and value.hint == "none" and not value.size
    return False


def holds_of_none(m: Machine, node: ir.If) -> bool:
    """Whether a test asks for sizes to be equal that are two quantities, and the program goes on where they are not."""
    if node.orelse and isinstance(node.orelse[-1], ir.Jump | ir.Return):
        return False
    tests = node.test.values if isinstance(node.test, ir.BoolOp) and node.test.op == "and" else [node.test]
    return any(_asks_sizes(t) and _differ(m, t) for t in tests if isinstance(t, ir.Compare))


def _asks_sizes(test: ir.Compare) -> bool:
    """``x.size(-1) == y.size(-1)``, ``x.shape == y.shape``."""
    return test.ops == ["=="] and all(asks_sizes(part) for part in (test.left, *test.comparators))


def asks_sizes(node: ir.Expr) -> bool:
    """Whether an expression is a tensor's sizes, or one of them."""
    if isinstance(node, ir.Subscript):
        node = node.value
    if isinstance(node, ir.Call):
        node = node.func
    return isinstance(node, ir.Attribute) and node.attr in ("size", "shape")


def asks_shape(test: ir.Expr) -> bool:
    """Whether a test asks how many axes there are, or what sizes: ``x.dim() == 3``, ``len(rest) == 2``."""
    match test:
        case ir.UnaryOp(operand=part):
            return asks_shape(part)
        case ir.BoolOp(values=parts):
            return any(map(asks_shape, parts))
        case ir.Compare():
            return any(map(_is_of_shape, (test.left, *test.comparators)))
    return False


def _is_of_shape(node: ir.Expr) -> bool:
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Name):
        return node.func.id == "len"
    named = node.func if isinstance(node, ir.Call) else node
    return asks_sizes(node) or (isinstance(named, ir.Attribute) and named.attr in ("dim", "ndim", "ndimension"))


def _differ(m: Machine, test: ir.Compare) -> bool:
    one, other = m.eval(test.left), m.eval(test.comparators[0])
    pairs = [(one, other)]
    if isinstance(one, Seq) and isinstance(other, Seq) and one.rest is None and other.rest is None:
        if len(one.items) != len(other.items):
            return True
        pairs = list(zip(one.items, other.items, strict=True))
    if isinstance(one, SizeOf) and isinstance(other, SizeOf):
        ours, theirs = (m.sizes.shape(v.tensor.shape).suffix[::-1] for v in (one, other))
        pairs = [(Int(a.dim), Int(b.dim)) for a, b in zip(ours, theirs, strict=False)]
    return any(isinstance(a, Int) and isinstance(b, Int) and m.sizes.compare(a.dim, b.dim).wrong for a, b in pairs)


def _assume_kind(m: Machine, test: ir.Call) -> None:
    """Inside ``if isinstance(x, tuple)`` a parameter that is used as a tensor elsewhere is none."""
    if not isinstance(test.func, ir.Name) or test.func.id != "isinstance" or len(test.args) != 2:
        return
    subject, kinds = test.args
    names = kinds.items if isinstance(kinds, ir.Sequence) else (kinds,)
    if isinstance(subject, ir.Name) and all(isinstance(n, ir.Name) and n.id in _NO_TENSORS for n in names):
        value = m.lookup(subject.id)
        if isinstance(value, Symbolic) and value.used_as_tensor:
            m.frame.variables[subject.id] = Unknown("no tensor where it is of this kind")


def _assume_some(m: Machine, name: str) -> None:
    """Inside ``if x is not None`` the value is what it is where it is not None."""
    value = m.lookup(name)
    if isinstance(value, Unknown) and value.reason == OPTIONAL and value.events:
        m.frame.variables[name] = m.trace.events[value.events[0]].result


def _assume_one(m: Machine, left: ir.Expr, number: int) -> None:
    """Inside ``if x.size(1) == 1`` the size is 1."""
    if number != 1 or not (isinstance(left, ir.Name) or asks_sizes(left)):
        return
    value = m.eval(left)
    sym = m.sizes.resolve(value.dim).sym if isinstance(value, Int) else None
    if sym is not None and sym.value is None:
        m.sizes.bind(sym, ONE)
