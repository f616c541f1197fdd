"""What a module's width says of the join that it is fed: along which axis parts of other widths were put together."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.trace import Event, Problem
from shapedoc.core.value import Int, Layer, Opaque, Seq, Tensor, Value
from shapedoc.infer.machine import Arg, Machine

__all__ = ["learn_from_width"]

_WIDTHS = ("in_features", "input_size")


def learn_from_width(m: Machine, layer: Layer, args: Sequence[Arg]) -> None:
    """``Linear(a + b, c)(cat((x, y), 1))`` with x as wide as ``a``: axis 1 is the last, and both have two axes.

    Joined along another axis, the result would be as wide as each part, which one of them is not.
    """
    width = next((v for n in _WIDTHS if isinstance(v := layer.config.get(n), Int)), None)
    value = args[0].value if args else None
    if width is None or not isinstance(value, Tensor):
        return
    event = m.trace.events[value.event] if 0 <= value.event < len(m.trace.events) else None
    if event is None or event.short != "cat" or event.result is not value:
        return
    _meant_beside(m, event, width.dim)
    dim, parts = event.value("dim"), _parts(event.value("tensors"))
    if m.sizes.shape(value.shape).run is None:
        return
    rank = dim.value + 1 if isinstance(dim, Int) and dim.value is not None and dim.value > 0 else 0
    shapes = [m.sizes.shape(p.shape) for p in parts]
    if rank and shapes and all(_can_have(s, rank) for s in shapes) and _side_by_side(m, shapes, width.dim):
        for shape in shapes:
            _settle(m, shape, rank)
        known = [m.sizes.shape(p.shape) for p in parts]
        if any(s.rank != rank for s in known):
            return  # two parts have the same unknown axes, and not as many known ones: the join does not fit
        for column in zip(*(s.axes[:-1] for s in known), strict=True):
            for axis in column[1:]:
                m.sizes.meet(column[0].dim, axis.dim)
        value.shape = event.shape = Shape((*known[0].axes[:-1], Axis(width.dim)))


def _meant_beside(m: Machine, event: Event, width: Dim) -> None:
    """Two parts of unknown width joined along axis 0, for a module as wide as two sizes: "parts-not-beside".

    What a later walk takes for the widths of the parts was learnt from this very module, and says nothing.
    """
    dim, tensors = event.value("dim"), event.value("tensors")
    parts = tensors.items if isinstance(tensors, Seq) and tensors.rest is None else ()
    if not isinstance(dim, Int) or dim.value != 0 or not _is_sum(m.sizes.resolve(width), len(parts)):
        return
    last = [_last(m, p.as_tensor() if isinstance(p, Opaque) else p) for p in parts]
    unknown = all(d is None or (d.sym is not None and not d.sym.name) for d in last)
    if unknown or event.span in m.beside:
        m.beside.add(event.span)
        event.problems = (*event.problems, Problem("parts-not-beside", ("tensors",), loud=False))


def _last(m: Machine, value: Value | None) -> Dim | None:
    """The size of the last axis of a tensor, where there is one that is known to be."""
    suffix = m.sizes.shape(value.shape).suffix if isinstance(value, Tensor) else ()
    return suffix[-1].dim if suffix else None


def _is_sum(width: Dim, count: int) -> bool:
    """Whether a size is the sum of so many others, ``a + b``, ``2*d`` or, of three, ``a + 2*d``."""
    coefficients = [c for monomial, c in width.terms if monomial]
    if count < 2 or len(coefficients) < len(width.terms):
        return False
    return min(coefficients, default=0) > 0 and sum(coefficients) == count


def _parts(value: Value | None) -> list[Tensor]:
    """The tensors of a list that is written out; none where one of them is not known to be one."""
    if not isinstance(value, Seq) or value.rest is not None:
        return []
    found = [v.as_tensor() if isinstance(v, Opaque) else v for v in value.items]
    tensors = [v for v in found if isinstance(v, Tensor)]
    return tensors if len(tensors) == len(found) and len(found) > 1 else []


def _can_have(shape: Shape, rank: int) -> bool:
    return len(shape.items) == rank if shape.run is None else len(shape.axes) <= rank


def _side_by_side(m: Machine, shapes: Sequence[Shape], width: Dim) -> bool:
    """Whether one part is certainly narrower than the module, and all of them together are not otherwise."""
    last = [s.suffix[-1].dim if s.suffix else None for s in shapes]
    known = [d for d in last if d is not None]
    if not any(m.sizes.compare(d, width).kind is Kind.NEVER for d in known):
        return False
    if len(known) < len(last):
        return True
    total = known[0]
    for dim in known[1:]:
        total = total + dim
    return m.sizes.compare(total, width).kind is Kind.ALWAYS


def _settle(m: Machine, shape: Shape, rank: int) -> None:
    """A shape that has so many axes."""
    if shape.run is not None:
        run = shape.items[shape.run]
        assert isinstance(run, Run)
        m.sizes.bind_run(run, tuple(Axis(m.sizes.fresh()) for _ in range(rank - len(shape.axes))))
