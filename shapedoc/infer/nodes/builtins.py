"""Python's own functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isfinite

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Shape
from shapedoc.core.sizes import ABSENT
from shapedoc.core.value import (
    Bool,
    DictValue,
    Float,
    Int,
    NoneValue,
    Seq,
    SizeOf,
    Str,
    Tensor,
    Unknown,
    Value,
)
from shapedoc.infer import numbers
from shapedoc.infer.branches.join import join
from shapedoc.infer.branches.truth import truth
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.nodes.elements import Elements, elements, length
from shapedoc.infer.sizes_of import size_at
from shapedoc.infer.values import Range, Symbolic
from shapedoc.source import ir

__all__ = ["BUILTINS", "Keywords", "Node", "builtin", "call"]

Keywords = Mapping[str, Arg]
Node = ir.Expr | ir.Stmt
Function = Callable[[Machine, Sequence[Arg], Keywords, Node], Value]

BUILTINS: dict[str, Function] = {}


def builtin(*names: str) -> Callable[[Function], Function]:
    """Register the function for these names."""

    def register(function: Function) -> Function:
        for name in names:
            BUILTINS[name] = function
        return function

    return register


def call(m: Machine, name: str, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    """Call a builtin."""
    return BUILTINS[name](m, args, keywords, node)


def _number(value: Value) -> Value:
    return value.as_int() if isinstance(value, Symbolic) and value.size else value


@builtin("len")
def len_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    value = args[0].value if args else NoneValue()
    if isinstance(value, Symbolic) and value.used_as_tensor:
        value = value.as_tensor()
    if isinstance(value, Tensor):
        return size_at(m, value, 0, node)
    if isinstance(value, SizeOf):
        rank = m.sizes.shape(value.tensor.shape).rank
        return m.fresh_int() if rank is None else Int(Dim.of(rank))
    count = length(m, value)
    return m.fresh_int() if count is None else Int(count)


@builtin("range")
def range_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    numbers_ = [v.as_int() if isinstance(v, Symbolic) else v for v in (a.value for a in args)]
    ints = [v if isinstance(v, Int) else m.fresh_int() for v in numbers_]
    zero, one = Int(Dim.of(0)), Int(Dim.of(1))
    if len(ints) == 1:
        return Range(zero, ints[0], one)
    if len(ints) in (2, 3):
        return Range(ints[0], ints[1], ints[2] if len(ints) == 3 else one)
    return Unknown("range without arguments")


@builtin("int", "round")
def int_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    value = _number(args[0].value) if args else Int(Dim.of(0))
    if isinstance(value, Int):
        return value
    if isinstance(value, Bool) and value.value is not None:
        return Int(Dim.of(int(value.value)))
    if isinstance(value, Float) and value.known and value.value is not None:
        return _truncate(m, value, node)
    told = isinstance(value, Bool) or (bool(args) and _tells(args[0].node))
    return m.fresh_count(node.span[0]) if told else m.fresh_int()


def _tells(node: Node | None) -> bool:
    """Whether an expression says yes or no, so that as a number it is 1 or 0."""
    match node:
        case ir.Compare() | ir.UnaryOp(op="not"):
            return True
        case ir.BoolOp(values=parts):
            return any(_tells(part) for part in parts)
    return False


def _truncate(m: Machine, value: Float, node: Node) -> Value:
    if not value.powers:
        finite = value.value is not None and abs(value.value) < 1e15
        return Int(Dim.of(int(value.value or 0))) if finite else m.fresh_int()
    if all(e == int(e) for _, e in value.powers) and value.value is not None and isfinite(value.value):
        above, below = Dim.of(1), Dim.of(1)
        for dim, exponent in value.powers:
            for _ in range(abs(int(exponent))):
                above, below = (above * dim, below) if exponent > 0 else (above, below * dim)
        coefficient = Fraction(value.value).limit_denominator(4096)
        above, below = above * coefficient.numerator, below * coefficient.denominator
        return Int(m.sizes.floordiv(above, below, owner=m.function, line=node.span[0]))
    return m.fresh_int()


@builtin("float")
def float_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    value = args[0].value if args else Float(0.0, known=True)
    if isinstance(value, Str) and value.value is not None:
        text = value.value.strip().lower().lstrip("+-")
        sign = -1.0 if value.value.strip().startswith("-") else 1.0
        if text in ("inf", "infinity"):
            return Float(sign * float("inf"), known=True)
        return Float()
    value = _number(value)
    return numbers.as_float(value) if isinstance(value, Int | Float) else Float()


@builtin("bool")
def bool_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    return Bool(truth(m, args[0].value) if args else False)


@builtin("str", "repr", "format", "chr", "hex", "input", "open", "id", "hash", "ord", "ascii", "bin")
def str_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    value = args[0].value if args else Str("")
    return value if isinstance(value, Str) else Str()


@builtin("print", "setattr", "delattr", "exit", "quit", "exec")
def print_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    return NoneValue()


@builtin("tuple", "list", "set", "frozenset", "sorted", "reversed", "iter")
def sequence(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    name = node.func.id if isinstance(node, ir.Call) and isinstance(node.func, ir.Name) else "list"
    kind = "tuple" if name == "tuple" else "list"
    if not args:
        return Seq((), "tuple" if kind == "tuple" else "list")
    value = args[0].value
    if isinstance(value, SizeOf):
        return value
    got = elements(m, value, node)
    items = tuple(reversed(got.items)) if name == "reversed" and got.exact else got.items
    if name in ("sorted", "set", "frozenset") and got.items:
        one = join(m, got.items, node)
        return Seq((one,) * len(items), "list") if got.exact else Seq((), "list", one, got.length)
    if got.exact:
        return Seq(items, "tuple" if kind == "tuple" else "list")
    return Seq((), "list", join(m, items, node) if items else Unknown("an element"), got.length)


@builtin("dict")
def dict_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    items: dict[object, Value] = {k: a.value for k, a in keywords.items()}
    if args and isinstance(args[0].value, DictValue):
        return DictValue({**args[0].value.items, **items}, args[0].value.complete)
    return DictValue(items, complete=not args)


@builtin("enumerate")
def enumerate_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    got = elements(m, args[0].value, node) if args else None
    if got is None:
        return Unknown("enumerate without arguments")
    if got.exact:
        return Seq(tuple(Seq((Int(Dim.of(i)), v)) for i, v in enumerate(got.items)), "list")
    return _standing(
        [Seq((Int(Dim.of(0)) if i == 0 < len(got.items) - 1 else m.fresh_int(), v)) for i, v in enumerate(got.items)],
        got.length,
    )


def _standing(rounds: Sequence[Value], length: Dim | None) -> Seq:
    """A list of so many elements of which these stand for all: the first as they are, the last for the rest."""
    if not rounds:
        return Seq((), "list", Unknown("an element"), length)
    return Seq(tuple(rounds[:-1]), "list", rounds[-1], length)


@builtin("zip")
def zip_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    parts = [elements(m, a.value, node) for a in args]
    if not parts:
        return Seq((), "list")
    exact = [p for p in parts if p.exact]
    if exact:
        count = min(len(p.items) for p in exact)
        rows = []
        for i in range(count):
            rows.append(Seq(tuple(_nth(p, i) for p in parts if p.items)))
        return Seq(tuple(rows), "list")
    lengths = [p.length for p in parts if p.length is not None]
    rounds = range(max(len(p.items) for p in parts) or 1)
    return _standing([Seq(tuple(_nth(p, i) for p in parts)) for i in rounds], lengths[0] if lengths else None)


def _nth(got: Elements, index: int) -> Value:
    """What stands for the element of this number."""
    return got.items[min(index, len(got.items) - 1)] if got.items else Unknown("an element")


@builtin("map")
def map_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    from shapedoc.infer.nodes.calls import call_value

    if len(args) != 2:
        return Unknown("map over several lists")
    got = elements(m, args[1].value, node)
    values = tuple(call_value(m, args[0].value, [Arg(v)], {}, node) for v in got.items)
    if got.exact:
        return Seq(values, "list")
    return Seq((), "list", values[-1] if values else Unknown("an element"), got.length)


@builtin("next")
def next_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    """The next of what is walked: a parameter of a model is a tensor, whatever its shape."""
    walked = args[0].node if args else None
    if isinstance(walked, ir.Call) and isinstance(walked.func, ir.Attribute) and walked.func.attr == "parameters":
        return Tensor(Shape.unknown(), kind="float", learned=True)
    return Unknown("a builtin that is not followed")


@builtin(
    "filter",
    "vars",
    "dir",
    "globals",
    "locals",
    "object",
    "memoryview",
    "bytes",
    "bytearray",
    "slice",
    "complex",
    "eval",
    "divmod",
    "aiter",
    "anext",
    "compile",
    "callable",
    "property",
    "staticmethod",
    "classmethod",
)
def unfollowed(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    return Unknown("a builtin that is not followed")


@builtin("sum")
def sum_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    from shapedoc.infer.nodes.operators import binary

    got = elements(m, args[0].value, node) if args else None
    if got is None or not got.items:
        return Unknown("a sum of nothing that is known")
    total = got.items[0]
    if not got.exact and isinstance(total, Tensor | Unknown):
        return total
    if not got.exact:
        return m.fresh_count(node.span[0]) if any(map(_may_be_0, got.items)) else m.fresh_int()
    for value in got.items[1:]:
        total = binary(m, "+", Arg(total), Arg(value), node)
    return total


def _may_be_0(value: Value) -> bool:
    """Whether a number counts, as what says whether something holds, what may not be there."""
    return isinstance(value, Bool) or (isinstance(value, Int) and any(s.origin == ABSENT for s in value.dim.syms))


@builtin("max", "min")
def extreme(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    values = [_number(a.value) for a in args]
    if len(values) == 1:
        got = elements(m, values[0], node)
        values = list(got.items) if got.exact else []
    name = node.func.id if isinstance(node, ir.Call) and isinstance(node.func, ir.Name) else "max"
    known = [v.dim.value for v in values if isinstance(v, Int)]
    if values and len(known) == len(values) and None not in known:
        best = max(n for n in known if n is not None) if name == "max" else min(n for n in known if n is not None)
        return values[known.index(best)]
    if any(isinstance(v, Float) for v in values):
        return Float()
    if (name == "max" and 0 in known) or (name == "min" and any(map(_may_be_0, values))):
        return m.fresh_count(node.span[0])  # `max(0, n - T)` is what is left over, if anything is
    sizes = [v.dim for v in values if isinstance(v, Int)]
    if values and len(sizes) == len(values):
        return Int(m.sizes.either(*sizes))
    return m.fresh_int(line=node.span[0])


@builtin("abs")
def abs_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    value = args[0].value if args else NoneValue()
    if isinstance(value, Tensor):
        return m.operate("torch.abs", node, args)
    return value if isinstance(value, Int) and (value.dim.value or 0) > 0 else Float()


@builtin("pow")
def pow_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    from shapedoc.infer.nodes.operators import binary

    return binary(m, "**", args[0], args[1], node) if len(args) == 2 else Unknown("pow with a modulus")


@builtin("any", "all")
def quantify(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    return Bool()


@builtin("super")
def super_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    frame = m.frame
    if frame.owner is not None and frame.receiver is not None:
        from shapedoc.infer.values import Super

        return Super(frame.receiver, frame.owner)
    return Unknown("super outside a method")


@builtin(
    "AssertionError",
    "ValueError",
    "TypeError",
    "RuntimeError",
    "NotImplementedError",
    "Exception",
    "KeyError",
    "IndexError",
    "AttributeError",
    "StopIteration",
    "ImportError",
    "ModuleNotFoundError",
    "OSError",
    "FileNotFoundError",
    "KeyboardInterrupt",
    "ZeroDivisionError",
    "BaseException",
    "Warning",
    "UserWarning",
    "DeprecationWarning",
    "NotImplemented",
)
def exception(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    return Unknown("an exception")
