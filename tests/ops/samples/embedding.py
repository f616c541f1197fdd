"""Calls of embeddings."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def module(draw: Draw) -> Call:
    return Call([T(draw.shape(0, 3), "int")], init=(draw.size(), draw.size()))


def functional(draw: Draw) -> Call:
    weight = draw.sizes(2)
    if draw.wrong():
        weight = draw.sampled([weight[:1], [*weight, 2]])
    indices = T(draw.shape(0, 3), "int")
    return Call((T(weight), indices) if draw.name == "torch.embedding" else (indices, T(weight)))


def from_pretrained(draw: Draw) -> Call:
    return Call([T(draw.shape(1, 3) if draw.wrong() else draw.sizes(2))])


def bag(draw: Draw) -> Call:
    shape = draw.shape(1, 2)
    if draw.wrong():
        shape = draw.shape(1, 3)
    options = {}
    if (len(shape) == 1 and not draw.wrong()) or draw.wrong():
        options = {"offsets": T([draw.size()], "int")}
    if draw.name == "torch.nn.EmbeddingBag":
        return Call([T(shape, "int")], options, init=(draw.size(), draw.size()))
    return Call((T(shape, "int"), T(draw.sizes(2))), options)


SAMPLES: dict[str, Sample] = {
    "torch.nn.Embedding": module,
    "torch.nn.Embedding.from_pretrained": from_pretrained,
    "torch.nn.functional.embedding": functional,
    "torch.embedding": functional,
    "torch.nn.EmbeddingBag": bag,
    "torch.nn.functional.embedding_bag": bag,
}
