"""NumPy operations that torch does not have, or has under other rules."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Axis, Run
from shapedoc.core.value import Int, Seq, Tensor, Value
from shapedoc.ops.calling.bind import as_tensor
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.create import made
from shapedoc.ops.kinds import promote
from shapedoc.ops.measuring.axes import position, reduced, replaced
from shapedoc.ops.measuring.extents import extents
from shapedoc.ops.meeting.broadcast import broadcast
from shapedoc.ops.meeting.contracted import contract
from shapedoc.ops.registry import op

__all__: list[str] = []


@op("scipy.special.softmax", "scipy.special.log_softmax")
def softmax(at: OpContext, x: Tensor, axis: Value | None = None) -> Value:
    """Normalise along one axis, or several; without `axis`, over all elements.

    x (*) -> (*)
    Conflict: the axis does not exist.
    Source: SciPy reference, scipy.special.softmax.
    """
    if isinstance(axis, Int) and axis.value is not None:
        position(at, x, axis.value)
    return at.tensor(at.shape(x), x, kind="float")


@op("scipy.special.logsumexp")
def logsumexp(
    at: OpContext, a: Tensor, axis: Value | None = None, b: Value | None = None, keepdims: bool = False
) -> Value:
    """Sum exponents along axes, as a logarithm.

    a (*, n, *) -> (*, *), or (*, 1, *) with keepdims
    Conflict: the axis does not exist.
    Source: SciPy reference, scipy.special.logsumexp.
    """
    return at.tensor(reduced(at, a, axis, keepdims), a, kind="float")


@op("scipy.special.expit")
def expit(at: OpContext, x: Tensor) -> Value:
    """Map every element to a real number.

    x (*) -> (*)
    Source: SciPy reference, scipy.special.expit.
    """
    return at.tensor(at.shape(x), x, kind="float")


@op("scipy.special.xlogy")
def xlogy(at: OpContext, x: Tensor, y: Tensor) -> Value:
    """Combine elements, after broadcasting.

    x (*), y (*) -> their broadcast
    Conflict: sizes that do not broadcast.
    Source: SciPy reference, scipy.special.xlogy.
    """
    return at.tensor(broadcast(at, x, y), x, kind="float")


@op("numpy.vdot")
def vdot(at: OpContext, a: Tensor, b: Tensor) -> Value:
    """The inner product of all elements, whatever their axes.

    a (n,), b (n,) -> ()
    Conflict: two vectors of other lengths.
    Source: NumPy reference, numpy.vdot.
    """
    left, right = at.shape(a), at.shape(b)
    if left.rank == 1 and right.rank == 1:
        contract(at, a, b, (0, 0), (left.axes[0], right.axes[0]))
    kind, like = promote((a, b))
    return at.tensor((), like, kind=kind)


@op("numpy.average")
def average(
    at: OpContext,
    a: Tensor,
    axis: Value | None = None,
    weights: Value | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Value:
    """The mean, weighted, along axes.

    a (*, n, *), weights as a or (n,) -> (*, *)
    Conflict: the axis does not exist.
    Source: NumPy reference, numpy.average.
    """
    if returned:
        at.lost("the sum of weights beside the mean")
    return at.tensor(reduced(at, a, axis, keepdims), a, kind="float")


@op("numpy.percentile", "numpy.quantile", "numpy.nanpercentile", "numpy.nanquantile")
def quantile(
    at: OpContext, a: Tensor, q: Value, axis: Value | None = None, *options: Value, keepdims: bool = False
) -> Value:
    """Quantiles along axes, one or several.

    a (*, n, *), q () or (k,) -> (*, *) or (k, *, *)
    Conflict: the axis does not exist.
    Source: NumPy reference, numpy.quantile.
    """
    if isinstance(q, Seq):
        first: tuple[Axis | Run, ...] = (at.axis(len(q.items)) if q.rest is None else at.fresh(),)
    else:
        first = at.shape(as_tensor(q)).items
    rest = reduced(at, a, axis, keepdims)
    if any(isinstance(i, Run) for i in first) and rest.run is not None:
        at.lost("rank unknown")
    return at.tensor((*first, *rest.items), a, kind="float")


@op("numpy.diff")
def diff(at: OpContext, a: Tensor, n: Dim = ONE, axis: int = -1) -> Value:
    """Differences of neighbours, n times.

    a (*, m, *) -> (*, m - n, *)
    Conflict: the axis does not exist; no axis.
    Source: NumPy reference, numpy.diff.
    """
    at.suffix(a, 1)
    place = position(at, a, axis)
    items = at.shape(a).items
    moved = None if place is None else items[place]
    if place is None or not isinstance(moved, Axis):
        return at.unknown(a, more=0)
    length = moved.dim - n
    if length.const is not None and length.const < 0:
        length = Dim.of(0)
    return at.tensor(replaced(items, place, at.axis(length)), a)


@op("numpy.trace", "numpy.ndarray.trace")
def trace(at: OpContext, a: Tensor, offset: Value | None = None, axis1: int = 0, axis2: int = 1) -> Value:
    """The sum of a diagonal.

    a (n, m, *) -> (*)
    Conflict: fewer than two axes; an axis does not exist.
    Source: NumPy reference, numpy.trace.
    """
    at.prefix(a, 2)
    places = {position(at, a, axis1), position(at, a, axis2)}
    if None in places:
        at.lost("rank unknown")
    if len(places) < 2:
        at.fail("axis-out-of-range", [a], axis=f"{axis1}, {axis2}", why="twice")
    return at.tensor([i for p, i in enumerate(at.shape(a).items) if p not in places], a)


@op("numpy.linalg.trace")
def matrix_trace(at: OpContext, x: Tensor, *, offset: Value | None = None) -> Value:
    """The sum of the diagonal of matrices.

    x (*, n, m) -> (*)
    Conflict: fewer than two axes.
    Source: NumPy reference, numpy.linalg.trace.
    """
    at.suffix(x, 2)
    return at.tensor(at.shape(x).items[:-2], x)


@op("numpy.cov", "numpy.corrcoef")
def cov(at: OpContext, m: Tensor, y: Value | None = None, rowvar: bool = True, **settings: Value) -> Value:
    """How variables vary together; each is a row, or a column without rowvar.

    m (n, T) -> (n, n); m (T,) -> ()
    Conflict: more than two axes.
    Source: NumPy reference, numpy.cov.
    """
    if y is not None:
        at.lost("a second set of variables")
    axes = at.need_rank(m, 1, 2)
    if len(axes) == 1:
        return at.tensor((), m, kind="float")
    variable = axes[0 if rowvar else 1]
    if variable.dim.const == 1:
        return at.tensor((), m, kind="float")
    return at.tensor((variable, at.axis(variable.dim)), m, kind="float")


@op("numpy.unique")
def unique(
    at: OpContext,
    ar: Tensor,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Value | None = None,
    **settings: Value,
) -> Value:
    """The distinct elements, and where they are on request.

    ar (*) -> (k,)
    Source: NumPy reference, numpy.unique.
    """
    if axis is not None:
        at.lost("distinct slices")
    count = at.fresh()
    found: list[Value] = [at.tensor((count,), ar)]
    if return_index:
        found.append(at.tensor((count,), ar, kind="int"))
    if return_inverse:
        found.append(at.tensor(at.shape(ar), ar, kind="int"))
    if return_counts:
        found.append(at.tensor((count,), ar, kind="int"))
    return found[0] if len(found) == 1 else Seq(tuple(found))


@op("numpy.indices")
def indices(at: OpContext, dimensions: Value, dtype: Value | None = None) -> Value:
    """The index of every element along every axis.

    dimensions (n, m) -> (2, n, m)
    Source: NumPy reference, numpy.indices.
    """
    axes = extents(at, dimensions)
    if any(isinstance(i, Run) for i in axes):
        at.lost("rank unknown")
    return made(at, (at.axis(len(axes)), *axes), "int", dtype, numpy=True)


@op("numpy.interp")
def interp(at: OpContext, x: Tensor, xp: Value, fp: Value, *options: Value, **settings: Value) -> Value:
    """Interpolate between points.

    x (*), xp (n,), fp (n,) -> (*)
    Source: NumPy reference, numpy.interp.
    """
    return at.tensor(at.shape(x), x, kind="float")


@op("numpy.rollaxis")
def rollaxis(at: OpContext, a: Tensor, axis: int, start: int = 0) -> Value:
    """Move an axis to stand before another.

    a (b, t, d), axis 2 -> (d, b, t)
    Conflict: an axis does not exist.
    Source: NumPy reference, numpy.rollaxis.
    """
    axes = list(at.axes(a))
    rank = len(axes)
    place = at.locate(a, axis)
    if not -rank <= start <= rank:
        at.fail("axis-out-of-range", [a], axis=str(start), rank=str(rank))
    target = start + rank if start < 0 else start
    moved = axes.pop(place)
    axes.insert(target - 1 if place < target else target, moved)
    return at.tensor(axes, a)


@op("numpy.resize")
def resize(at: OpContext, a: Tensor, new_shape: Value) -> Value:
    """Repeat the elements until a shape is filled.

    a (*), new_shape (n, m) -> (n, m)
    Source: NumPy reference, numpy.resize.
    """
    return at.tensor(extents(at, new_shape), a)


@op("numpy.select")
def select(at: OpContext, condlist: Value, choicelist: Value, default: Value | None = None) -> Value:
    """Pick from several arrays by several conditions, after broadcasting.

    conditions (*), choices (*) -> their broadcast
    Conflict: sizes that do not broadcast.
    Source: NumPy reference, numpy.select.
    """
    tensors = [as_tensor(v) for side in (condlist, choicelist) for v in _listed(at, side)]
    if not tensors:
        at.lost("no conditions")
    kind, like = promote(tensors[len(tensors) // 2 :])
    return at.tensor(broadcast(at, *tensors), like, kind=kind)


def _listed(at: OpContext, value: Value) -> Sequence[Value]:
    if not isinstance(value, Seq) or value.rest is not None:
        at.lost("a list of unknown length")
    return value.items
