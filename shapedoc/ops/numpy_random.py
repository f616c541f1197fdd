"""NumPy's random arrays, from the module's functions and from generators.

`numpy.random.default_rng()` gives the library name ``numpy.random.Generator``, so that what is called on a generator
is looked up as ``numpy.random.Generator.normal``; likewise for ``RandomState``.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.value import Float, Int, Kind, Library, NoneValue, Seq, SizeOf, Tensor, Value
from shapedoc.core.verdict import Lost
from shapedoc.ops.calling.bind import as_tensor
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.create import made
from shapedoc.ops.measuring.extents import extents
from shapedoc.ops.meeting.broadcast import broadcast
from shapedoc.ops.registry import op

__all__: list[str] = []

_MODULE, _STATE, _GENERATOR = "numpy.random", "numpy.random.RandomState", "numpy.random.Generator"


def _everywhere(stems: str, *spaces: str) -> list[str]:
    return [f"{space}.{stem}" for stem in stems.split() for space in spaces or (_MODULE, _STATE, _GENERATOR)]


@op("numpy.random.default_rng")
def default_rng(at: OpContext, seed: Value | None = None) -> Value:
    """A generator of random numbers.

    Source: NumPy reference, numpy.random.default_rng.
    """
    return Library(_GENERATOR)


@op("numpy.random.RandomState")
def random_state(at: OpContext, seed: Value | None = None) -> Value:
    """A generator of random numbers, of the older kind.

    Source: NumPy reference, numpy.random.RandomState.
    """
    return Library(_STATE)


@op(*_everywhere("seed", _MODULE, _STATE))
def seed(at: OpContext, seed: Value | None = None) -> Value:
    """Begin a sequence of random numbers anew; nothing is returned.

    Source: NumPy reference, numpy.random.seed.
    """
    return NoneValue()


@op(*_everywhere("rand randn", _MODULE, _STATE))
def rand(at: OpContext, *size: Value) -> Value:
    """Random numbers in an array of these sizes, given one by one.

    (n, m) -> (n, m); none -> ()
    Source: NumPy reference, numpy.random.rand, numpy.random.randn.
    """
    return _array_or_number(at, extents(at, size[0]), "float")


@op(
    *_everywhere("random standard_normal standard_exponential"),
    *_everywhere("random_sample standard_cauchy", _MODULE, _STATE),
    *_everywhere("ranf sample", _MODULE),
)
def random(at: OpContext, size: Value | None = None, **settings: Value) -> Value:
    """Random numbers of a fixed distribution.

    size (n, m) -> (n, m); None -> ()
    Source: NumPy reference, numpy.random.Generator.random.
    """
    return _drawn(at, size, (), "float")


@op(
    *_everywhere("normal uniform laplace logistic gumbel lognormal vonmises"),
    *_everywhere("beta gamma wald f noncentral_chisquare"),
)
def two_parameters(
    at: OpContext, loc: Value | None = None, scale: Value | None = None, size: Value | None = None
) -> Value:
    """Random numbers of a distribution with two parameters.

    loc (*), scale (*) -> their broadcast, or size
    Conflict: parameters that do not broadcast.
    Source: NumPy reference, numpy.random.Generator.normal, numpy.random.Generator.uniform.
    """
    return _drawn(at, size, (loc, scale), "float")


@op(*_everywhere("exponential rayleigh chisquare pareto weibull power standard_gamma standard_t"))
def one_parameter(at: OpContext, scale: Value | None = None, size: Value | None = None) -> Value:
    """Random numbers of a distribution with one parameter.

    scale (*) -> the same, or size
    Source: NumPy reference, numpy.random.Generator.exponential.
    """
    return _drawn(at, size, (scale,), "float")


@op(*_everywhere("poisson geometric zipf"))
def one_parameter_counts(at: OpContext, lam: Value | None = None, size: Value | None = None) -> Value:
    """Random counts of a distribution with one parameter.

    lam (*) -> the same, or size
    Source: NumPy reference, numpy.random.Generator.poisson.
    """
    return _drawn(at, size, (lam,), "int")


@op(*_everywhere("binomial negative_binomial"))
def binomial(at: OpContext, n: Value, p: Value, size: Value | None = None) -> Value:
    """Random counts of a distribution with two parameters.

    n (*), p (*) -> their broadcast, or size
    Conflict: parameters that do not broadcast.
    Source: NumPy reference, numpy.random.Generator.binomial.
    """
    return _drawn(at, size, (n, p), "int")


@op(*_everywhere("randint", _MODULE, _STATE), *_everywhere("integers", _GENERATOR))
def randint(
    at: OpContext, low: Value, high: Value | None = None, size: Value | None = None, *options: Value, **settings: Value
) -> Value:
    """Random whole numbers.

    low (*), high (*) -> their broadcast, or size
    Conflict: bounds that do not broadcast.
    Source: NumPy reference, numpy.random.randint, numpy.random.Generator.integers.
    """
    return _drawn(at, size, (low, high), "int")


def _drawn(at: OpContext, size: Value | None, parameters: Sequence[Value | None], kind: Kind) -> Value:
    """An array of random numbers; without a size, of the shape that the parameters broadcast to, or one number."""
    if isinstance(size, Int | Seq | SizeOf):
        return made(at, extents(at, size), kind, numpy=True)
    if size is not None:
        at.lost("`size` is not known")
    given = [_array(v) for v in parameters if v is not None]
    return _array_or_number(at, broadcast(at, *given).items if given else (), kind)


def _array_or_number(at: OpContext, items: Sequence[Axis | Run], kind: Kind) -> Value:
    if items:
        return made(at, items, kind, numpy=True)
    return Int(at.sizes.fresh(line=at.line)) if kind == "int" else Float()


def _array(value: Value) -> Tensor:
    try:
        return as_tensor(value)
    except Lost:
        return Tensor(Shape.unknown())


@op(*_everywhere("choice"))
def choice(at: OpContext, a: Value, size: Value | None = None, *options: Value, **settings: Value) -> Value:
    """Elements drawn at random; from an array, along its first axis.

    a n or (n, *) -> size, or size and *; without a size, one element
    Source: NumPy reference, numpy.random.Generator.choice.
    """
    kept: tuple[Axis | Run, ...] = ()
    kind: Kind = "int"
    if not isinstance(a, Int):
        source = _array(a)
        kind = source.kind
        at.prefix(source, 1)
        kept = at.shape(source).items[1:]
    if isinstance(size, Int | Seq | SizeOf):
        return made(at, (*extents(at, size), *kept), kind, numpy=True)
    if size is not None:
        at.lost("`size` is not known")
    return _array_or_number(at, kept, kind)


@op(*_everywhere("permutation"))
def permutation(at: OpContext, x: Value, axis: Value | None = None) -> Value:
    """The numbers below n, or an array along its first axis, in random order.

    x n -> (n,); x (*) -> (*)
    Source: NumPy reference, numpy.random.Generator.permutation.
    """
    if isinstance(x, Int):
        return made(at, (at.axis(at.sizes.resolve(x.dim)),), "int", numpy=True)
    source = as_tensor(x)
    return at.tensor(at.shape(source), source)


@op(*_everywhere("shuffle"))
def shuffle(at: OpContext, x: Value, axis: Value | None = None) -> Value:
    """Shuffle an array in place, along its first axis; nothing is returned.

    Source: NumPy reference, numpy.random.Generator.shuffle.
    """
    return NoneValue()


@op(*_everywhere("multivariate_normal"))
def multivariate_normal(
    at: OpContext, mean: Tensor, cov: Tensor, size: Value | None = None, *options: Value, **settings: Value
) -> Value:
    """Random vectors of a normal distribution.

    mean (d,), cov (d, d), size (*) -> (*, d)
    Conflict: a mean that is no vector, a covariance that is no matrix.
    Source: NumPy reference, numpy.random.Generator.multivariate_normal.
    """
    (d,) = at.need_rank(mean, 1)
    at.need_rank(cov, 2)
    return _vectors(at, size, d, "float")


@op(*_everywhere("dirichlet"))
def dirichlet(at: OpContext, alpha: Value, size: Value | None = None) -> Value:
    """Random points of a simplex.

    alpha (k,), size (*) -> (*, k)
    Conflict: alpha is no vector.
    Source: NumPy reference, numpy.random.Generator.dirichlet.
    """
    return _vectors(at, size, _length(at, alpha), "float")


@op(*_everywhere("multinomial"))
def multinomial(at: OpContext, n: Value, pvals: Value, size: Value | None = None) -> Value:
    """Random counts of several outcomes.

    pvals (k,), size (*) -> (*, k)
    Conflict: pvals is no vector.
    Source: NumPy reference, numpy.random.Generator.multinomial.
    """
    return _vectors(at, size, _length(at, pvals), "int")


def _length(at: OpContext, value: Value) -> Axis:
    if isinstance(value, Seq) and value.rest is None:
        return at.axis(len(value.items))
    return at.need_rank(as_tensor(value), 1)[0]


def _vectors(at: OpContext, size: Value | None, axis: Axis, kind: Kind) -> Tensor:
    if size is None:
        return made(at, (axis,), kind, numpy=True)
    return made(at, (*extents(at, size), axis), kind, numpy=True)
