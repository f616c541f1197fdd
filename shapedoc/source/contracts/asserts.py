"""What an ``assert`` says of shapes and sizes, once it has passed.

The facts hold expressions of the ir: the interpreter evaluates them in its own state.
"""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.source.ir import (
    Attribute,
    BinOp,
    BoolOp,
    Call,
    Compare,
    Const,
    Expr,
    Name,
    Sequence,
    Slice,
    Span4,
    Starred,
    Subscript,
    UnaryOp,
)

__all__ = [
    "AssertedFact",
    "AxisIs",
    "Divides",
    "RankIs",
    "SameShape",
    "SameSize",
    "ShapeIs",
    "read_assert",
]


@dataclass(frozen=True, slots=True)
class ShapeIs:
    """``tensor.shape == (dims)``; a Starred among the dims stands for any number of axes.

    partial: only the axes from `start` on (``x.shape[1:] == (T, d)`` has 1, ``x.shape[-2:] == ..`` has -2,
    ``x.shape[:2]`` has 0), those after them open if `open_end`.
    """

    tensor: Expr
    dims: tuple[Expr, ...]
    span: Span4
    start: int = 0
    open_end: bool = False


@dataclass(frozen=True, slots=True)
class AxisIs:
    """``tensor.size(axis) == size``, ``tensor.shape[axis] == size``."""

    tensor: Expr
    axis: int
    size: Expr
    span: Span4


@dataclass(frozen=True, slots=True)
class RankIs:
    """``tensor.ndim == 3``, ``x.dim() in (2, 3)``."""

    tensor: Expr
    ranks: tuple[int, ...]
    span: Span4


@dataclass(frozen=True, slots=True)
class SameShape:
    """``left.shape == right.shape``; with start and stop, of these axes only (``a.shape[:2] == b.shape[:2]``)."""

    left: Expr
    right: Expr
    span: Span4
    start: int | None = None
    stop: int | None = None


@dataclass(frozen=True, slots=True)
class Divides:
    """``whole % part == 0``."""

    whole: Expr
    part: Expr
    span: Span4


@dataclass(frozen=True, slots=True)
class SameSize:
    """``left == right`` of two expressions that may be sizes (``d_model == n_heads * d_head``)."""

    left: Expr
    right: Expr
    span: Span4


AssertedFact = ShapeIs | AxisIs | RankIs | SameShape | Divides | SameSize

_EQUAL_CALLS = frozenset(("assertEqual", "assertTupleEqual", "assertSequenceEqual", "assertListEqual", "assert_equal"))


def read_assert(test: Expr, *, holds: bool = True) -> list[AssertedFact]:
    """The facts of a test that is true, or with ``holds=False`` of one that is false (``if x.ndim != 3: raise``)."""
    match test:
        case UnaryOp(op="not", operand=operand):
            return read_assert(operand, holds=not holds)
        case BoolOp(op=op, values=values):
            if (op == "and") is holds:
                return [fact for v in values for fact in read_assert(v, holds=holds)]
            # A size that is 1 or another fits that other, by broadcasting.
            others = [v for v in values if not _is_one(v)]
            return read_assert(others[0]) if holds and len(others) == 1 < len(values) else []
        case Compare(left=left, ops=ops, comparators=comparators):
            return _comparison(test, left, ops, comparators, holds=holds)
        case Call(func=Attribute(attr=attr), args=[first, second, *_]) if holds and attr in _EQUAL_CALLS:
            return _equal(first, second, test.span)
        case Call(func=Attribute(attr="assert_shape" | "assert_rank" as attr), args=[first, second, *_]) if holds:
            return _checked(attr, first, second, test.span)
        case Call(func=Name(id="all"), args=[Sequence(items=items)]) if holds:
            return [fact for item in items for fact in read_assert(item)]
        case _:
            return []


def _is_one(test: Expr) -> bool:
    """``x.shape[0] == 1``."""
    match test:
        case Compare(ops=["=="], comparators=[Const(value=1)]):
            return True
        case _:
            return False


def _comparison(
    test: Compare, left: Expr, ops: list[str], comparators: list[Expr], *, holds: bool
) -> list[AssertedFact]:
    wanted = "==" if holds else "!="
    if len(ops) > 1 and not holds:
        return []
    facts: list[AssertedFact] = []
    for op, right in zip(ops, comparators, strict=True):
        if op == wanted:
            facts.extend(_equal(left, right, test.span))
        elif op == ("in" if holds else "not in") and isinstance(right, Sequence):
            tensor = _rank_of(left)
            ranks = tuple(i.value for i in right.items if isinstance(i, Const) and isinstance(i.value, int))
            if tensor is not None and len(ranks) == len(right.items) > 0:
                facts.append(RankIs(tensor, ranks, test.span))
        left = right
    return facts


def _equal(left: Expr, right: Expr, span: Span4) -> list[AssertedFact]:
    """What ``left == right`` says; the shape may stand on either side."""
    for one, other in ((left, right), (right, left)):
        fact = _about(one, other, span)
        if fact is not None:
            return [fact]
    if _may_be_size(left) and _may_be_size(right):
        return [SameSize(left, right, span)]
    return []


def _about(one: Expr, other: Expr, span: Span4) -> AssertedFact | None:
    tensor = _rank_of(one)
    if tensor is not None:
        number = _integer(other)
        return None if number is None else RankIs(tensor, (number,), span)
    axis = _axis_of(one)
    if axis is not None:
        return AxisIs(axis[0], axis[1], other, span)
    part = _shape_of(one)
    if part is not None:
        return _shape_equals(part, other, span)
    if isinstance(one, BinOp) and one.op == "%" and _integer(other) == 0:
        return Divides(one.left, one.right, span)
    return None


def _shape_equals(part: tuple[Expr, int | None, int | None], other: Expr, span: Span4) -> AssertedFact | None:
    tensor, start, stop = part
    theirs = _shape_of(other)
    if theirs is not None:
        if theirs[1:] == (start, stop):
            return SameShape(tensor, theirs[0], span, start, stop)
        return None
    dims = _listed(other)
    if dims is None:
        return None
    if start is None and stop is None:
        return ShapeIs(tensor, dims, span)
    starred = any(isinstance(d, Starred) for d in dims)
    if starred:
        return None
    if stop is None and start is not None:
        return ShapeIs(tensor, dims, span, start)
    if (start or 0) == 0 and stop is not None and stop > 0 and len(dims) == stop:
        return ShapeIs(tensor, dims, span, 0, True)
    if start is not None and stop is not None and 0 < start < stop and len(dims) == stop - start:
        return ShapeIs(tensor, dims, span, start, True)
    return None


def _shape_of(node: Expr) -> tuple[Expr, int | None, int | None] | None:
    """The tensor of ``x.shape``, ``x.size()``, ``list(x.shape)``, ``x.shape[a:b]``, and the slice."""
    match node:
        case Attribute(value=tensor, attr="shape"):
            return tensor, None, None
        case Call(func=Attribute(value=tensor, attr="size"), args=[], keywords=[]):
            return tensor, None, None
        case Call(func=Name(id="list" | "tuple"), args=[inner]):
            return _shape_of(inner)
        case Call(func=Attribute(attr="Size"), args=[inner]):
            return _shape_of(inner)
        case Call(func=Attribute(value=Name(id="np" | "numpy" | "torch"), attr="shape"), args=[tensor]):
            return tensor, None, None
        case Subscript(value=inner, index=Slice(lower=lower, upper=upper, step=None)):
            whole = _shape_of(inner)
            if whole is None or whole[1:] != (None, None):
                return None
            start, stop = _bound(lower), _bound(upper)
            known = (lower is None or start is not None) and (upper is None or stop is not None)
            return (whole[0], start, stop) if known else None
        case _:
            return None


def _bound(node: Expr | None) -> int | None:
    """A bound of a slice; None where there is none or it is no number."""
    return None if node is None else _integer(node)


def _axis_of(node: Expr) -> tuple[Expr, int] | None:
    """The tensor and axis of ``x.size(0)``, ``x.size()[0]``, ``x.shape[-1]``, ``len(x)``."""
    match node:
        case Call(func=Attribute(value=tensor, attr="size"), args=[index]):
            axis = _integer(index)
            return None if axis is None else (tensor, axis)
        case Call(func=Attribute(value=tensor, attr="size"), args=[], keywords=[("dim", index)]):
            axis = _integer(index)
            return None if axis is None else (tensor, axis)
        case Subscript(value=inner, index=index) if not isinstance(index, Slice):
            whole = _shape_of(inner)
            axis = _integer(index)
            return None if whole is None or axis is None or whole[1:] != (None, None) else (whole[0], axis)
        case _:
            return None


def _rank_of(node: Expr) -> Expr | None:
    """The tensor of ``x.ndim``, ``x.dim()``, ``len(x.shape)``."""
    match node:
        case Attribute(value=tensor, attr="ndim"):
            return tensor
        case Call(func=Attribute(value=tensor, attr="dim" | "ndimension"), args=[]):
            return tensor
        case Call(func=Name(id="len"), args=[inner]):
            whole = _shape_of(inner)
            return None if whole is None or whole[1:] != (None, None) else whole[0]
        case Call(func=Attribute(value=Name(id="np" | "numpy"), attr="ndim"), args=[tensor]):
            return tensor
        case _:
            return None


def _listed(node: Expr) -> tuple[Expr, ...] | None:
    match node:
        case Sequence(kind="tuple" | "list", items=items):
            return tuple(items) if sum(isinstance(i, Starred) for i in items) < 2 else None
        case Call(func=Attribute(attr="Size"), args=[Sequence(items=items)]):
            return tuple(items)
        case Call(func=Name(id="list" | "tuple"), args=[Sequence(items=items)]):
            return tuple(items)
        case _:
            return None


def _checked(attr: str, tensor: Expr, given: Expr, span: Span4) -> list[AssertedFact]:
    """``chex.assert_shape(x, (B, T))`` and ``chex.assert_rank(x, 3)``."""
    if isinstance(tensor, Sequence):
        return []
    if attr == "assert_rank":
        rank = _integer(given)
        return [] if rank is None else [RankIs(tensor, (rank,), span)]
    dims = _listed(given)
    if dims is None or any(isinstance(d, Const) and not isinstance(d.value, int) for d in dims):
        return []
    return [ShapeIs(tensor, dims, span)]


def _integer(node: Expr) -> int | None:
    match node:
        case Const(value=bool()):
            return None
        case Const(value=int(value)):
            return value
        case UnaryOp(op="-", operand=Const(value=int(value))) if not isinstance(value, bool):
            return -value
        case _:
            return None


def _may_be_size(node: Expr) -> bool:
    """Whether an expression may be a size: names, attributes, numbers and arithmetic of them."""
    match node:
        case Const(value=value):
            return isinstance(value, int) and not isinstance(value, bool)
        case Name() | Attribute():
            return True
        case BinOp(op="+" | "-" | "*" | "//", left=left, right=right):
            return _may_be_size(left) and _may_be_size(right)
        case _:
            return False
