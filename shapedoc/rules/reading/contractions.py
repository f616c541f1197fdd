"""Which axes a product sums: of the operand that one asks about, and of the other."""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.core.patterns import ELLIPSIS, Einsum, PatternError, einops_einsum
from shapedoc.core.patterns import einsum as read_einsum
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.trace import Event, Operand
from shapedoc.core.value import Bool, Int, NoneValue, Seq, Str, Tensor, Value
from shapedoc.rules.reading.flow import axis_at, shape_at

__all__ = ["PRODUCTS", "Contraction", "contraction", "is_number", "literal", "names", "reduced_axes", "tensor_operands"]


def names(text: str) -> frozenset[str]:
    """The words of a text, as a set: names of ops in the short form of `Event.short`."""
    return frozenset(text.split())


PRODUCTS = names("matmul bmm mm mv dot vdot inner einsum __matmul__")


@dataclass(frozen=True, slots=True, eq=False)
class Contraction:
    """A product of two tensors, seen from one of them.

    summed: the axis of `ours` that is summed, kept: its other axes; other_summed, other_kept: those of `theirs`.
    shared: the axes of both that an einsum names by one letter and does not sum, in pairs.
    """

    event: Event
    ours: Operand
    theirs: Operand
    summed: tuple[Axis, ...]
    kept: tuple[Axis, ...]
    other_summed: tuple[Axis, ...]
    other_kept: tuple[Axis, ...]
    shared: tuple[tuple[Axis, Axis], ...] = ()


def tensor_operands(event: Event) -> list[Operand]:
    """The operands that are tensors, those in a list one by one, the layer left out."""
    found: list[Operand] = []
    for operand in event.operands:
        value = operand.value
        if isinstance(value, Tensor):
            found.append(operand)
        elif operand.parts:
            found.extend([p for p in operand.parts if isinstance(p.value, Tensor)])
        elif isinstance(value, Seq):
            found.extend(
                Operand(f"{operand.name}[{i}]", v, span=operand.span, shape=v.shape)
                for i, v in enumerate(value.items)
                if isinstance(v, Tensor)
            )
    return found


def contraction(event: Event, ours: Operand) -> Contraction | None:
    """The product seen from the operand `ours`; None where it is no product of two, or ranks are not known."""
    operands = tensor_operands(event)
    if event.short not in PRODUCTS or len(operands) != 2 or ours not in operands:
        return None
    theirs = operands[1] if operands[0] is ours else operands[0]
    left, right = (shape_at(event, o) for o in (ours, theirs))
    if left is None or right is None:
        return None
    if event.short == "einsum":
        return _by_names(event, ours, theirs, operands[0] is ours)
    first = operands[0] is ours
    mine = _summed_index(event, left, first)
    other = _summed_index(event, right, not first)
    a = axis_at(left, mine) if mine is not None else None
    b = axis_at(right, other) if other is not None else None
    if a is None or (b is None and not first):
        return None
    kept, other_kept = tuple(x for x in left.axes if x is not a), tuple(x for x in right.axes if x is not b)
    return Contraction(event, ours, theirs, (a,), kept, (b,) if b is not None else (), other_kept)


def _summed_index(event: Event, shape: Shape, first: bool) -> int | None:
    if first or (event.short in ("inner", "dot", "vdot") and "numpy" not in event.op):
        return -1
    if event.short == "mv":
        return -1
    if shape.rank == 1:
        return -1
    return -2 if len(shape.suffix) >= 2 else None


def _by_names(event: Event, ours: Operand, theirs: Operand, first: bool) -> Contraction | None:
    pattern = _pattern(event)
    if pattern is None or len(pattern.inputs) != 2:
        return None
    sides = pattern.inputs if first else pattern.inputs[::-1]
    left, right = shape_at(event, ours), shape_at(event, theirs)
    ours_named = _named_axes(sides[0], left) if left is not None else None
    theirs_named = _named_axes(sides[1], right) if right is not None else None
    if ours_named is None or theirs_named is None:
        return None
    output = pattern.output
    return Contraction(
        event,
        ours,
        theirs,
        tuple(a for n, a in ours_named if n not in output),
        tuple(a for n, a in ours_named if n in output),
        tuple(a for n, a in theirs_named if n not in output),
        tuple(a for n, a in theirs_named if n in output),
        tuple((a, b) for n, a in ours_named for m, b in theirs_named if n == m and n in output),
    )


def _named_axes(letters: tuple[str, ...], shape: Shape) -> list[tuple[str, Axis]] | None:
    if ELLIPSIS in letters:
        dots = letters.index(ELLIPSIS)
        after = letters[dots + 1 :]
        if len(shape.prefix) < dots or len(shape.suffix) < len(after):
            return None
        head = list(zip(letters[:dots], shape.prefix, strict=False))
        tail = list(zip(after, shape.suffix[len(shape.suffix) - len(after) :], strict=True)) if after else []
        return head + tail
    if shape.rank != len(letters):
        return None
    return list(zip(letters, shape.axes, strict=True))


def _pattern(event: Event) -> Einsum | None:
    for operand in event.operands:
        values = operand.value.items if isinstance(operand.value, Seq) else (operand.value,)
        for value in values:
            if isinstance(value, Str) and value.value is not None:
                try:
                    return einops_einsum(value.value) if event.op.startswith("einops") else read_einsum(value.value)
                except PatternError:
                    return None
    return None


def literal(value: Value | None) -> int | None:
    """A whole number that is known."""
    return value.dim.value if isinstance(value, Int) else None


def is_number(operand: Operand) -> bool:
    """Whether an operand is a number or a tensor without axes."""
    if isinstance(operand.value, Tensor):
        return operand.value.shape.rank == 0
    return not isinstance(operand.value, NoneValue | Bool)


def reduced_axes(event: Event, shape: Shape) -> tuple[Axis, ...] | None:
    """The axes that a reduction sums, of its input's `shape`; None where they are not known.

    Source: PyTorch documentation, torch.sum: all of them where no `dim` is given.
    """
    dim = event.value("dim")
    if dim is None or isinstance(dim, NoneValue):
        return shape.axes if shape.rank is not None else None
    values = dim.items if isinstance(dim, Seq) else (dim,)
    axes = []
    for value in values:
        number = literal(value)
        axis = axis_at(shape, number) if number is not None else None
        if axis is None:
            return None
        axes.append(axis)
    return tuple(axes)
