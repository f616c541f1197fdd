"""einops: rearrange, reduce, repeat and their kin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.patterns import PatternError, Term, einops_einsum, einops_side
from shapedoc.core.shape import Axis
from shapedoc.core.sizes import Kind
from shapedoc.core.value import DictValue, Int, Layer, Seq, Str, Tensor, Value
from shapedoc.core.value import Kind as Elements
from shapedoc.ops.calling.bind import as_tensor
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.join import stack
from shapedoc.ops.measuring.extents import whole
from shapedoc.ops.measuring.regroup import product, regroup
from shapedoc.ops.meeting.settings import text
from shapedoc.ops.products import summed_by
from shapedoc.ops.recipes import apply, spread
from shapedoc.ops.registry import layer, op

__all__: list[str] = []

_REDUCTIONS = ("min", "max", "sum", "mean", "prod", "any", "all")


def _one(at: OpContext, tensor: Value) -> Tensor:
    """The tensor; of a list of tensors, the stack of them along a new first axis."""
    if isinstance(tensor, Seq):
        stacked = stack(at, tensor, 0)
        assert isinstance(stacked, Tensor)
        return stacked
    return as_tensor(tensor)


@op("einops.rearrange")
def rearrange(at: OpContext, tensor: Value, pattern: str, **axes_lengths: Value) -> Value:
    """Split, move and join axes as a pattern says.

    "b t (h d) -> b h t d": (b, t, h*d) -> (b, h, t, d)
    Conflict: another number of axes; an axis that has another size or does not divide; an illegal pattern.
    Source: einops documentation, rearrange.
    """
    input = _one(at, tensor)
    return at.tensor(apply(at, input, pattern, "rearrange", axes_lengths), input)


@op("einops.repeat")
def repeat(at: OpContext, tensor: Value, pattern: str, **axes_lengths: Value) -> Value:
    """Split, move, join and repeat axes as a pattern says.

    "b d -> b t d", t=T: (b, d) -> (b, T, d)
    Conflict: another number of axes; an axis that has another size or does not divide; an illegal pattern; a new axis
    without a size.
    Source: einops documentation, repeat.
    """
    input = _one(at, tensor)
    return at.tensor(apply(at, input, pattern, "repeat", axes_lengths), input)


@op("einops.reduce")
def reduce(at: OpContext, tensor: Value, pattern: str, reduction: Value, **axes_lengths: Value) -> Value:
    """Split, move and join axes as a pattern says, and reduce those that are gone.

    "b t d -> b d": (b, t, d) -> (b, d)
    Conflict: another number of axes; an axis that has another size or does not divide; an illegal pattern; a reduction
    that does not exist.
    Source: einops documentation, reduce.
    """
    return _reduced(at, _one(at, tensor), pattern, reduction, axes_lengths)


def _reduced(at: OpContext, input: Tensor, pattern: str, reduction: Value, lengths: Mapping[str, Value]) -> Tensor:
    name = reduction.value if isinstance(reduction, Str) else None
    if name is not None and name not in _REDUCTIONS:
        why = f"knows no reduction `{name}`"
        at.fail("unreadable-pattern", ["reduction"], pattern=pattern, why=why)
    kinds: dict[str | None, Elements] = {"mean": "float", "any": "bool", "all": "bool"}
    return at.tensor(apply(at, input, pattern, "reduce", lengths), input, kind=kinds.get(name, input.kind))


def _lengths(layer: Layer, *fixed: str) -> Mapping[str, Value]:
    return {name: value for name, value in layer.config.items() if name not in fixed}


@layer("einops.layers.torch.Rearrange", "pattern: str, **axes_lengths: Value")
def rearrange_layer(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Rearrange, as a module.

    "b t (h d) -> b h t d": (b, t, h*d) -> (b, h, t, d)
    Conflict: as einops.rearrange.
    Source: einops documentation, einops.layers.torch.Rearrange.
    """
    pattern = text(layer, "pattern")
    if pattern is None:
        at.lost("`pattern` is not known")
    return at.tensor(apply(at, input, pattern, "rearrange", _lengths(layer, "pattern")), input)


@layer("einops.layers.torch.Reduce", "pattern: str, reduction: Value, **axes_lengths: Value")
def reduce_layer(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Reduce, as a module.

    "b t d -> b d": (b, t, d) -> (b, d)
    Conflict: as einops.reduce.
    Source: einops documentation, einops.layers.torch.Reduce.
    """
    pattern = text(layer, "pattern")
    if pattern is None:
        at.lost("`pattern` is not known")
    return _reduced(at, input, pattern, layer.config["reduction"], _lengths(layer, "pattern", "reduction"))


@op("einops.einsum")
def einsum(at: OpContext, *tensors_and_pattern: Value) -> Value:
    """Multiply and sum as names say; the pattern comes last.

    "b q d, b k d -> b q k": (b, q, d), (b, k, d) -> (b, q, k)
    Conflict: a name stands for two sizes; another number of axes or operands; an illegal pattern.
    Source: einops documentation, einsum.
    """
    given = tensors_and_pattern[0]
    *operands, pattern = given.items if isinstance(given, Seq) and given.items else (given,)
    if not isinstance(pattern, Str) or pattern.value is None:
        at.lost("`pattern` is not known")
    try:
        recipe = einops_einsum(pattern.value)
    except PatternError as error:
        at.fail("unreadable-pattern", ["pattern"], pattern=pattern.value, why=error.reason)
    if len(recipe.inputs) != len(operands):
        why = f"names {len(recipe.inputs)} operands, not {len(operands)}"
        at.fail("unreadable-pattern", ["pattern"], pattern=pattern.value, why=why)
    return summed_by(at, recipe, [as_tensor(v) for v in operands])


def _side(at: OpContext, pattern: str) -> tuple[tuple[Term, ...], int]:
    """The terms of a pattern with one star, and where the star stands."""
    try:
        terms = einops_side(pattern, star=True)
    except PatternError as error:
        at.fail("unreadable-pattern", ["pattern"], pattern=pattern, why=error.reason)
    stars = [i for i, t in enumerate(terms) if t.names == ("*",)]
    if len(stars) != 1:
        at.fail("unreadable-pattern", ["pattern"], pattern=pattern, why="needs one `*`")
    return terms, stars[0]


@op("einops.pack")
def pack(at: OpContext, tensors: Value, pattern: str) -> Value:
    """Join tensors along one axis, each with any number of axes in its place.

    "b * d": (b, d), (b, t, u, d) -> (b, 1 + t*u, d), and what was joined: [(), (t, u)]
    Conflict: too few axes; another axis differs; an illegal pattern.
    Source: einops documentation, pack.
    """
    terms, star = _side(at, pattern)
    if not isinstance(tensors, Seq) or tensors.rest is not None:
        at.lost("a list of unknown length")
    packed = [as_tensor(v) for v in tensors.items]
    total, shapes = Dim.of(0), []
    kept: list[Axis] | None = None
    for tensor in packed:
        axes = at.axes(tensor)
        if len(axes) < len(terms) - 1:
            at.fail("wrong-rank", [tensor], wanted=f"at least {len(terms) - 1}", got=str(len(axes)))
        after = len(axes) - (len(terms) - 1 - star)
        total = total + product(axes[star:after])
        shapes.append(Seq(tuple(Int(a.dim) for a in axes[star:after])))
        others = [*axes[:star], *axes[after:]]
        kept = others if kept is None else _matched(at, (packed[0], tensor), star, kept, others)
    if kept is None:
        at.fail("mismatched-join", ["tensors"], why="empty")
    joined = at.tensor((*kept[:star], at.axis(total), *kept[star:]), packed[0])
    return Seq((joined, Seq(tuple(shapes), kind="list")))


def _matched(
    at: OpContext, tensors: tuple[Tensor, Tensor], star: int, ours: Sequence[Axis], theirs: Sequence[Axis]
) -> list[Axis]:
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        sameness = at.meet(a, b)
        if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
            at.conflict(
                "mismatched-join",
                tensors[::-1],
                axes=(i, i) if i < star else (i - len(ours),) * 2,
                dims=(b.dim, a.dim),
                sameness=sameness,
                loud=sameness.kind is Kind.NEVER,
                why="size",
            )
    return [a.merged(b) for a, b in zip(ours, theirs, strict=True)]


@op("einops.unpack")
def unpack(at: OpContext, tensor: Tensor, packed_shapes: Value, pattern: str) -> Value:
    """Take apart what `pack` joined.

    "b * d", [(), (t, u)]: (b, 1 + t*u, d) -> (b, d), (b, t, u, d)
    Conflict: another number of axes; sizes that do not add up; an illegal pattern.
    Source: einops documentation, unpack.
    """
    terms, star = _side(at, pattern)
    axes = at.need_rank(tensor, len(terms))
    if not isinstance(packed_shapes, Seq) or packed_shapes.rest is not None:
        at.lost("`packed_shapes` is not known")
    wanted = [_shape(at, v) for v in packed_shapes.items]
    counts = [product(s) if all(a.dim != -1 for a in s) else None for s in wanted]
    rest = axes[star].dim
    for count in counts:
        rest = rest if count is None else rest - count
    _adds_up(at, tensor, (star, axes[star]), counts, rest)
    out: list[Value] = []
    for shape, count in zip(wanted, counts, strict=True):
        parts = _with_rest(at, shape, rest) if count is None else tuple(shape)
        out.append(at.tensor((*axes[:star], *parts, *axes[star + 1 :]), tensor))
    return Seq(tuple(out), kind="list")


def _shape(at: OpContext, value: Value) -> list[Axis]:
    given = value.items if isinstance(value, Seq) and value.rest is None else (value,)
    dims = [whole(at, v) for v in given]
    return [at.fresh() if d is None else at.axis(d) for d in dims]


def _with_rest(at: OpContext, shape: Sequence[Axis], rest: Dim) -> tuple[Axis, ...]:
    """A shape with its -1 worked out."""
    given = ONE
    for axis in shape:
        given = given if axis.dim == -1 else given * axis.dim
    missing = rest.divide(given)
    found = tuple((at.fresh() if missing is None else at.axis(missing)) if a.dim == -1 else a for a in shape)
    return regroup(at.sizes, [Axis(rest)], found).axes if product(found) == rest else found


def _adds_up(at: OpContext, tensor: Tensor, placed: tuple[int, Axis], counts: Sequence[Dim | None], rest: Dim) -> None:
    place, axis = placed
    if None in counts:
        wrong = rest.value is not None and rest.value < 0
        if wrong:
            at.fail("impossible-view", [tensor], axes=(place,), dims=(axis.dim, axis.dim - rest), why="sum")
        return
    sameness = at.meet(axis.dim, axis.dim - rest)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            "impossible-view",
            [tensor],
            axes=(place,),
            dims=(axis.dim, axis.dim - rest),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
            why="sum",
        )


@op("einops.parse_shape")
def parse_shape(at: OpContext, x: Tensor, pattern: str) -> Value:
    """The sizes of axes by name; "_" is not named.

    "b _ d": (b, t, d) -> {"b": b, "d": d}
    Conflict: another number of axes; an illegal pattern.
    Source: einops documentation, parse_shape.
    """
    try:
        terms = einops_side(pattern)
    except PatternError as error:
        at.fail("unreadable-pattern", ["pattern"], pattern=pattern, why=error.reason)
    found: dict[object, Value] = {}
    for term, items in zip(terms, spread(at, x, terms), strict=True):
        for name, item in zip(term.names, items, strict=False):
            if isinstance(item, Axis) and name != "_" and not term.is_ellipsis:
                found[name] = Int(item.dim, name)
    return DictValue(found)
