"""Calls of losses of vectors, of orders and of alignments."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T
from tests.ops.samples.losses import call

__all__ = ["SAMPLES"]


def cosine(draw: Draw) -> Call:
    d, batch = draw.size(), draw.shape(0, 1)
    shapes = [[*batch, d], [*batch, d], list(batch)]
    if draw.wrong():
        i = draw.number(0, 2)
        shapes[i] = draw.spoilt(shapes[i])
    return call(draw, [T(s) for s in shapes])


def triplet(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    shapes = [shape, list(shape), list(shape)]
    if draw.wrong():
        i = draw.number(0, 2)
        shapes[i] = draw.spoilt(shapes[i])
    return call(draw, [T(s) for s in shapes])


def ranking(draw: Draw) -> Call:
    shape = draw.shape(0, 2)
    shapes = [shape, list(shape), list(shape)]
    if draw.wrong():
        i = draw.number(0, 2)
        shapes[i] = draw.spoilt(shapes[i])
    return call(draw, [T(s) for s in shapes])


def alignment(draw: Draw) -> Call:
    time, batch, labels = draw.size(least=5), draw.size(), draw.size(least=2)
    lengths = [batch, batch]
    if draw.wrong():
        i = draw.number(0, 1)
        lengths[i] = draw.other(batch)
    given = [T([lengths[0]], "int", fill=int(time)), T([lengths[1]], "int", fill=1)]
    options: dict[str, object] = dict(draw.sampled([{}, {"reduction": "none"}, {"reduction": "sum"}]))
    return call(draw, [T([time, batch, 4]), T([batch, labels], "int", fill=1), *given], options)


SAMPLES: dict[str, Sample] = {
    "torch.nn.CosineEmbeddingLoss": cosine,
    "torch.nn.functional.cosine_embedding_loss": cosine,
    "torch.nn.TripletMarginLoss": triplet,
    "torch.nn.functional.triplet_margin_loss": triplet,
    "torch.nn.MarginRankingLoss": ranking,
    "torch.nn.functional.margin_ranking_loss": ranking,
    "torch.nn.CTCLoss": alignment,
    "torch.nn.functional.ctc_loss": alignment,
}
