"""Calls of unfold and fold."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T
from tests.ops.samples.convolution import image, per_axis

__all__ = ["SAMPLES"]


def options(draw: Draw) -> dict[str, object]:
    return {
        "dilation": draw.sampled([1, 1, 2]),
        "padding": per_axis(draw, (0, 1), 2),
        "stride": per_axis(draw, (1, 2), 2),
    }


def unfold(draw: Draw) -> Call:
    shape = image(draw, draw.size(), 2)
    kernel = per_axis(draw, (1, 2, 3), 2)
    if draw.name == "torch.nn.Unfold":
        return Call([T(shape)], init=(kernel,), options=options(draw))
    return Call((T(shape), kernel), options(draw))


def fold(draw: Draw) -> Call:
    channels, kernel = draw.size(), draw.sampled([1, 2, 3])
    height, width = draw.named(draw.sampled([4, 5, 7])), draw.named(draw.sampled([4, 5, 7]))
    steps = (height - (kernel - 1)) * (width - (kernel - 1))
    shape = [*draw.shape(0, 1), kernel * kernel * channels, steps]
    if draw.wrong():
        shape = draw.sampled([draw.spoilt(shape), [*shape[:-1], shape[-1] + 1]])
    if draw.name == "torch.nn.Fold":
        return Call([T(shape)], init=((height, width), kernel))
    return Call((T(shape), (height, width), kernel))


SAMPLES: dict[str, Sample] = {
    "torch.nn.Unfold": unfold,
    "torch.nn.functional.unfold": unfold,
    "torch.nn.Fold": fold,
    "torch.nn.functional.fold": fold,
}
