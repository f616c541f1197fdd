"""Calls of transposed convolutions."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T
from tests.ops.samples.convolution import per_axis

__all__ = ["SAMPLES"]


def transposed_settings(draw: Draw, count: int) -> dict[str, object]:
    stride = draw.sampled((2, 3))
    return {
        "stride": stride,
        "padding": per_axis(draw, (0, 1), count),
        "output_padding": per_axis(draw, (0, 1), count),
        "dilation": per_axis(draw, (1, 2), count),
    }


def transposed_image(draw: Draw, channels: int, count: int) -> list[int]:
    shape = [*draw.shape(0, 1), channels, *(draw.size(least=3) for _ in range(count))]
    return draw.sampled([draw.spoilt(shape), [2, 2, *shape]]) if draw.wrong() else shape


def transposed_module(draw: Draw) -> Call:
    count = int(draw.name[-2])
    groups = draw.sampled([1, 1, 2])
    into, out = groups * draw.size(), groups * draw.size()
    options = transposed_settings(draw, count) | {"groups": groups}
    return Call(
        [T(transposed_image(draw, into, count))], init=(into, out, per_axis(draw, (3, 4), count)), options=options
    )


def transposed_functional(draw: Draw) -> Call:
    count = int(draw.name[-2])
    groups = draw.sampled([1, 1, 2])
    into, out = groups * draw.size(), draw.size()
    weight = [into, out, *(draw.sampled((3, 4)) for _ in range(count))]
    more = {"bias": T([groups * out])} if draw.maybe() else {}
    options = {**more, **transposed_settings(draw, count), "groups": groups}
    return Call((T(transposed_image(draw, into, count)), T(weight)), options)


SAMPLES: dict[str, Sample] = {
    **{f"torch.nn.ConvTranspose{n}d": transposed_module for n in (1, 2, 3)},
    **{f"torch.nn.functional.conv_transpose{n}d": transposed_functional for n in (1, 2)},
}
