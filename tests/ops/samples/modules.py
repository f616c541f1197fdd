"""Calls of linear maps, dropout and the other small modules."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def linear(draw: Draw) -> Call:
    into, out = draw.sizes(2)
    shape = [*draw.shape(0, 3), into]
    if draw.wrong():
        shape = draw.spoilt(shape)
    return Call([T(shape)], init=(into, out), options=draw.sampled([{}, {"bias": False}]))


def lazy_linear(draw: Draw) -> Call:
    # Without axes there is nothing to learn a size from.
    return Call([T(draw.shape(0 if draw.wrong() else 1, 3))], init=(draw.size(),), symbolic=False)


def bilinear(draw: Draw) -> Call:
    n, m, k = draw.sizes(3)
    lead = draw.shape(0, 2)
    shapes = [[*lead, n], [*lead, m]]
    if draw.wrong():
        i = draw.number(0, 1)
        shapes[i] = draw.spoilt(shapes[i])
    return Call([T(s) for s in shapes], init=(n, m, k))


def functional_bilinear(draw: Draw) -> Call:
    n, m, k = draw.sizes(3)
    lead = draw.shape(0, 2)
    shapes = [[*lead, n], [*lead, m], [k, n, m], [k]]
    if draw.wrong():
        i = draw.number(0, 2)
        shapes[i] = draw.spoilt(shapes[i])
    return Call([T(s) for s in shapes])


def kept(draw: Draw) -> Call:
    return Call([T(draw.shape(0, 4))])


def channels(draw: Draw) -> Call:
    return Call([T(draw.shape(1, 4))])


def image_channels(draw: Draw) -> Call:
    return Call([T(draw.shape(4, 5))])


def similarity(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    other = draw.broadcastable(shape)
    if draw.wrong():
        other = draw.spoilt(shape)
    dim = draw.any_axis(len(shape))
    if draw.name == "torch.nn.CosineSimilarity":
        return Call((T(shape), T(other)), options={"dim": dim})
    return Call((T(shape), T(other)), {"dim": dim})


def distance(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    other = draw.spoilt(shape) if draw.wrong() else draw.broadcastable(shape)
    options = draw.sampled([{}, {"keepdim": True}])
    if draw.name == "torch.nn.PairwiseDistance":
        return Call((T(shape), T(other)), options=options)
    return Call((T(shape), T(other)), options)


SAMPLES: dict[str, Sample] = {
    "torch.nn.Linear": linear,
    "torch.nn.LazyLinear": lazy_linear,
    "torch.nn.Bilinear": bilinear,
    "torch.nn.functional.bilinear": functional_bilinear,
    "torch.nn.Identity": kept,
    "torch.nn.Dropout": kept,
    "torch.nn.AlphaDropout": kept,
    "torch.nn.FeatureAlphaDropout": image_channels,
    "torch.nn.Dropout1d": channels,
    "torch.nn.Dropout2d": image_channels,
    "torch.nn.Dropout3d": image_channels,
    "torch.nn.functional.dropout1d": channels,
    "torch.nn.functional.dropout2d": image_channels,
    "torch.nn.CosineSimilarity": similarity,
    "torch.nn.functional.cosine_similarity": similarity,
    "torch.nn.PairwiseDistance": distance,
    "torch.nn.functional.pairwise_distance": distance,
}
