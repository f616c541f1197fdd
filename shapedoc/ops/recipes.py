"""What an einops pattern does to axes: take them apart, and put them together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.patterns import ELLIPSIS, Einops, Operation, PatternError, Term
from shapedoc.core.patterns import einops as read
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.measuring.extents import whole
from shapedoc.ops.measuring.regroup import product, regroup
from shapedoc.ops.meeting.opposed import keep_feature

__all__ = ["apply", "spread"]

_Parts = dict[str, tuple[Axis | Run, ...]]


def apply(at: OpContext, tensor: Tensor, pattern: str, operation: Operation, lengths: Mapping[str, Value]) -> Shape:
    """The shape that a pattern gives; lengths: the sizes of axes that are passed by name.

    Conflict: "unreadable-pattern", "wrong-rank", "impossible-view" (an axis that has another size, or does not
    divide).
    """
    try:
        recipe = read(pattern, operation)
    except PatternError as error:
        at.fail("unreadable-pattern", ["pattern"], pattern=pattern, why=error.reason)
    known = {ELLIPSIS, *recipe.left_names, *recipe.right_names}
    for name in lengths:
        if name not in known:
            at.fail("unreadable-pattern", [name], pattern=pattern, why=f"has no axis `{name}`")
    sizes = {name: whole(at, value) for name, value in lengths.items()}
    parts = _taken_apart(at, tensor, recipe, sizes)
    return Shape(tuple(_put_together(at, recipe, parts, sizes)))


def spread(at: OpContext, tensor: Tensor, terms: Sequence[Term]) -> list[tuple[Axis | Run, ...]]:
    """The items of a shape by term; an ellipsis has as many as are left. Learns the rank where the terms give it."""
    dots = next((i for i, t in enumerate(terms) if t.is_ellipsis), None)
    if dots is None:
        return [(axis,) for axis in at.need_rank(tensor, len(terms))]
    before, after = dots, len(terms) - dots - 1
    shape = at.shape(tensor)
    if shape.rank is not None and shape.rank < before + after:
        at.fail("wrong-rank", [tensor], wanted=f"at least {before + after}", got=str(shape.rank))
    at.suffix(tensor, after)
    at.prefix(tensor, before)
    items = at.shape(tensor).items
    middle = items[before : len(items) - after]
    return [*((i,) for i in items[:before]), middle, *((i,) for i in items[len(items) - after :])]


def _taken_apart(at: OpContext, tensor: Tensor, recipe: Einops, sizes: Mapping[str, Dim | None]) -> _Parts:
    """The axes that each name on the left stands for."""
    parts: _Parts = {}
    spreads = spread(at, tensor, recipe.left)
    place = 0
    for term, items in zip(recipe.left, spreads, strict=True):
        if term.is_ellipsis:
            parts[ELLIPSIS] = items
        else:
            axis = items[0]
            assert isinstance(axis, Axis)
            for name, part in zip(term.names, _split(at, tensor, recipe, (place, axis), term, sizes), strict=True):
                parts[name] = (part,)
        place += len(items)
    return parts


def _split(
    at: OpContext,
    tensor: Tensor,
    recipe: Einops,
    placed: tuple[int, Axis],
    term: Term,
    sizes: Mapping[str, Dim | None],
) -> tuple[Axis, ...]:
    """The parts of one axis, outermost first."""
    axis = placed[1]
    dims: list[Dim | None] = []
    missing: list[int] = []
    for i, name in enumerate(term.names):
        if name.isdecimal():
            dims.append(Dim.of(int(name)))
        elif name in sizes:
            dims.append(sizes[name] or at.fresh().dim)
        else:
            dims.append(None)
            missing.append(i)
    if len(missing) > 1:
        names = ", ".join(f"`{term.names[i]}`" for i in missing)
        at.fail("unreadable-pattern", ["pattern"], pattern=recipe.text, why=f"leaves the sizes of {names} open")
    given = ONE
    for dim in dims:
        given = given if dim is None else given * dim
    if missing:
        rest = _quotient(at, tensor, placed, given)
        dims[missing[0]] = at.called(rest, term.names[0]) if len(dims) == 1 else rest
    else:
        _same(at, tensor, placed, given)
    found = [Axis(at.sizes.resolve(d)) for d in dims if d is not None]
    axis = axis.sized(at.sizes.resolve(axis.dim))
    if len(found) == 1:
        return (axis,)
    parts = regroup(at.sizes, [axis], found).axes if product(found) == axis.dim else tuple(found)
    last = recipe.right[-1].names if recipe.right else ()
    if len(last) == 1 and last[0] in term.names:
        keep_feature(at, axis, parts[term.names.index(last[0])])  # heads may stand on either side of it
    return parts


def _quotient(at: OpContext, tensor: Tensor, placed: tuple[int, Axis], given: Dim) -> Dim:
    """The size of the one part of an axis that is not given."""
    place, axis = placed
    whole_dim = at.sizes.resolve(axis.dim)
    exact = whole_dim.divide(given)
    if exact is not None:
        return exact
    total, part = whole_dim.value, given.value
    if total is not None and part is not None and (part == 0 or total % part):
        at.fail("impossible-view", [tensor], axes=(place,), dims=(whole_dim, given), why="divide")
    if whole_dim.named and (given.named or given.const is not None):
        return at.sizes.floordiv(whole_dim, given, line=at.line)
    rest = at.fresh().dim
    at.meet(whole_dim, rest * given)
    return rest


def _same(at: OpContext, tensor: Tensor, placed: tuple[int, Axis], given: Dim) -> None:
    place, axis = placed
    sameness = at.meet(axis, given)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            "impossible-view",
            [tensor],
            axes=(place,),
            dims=(axis.dim, given),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
            why="size",
        )


def _put_together(
    at: OpContext, recipe: Einops, parts: _Parts, sizes: Mapping[str, Dim | None]
) -> Sequence[Axis | Run]:
    out: list[Axis | Run] = []
    for term in recipe.right:
        if term.is_one:
            out.append(Axis.one())
            continue
        items = [item for name in term.names for item in _items(at, recipe, name, parts, sizes)]
        if term.is_ellipsis:
            out.extend(items)
        elif len(items) == 1 and isinstance(items[0], Axis):
            out.append(items[0])
        elif any(isinstance(i, Run) for i in items):
            out.append(at.fresh())
        else:
            axes = tuple(i for i in items if isinstance(i, Axis))
            out.append(Axis(product(axes), factors=axes) if axes else Axis.one())
    return out


def _items(
    at: OpContext, recipe: Einops, name: str, parts: _Parts, sizes: Mapping[str, Dim | None]
) -> Sequence[Axis | Run]:
    """The axes of a name on the right: those of the left, or a new one."""
    if name in parts and not name.isdecimal():
        return parts[name]
    if name.isdecimal():
        return (at.axis(int(name)),)
    if name not in sizes:
        at.fail("unreadable-pattern", ["pattern"], pattern=recipe.text, why=f"gives no size of the new axis `{name}`")
    dim = sizes[name]
    return (at.fresh() if dim is None else at.axis(dim, visible=dim.const == 1),)
