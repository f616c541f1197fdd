"""Calls of NumPy's random arrays."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def size_option(draw: Draw) -> dict[str, object]:
    return draw.sampled([{}, {"size": draw.size()}, {"size": tuple(draw.shape(0, 3))}, {"size": None}])


def nothing(draw: Draw) -> Call:
    return Call(draw.sampled([(), (1,)]))


def rand(draw: Draw) -> Call:
    return Call(draw.shape(0, 3))


def fixed(draw: Draw) -> Call:
    return Call((), size_option(draw))


def parameters(draw: Draw, count: int, kind: str = "float") -> Call:
    shape = draw.shape(0, 2)
    shapes = [shape, draw.spoilt(shape) if draw.wrong() else draw.broadcastable(shape)][:count]
    given = [T(s, fill=1 + i) if draw.maybe() else float(1 + i) for i, s in enumerate(shapes)]
    # Parameters that are arrays are drawn without a size of the result.
    arrays = any(isinstance(v, T) for v in given)
    return Call(given, {} if arrays else size_option(draw))


def two(draw: Draw) -> Call:
    return parameters(draw, 2)


def one(draw: Draw) -> Call:
    return parameters(draw, 1)


def counted(draw: Draw) -> Call:
    return Call(
        [1.0 if draw.name.endswith("poisson") else 0.5 if draw.name.endswith("geometric") else 2.0], size_option(draw)
    )


def binomial(draw: Draw) -> Call:
    return Call((3, 0.5), size_option(draw))


def integers(draw: Draw) -> Call:
    return Call(draw.sampled([(5,), (1, 5)]), size_option(draw))


def choice(draw: Draw) -> Call:
    if draw.maybe():
        return Call([5], size_option(draw))
    # The older functions take vectors only.
    shape = [draw.size(), *([] if "Generator" not in draw.name else draw.shape(0, 2))]
    return Call([T(shape)], size_option(draw))


def permutation(draw: Draw) -> Call:
    return Call([draw.size() if draw.maybe() else T(draw.shape(1, 3))])


def shuffle(draw: Draw) -> Call:
    return Call([T(draw.shape(1, 3))])


def multivariate(draw: Draw) -> Call:
    d = draw.size()
    shapes = [[d], [d, d]]
    if draw.wrong():
        shapes[draw.number(0, 1)] = [d, d, 2]
    return Call(
        [T(s, fill=0) for s in shapes], draw.sampled([{}, {"size": draw.size()}, {"size": tuple(draw.shape(1, 2))}])
    )


def dirichlet(draw: Draw) -> Call:
    alpha = draw.sampled([T([draw.size()]), (1.0, 1.0, 2.0)])
    return Call([alpha], draw.sampled([{}, {"size": draw.size()}, {"size": tuple(draw.shape(1, 2))}]))


def multinomial(draw: Draw) -> Call:
    return Call((4, [0.5, 0.25, 0.25]), draw.sampled([{}, {"size": draw.size()}, {"size": tuple(draw.shape(1, 2))}]))


_DRAWN: dict[str, Sample] = {
    "rand": rand,
    "random": fixed,
    "normal": two,
    "exponential": one,
    "poisson": counted,
    "binomial": binomial,
    "randint": integers,
    "choice": choice,
    "permutation": permutation,
    "shuffle": shuffle,
    "multivariate_normal": multivariate,
    "dirichlet": dirichlet,
    "multinomial": multinomial,
}
SAMPLES: dict[str, Sample] = {
    "numpy.random.default_rng": nothing,
    "numpy.random.RandomState": nothing,
    "numpy.random.seed": nothing,
    **{f"numpy.random.{name}": sample for name, sample in _DRAWN.items()},
}
