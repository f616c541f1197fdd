"""Products that name their axes, and those of the Einstein convention."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.patterns import ELLIPSIS, Einsum, PatternError
from shapedoc.core.patterns import einsum as read
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.kinds import promote
from shapedoc.ops.meeting.broadcast import broadcast_shapes
from shapedoc.ops.registry import op

__all__ = ["einsum", "summed_by"]


@op("torch.einsum", "numpy.einsum", "torch.functional.einsum")
def einsum(at: OpContext, equation: str, *operands: Tensor, **settings: Value) -> Value:
    """Multiply and sum as the letters say: one letter, one size.

    "bqd,bkd->bqk": (b, q, d), (b, k, d) -> (b, q, k)
    Conflict: a letter stands for two sizes ("mismatched-product" where it is summed, else "mismatched-batch"); an
    operand has another number of axes; the equation does not parse ("unreadable-pattern").
    Source: PyTorch documentation, torch.einsum.
    """
    try:
        pattern = read(equation)
    except PatternError as error:
        at.fail("unreadable-pattern", ["equation"], pattern=equation, why=error.reason)
    return summed_by(at, pattern, operands)


def summed_by(at: OpContext, pattern: Einsum, operands: Sequence[Tensor]) -> Tensor:
    """The product and sum of operands that a pattern describes."""
    if len(pattern.inputs) != len(operands):
        at.fail(
            "unreadable-pattern",
            ["equation"],
            pattern=pattern.text,
            why=f"names {len(pattern.inputs)} operands, not {len(operands)}",
        )
    named: dict[str, Axis] = {}
    first: dict[str, tuple[Tensor, int]] = {}
    rest: Shape | None = None
    rest_of = operands[0]
    for names, tensor in zip(pattern.inputs, operands, strict=True):
        axes, loose = _split(at, names, tensor)
        if loose is not None:
            if rest is None:
                rest, rest_of = loose, tensor
            else:
                rest = broadcast_shapes(at, rest, loose, rest_of, tensor, problem="mismatched-batch")
        for name, (place, axis) in axes:
            if name not in named:
                named[name], first[name] = axis, (tensor, place)
            else:
                named[name] = _agreed(at, pattern, name, named[name], first[name], axis, (tensor, place))
    _mark(at, pattern, operands)
    if len(operands) > 1:
        _report_diagonals(at, pattern, operands)
    items: list[Axis | Run] = []
    for name in pattern.output:
        if name == ELLIPSIS:
            items.extend(rest.items if rest is not None else ())
        else:
            axis = named[name]
            items.append(axis.sized(at.called(axis.dim, name)))
    kind, like = promote(operands)
    return at.tensor(items, like, kind=kind)


_Placed = tuple[str, tuple[int, Axis]]


def _split(at: OpContext, names: tuple[str, ...], tensor: Tensor) -> tuple[list[_Placed], Shape | None]:
    """An operand's axes by name, with where they stand, and what its ellipsis stands for."""
    if ELLIPSIS not in names:
        axes = at.need_rank(tensor, len(names))
        return [(n, (i, a)) for i, (n, a) in enumerate(zip(names, axes, strict=True))], None
    dots = names.index(ELLIPSIS)
    before, after = names[:dots], names[dots + 1 :]
    shape = at.shape(tensor)
    if shape.rank is not None and shape.rank < len(names) - 1:
        at.fail("wrong-rank", [tensor], wanted=f"at least {len(names) - 1}", got=str(shape.rank))
    tail = at.suffix(tensor, len(after)) if after else ()
    shape = at.shape(tensor)
    if before and len(shape.prefix) < len(before):
        at.lost("rank unknown")
    head = shape.prefix[: len(before)]
    placed = [(n, (i, a)) for i, (n, a) in enumerate(zip(before, head, strict=True))]
    start = len(shape.items) - len(after)
    placed += [(n, (start + i, a)) for i, (n, a) in enumerate(zip(after, tail, strict=True))]
    return placed, Shape(shape.items[len(before) : start])


def _agreed(
    at: OpContext, pattern: Einsum, name: str, a: Axis, first: tuple[Tensor, int], b: Axis, second: tuple[Tensor, int]
) -> Axis:
    """One axis of the two that a name stands for; a size 1 gives way to the other."""
    diagonal = first[0] is second[0]
    if (a.dim.const == 1) != (b.dim.const == 1) and not diagonal:
        return b if a.dim.const == 1 else a
    sameness = at.meet(a, b)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        detail = {"name": name} | ({"repeated": name} if diagonal else {})
        at.conflict(
            "mismatched-product" if name in pattern.summed else "mismatched-batch",
            [first[0], second[0]],
            axes=(first[1], second[1]),
            dims=(a.dim, b.dim),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
            **detail,
        )
    return a.merged(b)


def _report_diagonals(at: OpContext, pattern: Einsum, operands: Sequence[Tensor]) -> None:
    """An operand of a product of which only the diagonal is read; alone, that is what is asked for."""
    for names, repeated, tensor in zip(pattern.inputs, pattern.repeated, operands, strict=True):
        for name in sorted(repeated):
            places = [i for i, n in enumerate(names) if n == name]
            at.conflict("repeated-index", [tensor], axes=places, loud=False, name=name, pattern=pattern.text)


def _mark(at: OpContext, pattern: Einsum, operands: Sequence[Tensor]) -> None:
    """What a learned operand shares with another is a feature where it is summed; the other's own axes are rows."""
    learned = [t.learned for t in operands]
    if all(learned) or not any(learned):
        return
    maps = {n for names, is_map in zip(pattern.inputs, learned, strict=True) if is_map for n in names}
    for names, tensor, is_map in zip(pattern.inputs, operands, learned, strict=True):
        shape = at.shape(tensor)
        if ELLIPSIS in names or shape.rank != len(names):
            continue
        for name, axis in zip(names, shape.axes, strict=True):
            if name in maps and name in pattern.summed:
                at.sizes.mark(axis, "feature", at.line)
            elif not is_map and name not in maps:
                at.sizes.mark(axis, "row", at.line)
