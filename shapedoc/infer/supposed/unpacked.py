"""Sizes that are unpacked into names: how many names there are says how many axes a tensor of unknown rank has.

``B, T, C = x.shape``, ``B, T = x.shape[:-1]``, ``b, n, _, h = *x.shape, self.heads`` and ``B, *rest, C = x.shape``.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.axis_names import BATCH
from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.value import Int, Seq, SizeOf, SizePart, Tensor, Unknown, Value
from shapedoc.infer.machine import Machine
from shapedoc.infer.sizes_of import shape_of
from shapedoc.source import ir

__all__ = ["named_sizes", "note_misnamed"]

# Names that nothing but a batch has.


def note_misnamed(m: Machine, names: Sequence[str], dims: Sequence[Dim]) -> None:
    """Note that the code takes another axis for the batch than a statement does: ``bsz, length, _ = x.shape``.

    Where the docstring says `(length, batch, d)`, neither of the two names says anything.
    """
    syms = [m.sizes.resolve(dim).sym for dim in dims]
    stated = [i for i, s in enumerate(syms) if s is not None and s.origin == "stated" and s.name.lower() in BATCH]
    taken = [i for i, name in enumerate(names) if name.lower() in BATCH]
    if len(stated) == len(taken) == 1 and stated != taken:
        m.misnamed.update(s for s in (syms[stated[0]], syms[taken[0]]) if s is not None and s.origin == "stated")


def named_sizes(m: Machine, target: ir.Sequence, value: Value, star: int | None) -> Value:
    """What is unpacked, with the sizes of a shape one by one where the names say how many there are.

    star: the place of the name that takes the rest, None where no name does.
    """
    line = target.span[0]
    match value:
        case SizeOf() if star is None or m.sizes.shape(value.tensor.shape).run is None:
            return _whole(m, value.tensor, len(target.items), line)
        case SizeOf():
            assert star is not None
            return _with_rest(m, value.tensor, star, len(target.items) - star - 1, line)
        case SizePart() if star is None:
            sizes = _part(m, value.items, len(target.items), line)
            return value if sizes is None else Seq(sizes)
        case Seq(rest=None) if star is None:
            return _spread(m, value, len(target.items), line)
    return value


def _whole(m: Machine, tensor: Tensor, count: int, line: int) -> Value:
    """``B, T, C = x.shape`` of a tensor of unknown rank says what its rank is, and names its axes."""
    shape = m.sizes.shape(tensor.shape)
    if shape.run is not None:
        sizes = _part(m, shape.items, count, line) if m.sources.unpacking else None
        if sizes is None:
            return Seq(tuple(m.fresh_int() for _ in range(count)))  # which is which is not known: each is one number
    return shape_of(m, tensor)


def _part(m: Machine, items: Sequence[Axis | Run], count: int, line: int) -> tuple[Int, ...] | None:
    """The sizes of so many axes, if that is how many the items can stand for."""
    shape = m.sizes.shape(Shape(tuple(items)))
    if shape.run is None:
        return tuple(Int(a.dim) for a in shape.axes)
    missing = count - (len(shape.items) - 1)
    run = shape.items[shape.run]
    if missing < 0 or not m.sources.unpacking:
        return None
    assert isinstance(run, Run)
    m.sizes.bind_run(run, tuple(Axis(m.sizes.fresh(owner=m.function, line=line)) for _ in range(missing)))
    return tuple(Int(a.dim) for a in m.sizes.shape(shape).axes)


def _spread(m: Machine, value: Seq, count: int, line: int) -> Value:
    """``b, n, _, h = *x.shape, self.heads``: the shape takes as many names as the other values leave."""
    shapes = [(i, item) for i, item in enumerate(value.items) if isinstance(item, SizeOf | SizePart)]
    if len(shapes) != 1:
        return value
    place, item = shapes[0]
    part = m.sizes.shape(item.tensor.shape).items if isinstance(item, SizeOf) else item.items
    wanted = count - (len(value.items) - 1)
    # As many names as values: ``dims, kind = x.shape[:-1], x.dtype`` spreads nothing.
    sizes = _part(m, part, wanted, line) if wanted > 1 else None
    if sizes is None:
        return value
    return Seq((*value.items[:place], *sizes, *value.items[place + 1 :]), value.kind)


def _with_rest(m: Machine, tensor: Tensor, before: int, after: int, line: int) -> Value:
    """``B, *rest, C = x.shape`` of a tensor of unknown rank: sizes at both ends, and what lies between them."""
    shape = m.sizes.shape(tensor.shape)
    if not m.sources.unpacking or shape.run is None:
        return Unknown("rank unknown")
    run = shape.items[shape.run]
    assert isinstance(run, Run)
    first, last = max(0, before - len(shape.prefix)), max(0, after - len(shape.suffix))
    if (first and len(shape.suffix) > after) or (last and len(shape.prefix) > before):
        return Unknown("rank unknown")  # they may be axes that are known from the other end
    if first or last:
        new = [Axis(m.sizes.fresh(owner=m.function, line=line)) for _ in range(first + last)]
        m.sizes.bind_run(run, (*new[:first], *run.without(first + last), *new[first:]))
        shape = m.sizes.shape(tensor.shape)
    sizes = [Int(i.dim) if isinstance(i, Axis) else i for i in shape.items]
    ends = (sizes[:before], sizes[len(sizes) - after :])
    if any(isinstance(s, Run) for end in ends for s in end):
        return Unknown("rank unknown")
    between = SizePart(shape.items[before : len(sizes) - after])
    return Seq((*(s for s in ends[0] if isinstance(s, Int)), between, *(s for s in ends[1] if isinstance(s, Int))))
