"""What an assert that has passed, or an ``if`` that raises, lets the rest of the function take for granted."""

from __future__ import annotations

from shapedoc.core.shape import Axis, Run
from shapedoc.core.sizes import Kind
from shapedoc.core.trace import Stated
from shapedoc.core.value import Bool, Float, Int, Tensor, Value
from shapedoc.infer.machine import Machine, span_of
from shapedoc.infer.sizes_of import size_at
from shapedoc.infer.values import Symbolic
from shapedoc.source import ir
from shapedoc.source.contracts import AxisIs, RankIs, SameSize, ShapeIs, read_assert

__all__ = ["assume", "cannot_hold", "checked"]


def assume(m: Machine, test: ir.Expr, *, holds: bool = True) -> None:
    """Learn from the test of an assert (or, where it does not hold, of what raises); contradictions are left alone."""
    for fact in read_assert(test, holds=holds):
        match fact:
            case RankIs(tensor=tensor, ranks=(rank,)):
                _rank(m, _tensor(m, tensor), rank)
            case ShapeIs(tensor=tensor, dims=dims, start=0, open_end=False):
                _shape(m, _tensor(m, tensor), dims, tensor)
            case AxisIs(tensor=tensor, axis=axis, size=size):
                value = _tensor(m, tensor)
                if value is not None:
                    _same(m, size_at(m, value, axis), m.eval(size))
            case SameSize(left=left, right=right):
                _same(m, m.eval(left), m.eval(right))
            case _:
                pass


def cannot_hold(m: Machine, test: ir.Expr) -> bool:
    """Whether an assert ends this walk: it asks for other axes than there are, or for the length of a number.

    Of other sizes less is certain: a number may be that of one round, or of one default.
    """
    counted = m.eval(inner) if (inner := _counted(test)) is not None else None
    if isinstance(counted, Int | Float | Bool) or (isinstance(counted, Symbolic) and counted.size):
        return True
    for fact in read_assert(test):
        if isinstance(fact, RankIs):
            value = _tensor(m, fact.tensor)
            rank = m.sizes.shape(value.shape).rank if value is not None else None
            if rank is not None and rank not in fact.ranks:
                return True
    return False


def _counted(test: ir.Expr) -> ir.Expr | None:
    """The ``x`` of ``len(x) == n``."""
    match test:
        case ir.Compare(left=ir.Call(func=ir.Name(id="len"), args=[inner])):
            return inner
    return None


def _tensor(m: Machine, node: ir.Expr) -> Tensor | None:
    value = m.eval(node)
    if isinstance(value, Symbolic) and not value.size:
        return value.as_tensor()
    return value if isinstance(value, Tensor) else None


def _rank(m: Machine, tensor: Tensor | None, rank: int) -> None:
    if tensor is None:
        return
    shape = m.sizes.shape(tensor.shape)
    missing = rank - (len(shape.items) - 1)
    if shape.run is not None and missing >= 0:
        run = shape.items[shape.run]
        assert isinstance(run, Run)
        m.sizes.bind_run(run, tuple(Axis(m.sizes.fresh()) for _ in range(missing)))


def _shape(m: Machine, tensor: Tensor | None, dims: tuple[ir.Expr, ...], node: ir.Expr) -> None:
    if tensor is None or any(isinstance(d, ir.Starred) for d in dims):
        return
    _rank(m, tensor, len(dims))
    shape = m.sizes.shape(tensor.shape)
    if shape.rank == len(dims):
        for axis, dim in zip(shape.axes, dims, strict=True):
            size = m.eval(dim)
            if not _disagrees(m, tensor, axis, size, node):
                _same(m, Int(axis.dim), size)


def _disagrees(m: Machine, tensor: Tensor, axis: Axis, size: Value, node: ir.Expr) -> bool:
    """Whether the assert certainly fails; it is recorded as a statement that is wrong."""
    if not isinstance(size, Int) or tensor.learned:
        return False  # a parameter may have been put in the place of another
    verdict = m.sizes.compare(axis.dim, size.dim)
    names = m.sizes.resolve(size.dim).syms | m.sizes.resolve(axis.dim).syms
    if not names.isdisjoint(m.misnamed):
        return True  # what is stated of its names is wrong, and nothing is learnt of it
    if verdict.kind is Kind.ONLY_IF and tensor.event >= 0 and any(s.origin == "stated" for s in names):
        return True  # the names of a comment, beside those of the assert
    if not verdict.wrong or (m.loops and axis.dim.const is not None):
        return False  # a number that one round counts to is not that of every round
    if not m.path and tensor.event not in m.spoilt:
        span = span_of(node)
        name = tensor.name or m.trace.source(span)
        inferred, text = m.sizes.show_shape(tensor.shape), f"{m.sizes.show(size.dim)} at an axis"
        m.trace.stated.append(Stated(span, name, text, "assert", inferred, verdict))
    return True


def _same(m: Machine, left: Value, right: Value) -> None:
    values = [v.as_int() if isinstance(v, Symbolic) and v.size else v for v in (left, right)]
    one, other = values
    if not isinstance(one, Int) or not isinstance(other, Int):
        return
    if one.dim.sym is not None and other.dim.const is not None:
        m.sizes.not_exact(one.dim, other.dim.const)
    wrong = m.sizes.compare(one.dim, other.dim).wrong
    if not wrong and m.sizes.equate(one.dim, other.dim):
        return
    if m.sizes.meet(one.dim, other.dim).kind is not Kind.ALWAYS:
        _equate(m, one, other)


def _equate(m: Machine, left: Int, right: Int) -> None:
    """Two names that are apart are one size where the author says so; two sizes of a constructor too."""
    for flexible in (True, False):
        for one, other in ((left, right), (right, left)):
            sym, dim = m.sizes.resolve(one.dim).sym, m.sizes.resolve(other.dim)
            if sym is not None and sym.flexible is flexible and sym.value is None and sym not in dim.syms:
                m.sizes.bind(sym, dim)
                return


def checked(call: ir.Expr) -> ir.Expr | None:
    """The test of an assert that is a call: ``torch._assert(x.shape[0] == n, "...")``."""
    if not isinstance(call, ir.Call) or not call.args:
        return None
    func = call.func
    name = func.attr if isinstance(func, ir.Attribute) else func.id if isinstance(func, ir.Name) else ""
    return call.args[0] if name in ("_assert", "_check") else None
