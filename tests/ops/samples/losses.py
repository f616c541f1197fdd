"""Calls of losses."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.value import Kind
from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def reduction(draw: Draw) -> dict[str, object]:
    return draw.sampled([{}, {"reduction": "none"}, {"reduction": "sum"}, {"reduce": False}, {"size_average": False}])


def call(draw: Draw, tensors: Sequence[T], options: dict[str, object] | None = None) -> Call:
    """A call of the function, or of the module built with the same options."""
    options = reduction(draw) if options is None else options
    if draw.name.startswith("torch.nn.functional"):
        return Call(tensors, options)
    return Call(tensors, options=options)


def elementwise(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    other = shape if draw.maybe() else draw.broadcastable(shape)
    if draw.wrong():
        other = draw.spoilt(shape)
    options = reduction(draw)
    if "huber" in draw.name.lower() and not draw.name.endswith("SmoothL1Loss"):
        options = {k: v for k, v in options.items() if k == "reduction"}
    return call(draw, [T(shape), T(other)], options)


def same(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    other = draw.sampled([draw.spoilt(shape), draw.broadcastable(shape)]) if draw.wrong() else shape
    options = dict(reduction(draw))
    if draw.maybe() and shape:
        options["weight"] = T([draw.other(shape[-1])] if draw.number(0, 3) == 0 else shape[-1:])
    if "logits" in draw.name.lower() and draw.maybe():
        options["pos_weight"] = T(draw.broadcastable(shape))
    return call(draw, [T(shape, fill=1), T(other, fill=1)], options)


def signs(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    other = draw.spoilt(shape) if draw.wrong() else draw.broadcastable(shape)
    return call(draw, [T(shape), T(other)])


def classes(draw: Draw) -> Call:
    count = draw.size()
    batch, rest = draw.size(), draw.shape(0, 2)
    scores: list[int] = [batch, count, *rest]
    target: list[int] = [batch, *rest]
    if draw.number(0, 4) == 0:
        scores, target = [count], draw.sampled([[], [1]])
    kind: Kind = "int"
    if "ross" in draw.name and draw.number(0, 2) == 0:
        target, kind = list(scores), "float"
    if draw.wrong():
        if draw.maybe():
            scores = draw.spoilt(scores)
        else:
            target = draw.spoilt(target)
        # A target of one element and scores of a vector, or floats for indices, are about values and dtypes.
        kind = "float" if len(scores) == len(target) and "ross" in draw.name and kind == "float" else "int"
    options: dict[str, object] = dict(draw.sampled([{}, {"reduction": "none"}, {"reduction": "sum"}]))
    if draw.maybe():
        options["weight"] = T([count if draw.number(0, 3) else draw.other(count)])
    return call(draw, [T(scores), T(target, kind)], options)


ELEMENTWISE = "mse_loss l1_loss smooth_l1_loss huber_loss kl_div hinge_embedding_loss poisson_nll_loss"
SAMPLES: dict[str, Sample] = {
    **{f"torch.nn.functional.{name}": elementwise for name in ELEMENTWISE.split()},
    **{
        f"torch.nn.{name}Loss": elementwise
        for name in ("MSE", "L1", "SmoothL1", "Huber", "KLDiv", "HingeEmbedding", "PoissonNLL")
    },
    "torch.nn.SoftMarginLoss": signs,
    "torch.nn.functional.soft_margin_loss": signs,
    "torch.nn.BCELoss": same,
    "torch.nn.BCEWithLogitsLoss": same,
    "torch.nn.functional.binary_cross_entropy": same,
    "torch.nn.CrossEntropyLoss": classes,
    "torch.nn.NLLLoss": classes,
    "torch.nn.NLLLoss2d": classes,
    "torch.nn.functional.cross_entropy": classes,
    "torch.nn.functional.nll_loss": classes,
}
