"""The shape of a tensor as a value: ``x.shape`` and the size of one axis."""

from __future__ import annotations

from shapedoc.core.shape import Axis, Run
from shapedoc.core.value import Int, Seq, SizeOf, Tensor, Unknown, Value
from shapedoc.infer.machine import Machine
from shapedoc.source import ir

__all__ = ["prefix_of", "shape_of", "size_at"]


def shape_of(m: Machine, tensor: Tensor) -> Value:
    """``x.shape``: sizes where the rank is known."""
    shape = m.sizes.shape(tensor.shape)
    if shape.run is not None:
        return SizeOf(tensor)
    sizes = Seq(tuple(Int(a.dim) for a in shape.axes))
    m.last_shape = (tensor, sizes, 0)
    return sizes


def size_at(m: Machine, tensor: Tensor, index: int, node: ir.Expr | ir.Stmt | None = None) -> Value:
    """``x.shape[index]``; where the rank is unknown, that there is such an axis is learnt.

    node: what asks for it; None where the size is but compared with what an assert says.
    """
    shape = m.sizes.shape(tensor.shape)
    if shape.run is None:
        axes = shape.axes
        if -len(axes) <= index < len(axes):
            return Int(axes[index].dim)
        if node is not None and not m.watched:
            m.no_such_axis(tensor, index, len(axes), node)
        return Unknown("axis out of range")
    run = shape.items[shape.run]
    assert isinstance(run, Run)
    known = shape.prefix if index >= 0 else shape.suffix
    missing = (index + 1 if index >= 0 else -index) - len(known)
    if missing > 0:
        if missing > 8:
            return Unknown("rank unknown")
        other = shape.suffix if index >= 0 else shape.prefix
        if len(other) > 1 or (other and len(known) + missing > 1):
            return m.fresh_int()  # it may be one of those that are counted from the other end
        if len(known) < len(shape.axes) and missing + len(shape.axes) > 3:
            return m.fresh_int()  # It may be one of the axes that are known from the other end.
        new = tuple(
            Axis(m.sizes.fresh(owner=m.function, line=node.span[0] if node is not None else 0)) for _ in range(missing)
        )
        rest = run.without(missing)
        m.sizes.bind_run(run, (*new, *rest) if index >= 0 else (*rest, *new))
        return size_at(m, tensor, index, node)
    return Int(known[index].dim)


def prefix_of(m: Machine, tensor: Tensor) -> str:
    """Where the methods of a tensor are found; what nobody describes is an array in a file that imports no torch."""
    if tensor.library == "numpy":
        return "numpy.ndarray"
    return "numpy.ndarray" if "numpy" in m.libraries and "torch" not in m.libraries else "torch.Tensor"
