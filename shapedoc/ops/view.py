"""Views: the same elements, in the same order, under other sizes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind, Sameness, Strength
from shapedoc.core.value import ANY_ORDER, Dtype, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.kinds import kind_of_dtype
from shapedoc.ops.measuring.axes import position, replaced
from shapedoc.ops.measuring.extents import extents
from shapedoc.ops.measuring.regroup import Regrouped, product, regroup
from shapedoc.ops.meeting.heads_kept import keep_heads, kept_again
from shapedoc.ops.meeting.opposed import keep_feature
from shapedoc.ops.registry import op

__all__ = ["flatten", "reshape", "unflatten", "view", "viewed"]

_ANY = Dim.of(-1)


@op("torch.Tensor.view")
def view(at: OpContext, input: Tensor, *shape: Value) -> Value:
    """See the elements under other sizes, without moving them; at most one -1 is worked out.

    input (*), shape (*) -> shape, of as many elements; a dtype keeps the sizes.
    Conflict: the numbers of elements cannot agree ("impossible-view"); the order of axes is scrambled
    ("scrambled-view", which raises nothing); the memory does not lie so ("view-after-transpose").
    Source: PyTorch documentation, torch.Tensor.view.
    """
    given = shape[0]
    if isinstance(given, Seq) and len(given.items) == 1 and isinstance(given.items[0], Dtype):
        return at.tensor(at.shape(input), input, kind=kind_of_dtype(given.items[0]))
    return at.tensor(viewed(at, input, extents(at, given), copies=False), input)


@op("torch.Tensor.reshape", "numpy.ndarray.reshape")
def reshape(at: OpContext, input: Tensor, *shape: Value, **settings: Value) -> Value:
    """Put the elements under other sizes; at most one -1 is worked out.

    input (*), shape (*) -> shape, of as many elements
    Conflict: the numbers of elements cannot agree ("impossible-view"); the order of axes is scrambled
    ("scrambled-view", which raises nothing).
    Source: PyTorch documentation, torch.reshape.
    """
    if settings:
        at.lost("another order of elements")
    return at.tensor(viewed(at, input, extents(at, shape[0])), input)


@op("torch.reshape", "numpy.reshape")
def reshape_function(at: OpContext, input: Tensor, shape: Value, **settings: Value) -> Value:
    """Put the elements under other sizes, as the method does.

    input (*), shape (*) -> shape, of as many elements
    Conflict: as of `reshape`.
    Source: PyTorch documentation, torch.reshape.
    """
    if settings:
        at.lost("another order of elements")
    return at.tensor(viewed(at, input, extents(at, shape)), input)


@op("torch.Tensor.view_as")
def view_as(at: OpContext, input: Tensor, other: Tensor) -> Value:
    """See the elements under the sizes of another tensor.

    input (*), other (*) -> the sizes of other
    Conflict: as of `view`.
    Source: PyTorch documentation, torch.Tensor.view_as.
    """
    return at.tensor(viewed(at, input, _sizes_of(at, other), copies=False), input)


@op("torch.Tensor.reshape_as")
def reshape_as(at: OpContext, input: Tensor, other: Tensor) -> Value:
    """Put the elements under the sizes of another tensor.

    input (*), other (*) -> the sizes of other
    Conflict: as of `reshape`.
    Source: PyTorch documentation, torch.Tensor.reshape_as.
    """
    return at.tensor(viewed(at, input, _sizes_of(at, other)), input)


def _sizes_of(at: OpContext, other: Tensor) -> tuple[Axis | Run, ...]:
    return tuple(i if isinstance(i, Run) else Axis(i.dim, visible=i.visible) for i in at.shape(other).items)


def viewed(at: OpContext, input: Tensor, wanted: Sequence[Axis | Run], *, copies: bool = True) -> Shape:
    """The shape of a view of `input`; reports what is wrong with it. copies: the memory may be laid out anew."""
    old = at.shape(input)
    if sum(1 for i in wanted if isinstance(i, Axis) and i.dim == _ANY) > 1:
        at.fail("impossible-view", [input], why="two unknown sizes")
    if old.run is not None and _splits_heads(at, old, wanted):
        at.need_rank(input, 3)
        old = at.shape(input)
    before, after = _without_run(old, wanted)
    if before is None:
        return _unchecked(at, old, wanted)
    head_old, head_new = before
    tail_old, tail_new = after
    if not head_old and not head_new:
        found = _checked(at, input, tail_old, tail_new, copies)
        return Shape((*wanted[: len(wanted) - len(tail_new)], *found))
    if [a.dim for a in head_old] == [a.dim for a in head_new]:
        found = _checked(at, input, tail_old, tail_new, copies)
        run = next(i for i in old.items if isinstance(i, Run))
        return Shape((*head_old, run, *found))
    return _unchecked(at, old, wanted)


_Pair = tuple[tuple[Axis, ...], tuple[Axis, ...]]


def _without_run(old: Shape, wanted: Sequence[Axis | Run]) -> tuple[_Pair | None, _Pair]:
    """What stands before and after a run that both sides share, or everything as `after` where there is none."""
    new = Shape(tuple(wanted))
    if old.run is None and new.run is None:
        return ((), ()), (old.axes, new.axes)
    if old.run is None or new.run is None or old.items[old.run] is not new.items[new.run]:
        return None, ((), ())
    return (old.prefix, new.prefix), (old.suffix, new.suffix)


def _splits_heads(at: OpContext, old: Shape, wanted: Sequence[Axis | Run]) -> bool:
    """Whether (B, ?, heads * d) is seen as (B, heads, -1, d): nobody writes -1 for what is always 1: steps are there.

    With steps between the batch and the features, such a view scrambles them.
    """
    sizes = [i.dim for i in wanted if isinstance(i, Axis)]
    if len(wanted) != 4 or len(sizes) != 4 or sizes[2] != _ANY or _ANY in (sizes[1], sizes[3]):
        return False
    if len(old.prefix) != 1 or len(old.suffix) != 1 or len(old.items) != 3 or not sizes[0].named:
        return False
    width = at.sizes.resolve(old.suffix[0].dim)
    heads = at.sizes.resolve(sizes[1]) * at.sizes.resolve(sizes[3])
    return at.sizes.resolve(sizes[0]) == at.sizes.resolve(old.prefix[0].dim) and width.named and width == heads


def _unchecked(at: OpContext, old: Shape, wanted: Sequence[Axis | Run]) -> Shape:
    """A view of which the number of elements is not known: axes at both ends keep their identity while sizes agree."""
    items = [at.fresh() if isinstance(i, Axis) and i.dim == _ANY else i for i in wanted]
    for k, (axis, item) in enumerate(zip(old.prefix, items, strict=False)):
        if not isinstance(item, Axis) or item.dim != axis.dim:
            break
        items[k] = axis
    tail = old.suffix
    for k in range(1, min(len(tail), len(items)) + 1):
        item = items[-k]
        if not isinstance(item, Axis) or item.dim != tail[-k].dim:
            break
        items[-k] = tail[-k]
    keep_heads(at, old, items)
    return Shape(tuple(items))


def _checked(
    at: OpContext, input: Tensor, old: Sequence[Axis], wanted: Sequence[Axis], copies: bool
) -> tuple[Axis, ...]:
    """The axes of a view of known axes."""
    new, sameness = _solved(at, input, old, wanted)
    old = [a.sized(at.sizes.resolve(a.dim)) for a in old]
    new = [a.sized(at.sizes.resolve(a.dim)) for a in new]
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            "impossible-view",
            [input],
            dims=(product(old), product(new)),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
        )
    if product(old) != product(new):
        return _unproved(old, new)
    groups = regroup(at.sizes, old, new)
    if groups.broken is not None:
        left = next((n.dim for n, w in zip(new, wanted, strict=True) if w.dim == _ANY), None)
        worked_out = left is not None and all(left != axis.dim for axis in old)
        _report_scramble(at, input, old, new, groups.broken, "mixed" if worked_out else "")
    elif not copies:
        _check_memory(at, input, old, groups)
    for j, source in enumerate(groups.sources):
        if len(source) == 1 and source not in groups.sources[j + 1 :]:
            keep_feature(at, old[source[0]], groups.axes[j])
    return groups.axes


def _solved(at: OpContext, input: Tensor, old: Sequence[Axis], wanted: Sequence[Axis]) -> tuple[list[Axis], Sameness]:
    """The wanted axes with -1 worked out, and whether the numbers of elements agree."""
    ours, theirs = [a.dim for a in old], []
    for axis in wanted:
        if axis.dim == _ANY:
            continue
        if axis.dim in ours:
            ours.remove(axis.dim)
        else:
            theirs.append(axis.dim)
    have, need = _times(ours), _times(theirs)
    if all(axis.dim != _ANY for axis in wanted):
        if _taken_for_one(have, need, old, wanted):
            return list(wanted), Sameness(Kind.UNKNOWN, Strength.NONE)
        sameness = kept_again(at, have, need, old, wanted) or at.meet(*_left_over(at, have, need))
        if sameness.kind is Kind.ONLY_IF and ONE in (have, need):
            # All that is left over is a whole axis more on one side.
            sameness = at.sizes.compare(product(old), product(wanted))
        return list(wanted), sameness
    rest, sameness = _missing(at, have, need)
    return [Axis(rest, visible=rest == ONE) if a.dim == _ANY else a for a in wanted], sameness


def _left_over(at: OpContext, have: Dim, need: Dim) -> tuple[Dim, Dim]:
    """What two numbers of elements differ in: the size of a head, and what stands where it was meant."""
    one, other = at.sizes.resolve(have), at.sizes.resolve(need)
    rest = one.without_common(other), other.without_common(one)
    return rest if all(r.syms for r in rest) and any(map(at.sizes.is_quotient, rest)) else (have, need)


def _taken_for_one(have: Dim, need: Dim, old: Sequence[Axis], wanted: Sequence[Axis]) -> bool:
    """Whether a literal 1 says what a size of the caller's is that was joined with another axis before.

    The steps of a decoder that is called with one: (batch*steps, words) seen as (batch, 1, words). Or the batch of a
    state that is made for one: (1, words*steps) seen as (batch, words, steps), by the batch of another tensor.
    """
    for whole, part, ones, others in ((have, need, wanted, old), (need, have, old, wanted)):
        ratio = whole.divide(part)
        sym = ratio.sym if ratio is not None else None
        if sym is not None and sym.flexible and any(axis.dim == ONE for axis in ones):
            if ones is wanted:
                return all(axis.dim.sym is not sym for axis in others)
            return ones[0].dim == ONE and others[0].dim.sym is sym and not ones[0].visible
    return False


def _missing(at: OpContext, have: Dim, need: Dim) -> tuple[Dim, Sameness]:
    exact = have.divide(need)
    if exact is None and _same_names(at, have, need):
        have, need = at.sizes.resolve(have), at.sizes.resolve(need)
        exact = have.divide(need)
    if exact is not None:
        return exact, Sameness(Kind.ALWAYS)
    left, right = have.value, need.value
    if left is not None and right is not None:
        if right == 0 or left % right:
            return at.fresh().dim, Sameness(Kind.NEVER)
        if have.const is not None or need.const is not None:
            return Dim.of(left // right), Sameness(Kind.ALWAYS)
    if have.named and (need.named or need.const is not None):
        return at.sizes.floordiv(have, need, line=at.line), Sameness(Kind.UNKNOWN)
    return at.fresh().dim, Sameness(Kind.UNKNOWN)


def _same_names(at: OpContext, have: Dim, need: Dim) -> bool:
    """Learn that sizes which the author calls by one name are one: ``B, T, d = q.shape`` and ``B, S, d = k.shape``."""
    pairs = [(a, b) for a in need.syms - have.syms for b in have.syms if a.name == b.name != "" and a is not b]
    learnt = [at.sizes.equate(Dim.of(a), Dim.of(b)) for a, b in pairs]
    return any(learnt)


def _times(dims: Sequence[Dim]) -> Dim:
    total = ONE
    for dim in dims:
        total = total * dim
    return total


def _unproved(old: Sequence[Axis], new: Sequence[Axis]) -> tuple[Axis, ...]:
    """Axes at both ends keep their identity while sizes agree."""
    out = list(new)
    for k in range(min(len(old), len(new))):
        if old[k].dim != new[k].dim:
            break
        out[k] = old[k]
    for k in range(1, min(len(old), len(new)) + 1):
        if old[-k].dim != new[-k].dim or out[-k] in old:
            break
        out[-k] = old[-k]
    return tuple(out)


def _report_scramble(
    at: OpContext, input: Tensor, old: Sequence[Axis], new: Sequence[Axis], broken: tuple[int, int], left: str
) -> None:
    """left: "mixed" where a -1 is worked out to what lies across axes of the input; nobody has asked for that size."""
    i, j = broken
    if any(at.sizes.role(a, "joined") or not a.dim.terms for a in old):
        return  # shifting by a padded view, as relative positions do, moves elements on purpose
    at.conflict("scrambled-view", [input], axes=(i,), dims=(old[i].dim, new[j].dim), loud=False, into=str(j), left=left)


def _check_memory(at: OpContext, input: Tensor, old: Sequence[Axis], groups: Regrouped) -> None:
    """Report axes that are joined and do not lie side by side in memory."""
    order = input.order
    if order is None or order == ANY_ORDER or len(order) != len(old):
        return
    real = [i for i, axis in enumerate(old) if axis.dim != ONE]
    rank = {i: r for r, i in enumerate(sorted(real, key=lambda i: order[i]))}
    for source in groups.sources:
        for one, other in pairwise(source):
            if rank[other] != rank[one] + 1 and all(_counted(old[i]) for i in (one, other)):
                at.conflict("view-after-transpose", [input], axes=(one, other), dims=(old[one].dim, old[other].dim))
                return


def _counted(axis: Axis) -> bool:
    """Whether a size has a name or a number, so that it is not taken for a 1."""
    return axis.dim.const is not None or axis.dim.named


@op("torch.flatten", "torch.Tensor.flatten")
def flatten(at: OpContext, input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Value:
    """Join neighbouring axes into one.

    input (*, n, m, *) -> (*, n*m, *); a tensor without axes gets one
    Conflict: an axis does not exist; the first is after the last.
    Source: PyTorch documentation, torch.flatten.
    """
    if at.shape(input).rank == 0:
        for number in (start_dim, end_dim):
            at.locate(input, number)
        return at.tensor((Axis.one(),), input)
    if at.shape(input).run is not None and start_dim >= 0 and end_dim == -1:
        return at.tensor((*at.prefix(input, start_dim + 1)[:start_dim], at.fresh()), input)
    first, last = position(at, input, start_dim), position(at, input, end_dim)
    items = at.shape(input).items
    if first is None or last is None:
        at.lost("rank unknown")
    if first > last:
        at.fail("axis-out-of-range", [input], axis=f"{start_dim}, {end_dim}", why="order")
    joined = [i for i in items[first : last + 1] if isinstance(i, Axis)]
    if len(joined) < last + 1 - first:
        return at.tensor((*items[:first], at.fresh(), *items[last + 1 :]), input)
    axis = regroup(at.sizes, joined, [at.axis(product(joined))]).axes[0]
    order = input.order if first == last else None
    return at.tensor((*items[:first], axis, *items[last + 1 :]), input, order=order)


@op(*["torch.ravel", "torch.Tensor.ravel", "numpy.ravel", "numpy.ndarray.ravel", "numpy.ndarray.flatten"])
def ravel(at: OpContext, input: Tensor) -> Value:
    """Join all axes into one.

    input (n, m) -> (n*m,)
    Source: PyTorch documentation, torch.ravel.
    """
    axes = at.shape(input)
    if axes.run is not None:
        return at.tensor((at.fresh(),), input)
    if not axes.items:
        return at.tensor((at.axis(1),), input)
    return at.tensor(regroup(at.sizes, axes.axes, [at.axis(product(axes.axes))]).axes, input)


@op("torch.unflatten", "torch.Tensor.unflatten")
def unflatten(at: OpContext, input: Tensor, dim: int, sizes: Value) -> Value:
    """Split one axis into several; at most one -1 is worked out.

    input (*, n*m, *), sizes (n, m) -> (*, n, m, *)
    Conflict: the axis does not exist; the numbers of elements cannot agree.
    Source: PyTorch documentation, torch.unflatten.
    """
    place = position(at, input, dim)
    wanted = [i for i in extents(at, sizes) if isinstance(i, Axis)]
    items = at.shape(input).items
    if place is None or not isinstance(items[place], Axis):
        at.lost("rank unknown")
    if not wanted:
        at.fail("impossible-view", [input], why="no sizes")
    axes = _checked(at, input, [i for i in (items[place],) if isinstance(i, Axis)], wanted, True)
    return at.tensor(replaced(items, place, *axes), input)
