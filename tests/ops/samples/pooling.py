"""Calls of pooling."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T
from tests.ops.samples.convolution import image, per_axis

__all__ = ["SAMPLES"]


def _call(draw: Draw, count: int, first: object, options: dict[str, object]) -> Call:
    # No sizes are zero: a batch or channels of size 0 have rules of their own.
    shape = image(draw, draw.size(), count)
    if draw.name.startswith("torch.nn.functional"):
        return Call((T(shape), first), options)
    return Call([T(shape)], init=(first,), options=options)


def windows(draw: Draw) -> Call:
    count = int(draw.name[-2])
    options: dict[str, object] = {"ceil_mode": draw.maybe(), "padding": draw.sampled([0, 0, 1])}
    if draw.maybe():
        options["stride"] = per_axis(draw, (1, 2, 3), count)
    if "max" in draw.name.lower():
        options["dilation"] = draw.sampled([1, 1, 2])
        if not draw.name.startswith("torch.max_pool"):
            options["return_indices"] = draw.maybe()
    return _call(draw, count, per_axis(draw, (2, 3), count), options)


def max_pool_functional(draw: Draw) -> Call:
    call = windows(draw)
    options = {k: v for k, v in call.kwargs.items() if k != "return_indices" or not draw.name.startswith("torch.max")}
    shape = call.args[0] if call.args else T([1])
    return Call((shape, *call.args[1:]), options) if call.args[1:] else Call((shape, *call.init), call.options)


def adaptive(draw: Draw) -> Call:
    count = int(draw.name[-2])
    size = draw.size()
    wanted = draw.sampled([size, tuple(draw.sizes(count))])
    if count > 1 and draw.maybe():
        wanted = (None, *draw.sizes(count - 1))
    options: dict[str, object] = {}
    if "max" in draw.name.lower() and draw.maybe():
        options["return_indices"] = True
    shape = image(draw, draw.size(), count)
    if "functional" in draw.name or draw.name.startswith("torch.adaptive"):
        return Call((T(shape), wanted), options)
    return Call([T(shape)], init=(wanted,), options=options)


SAMPLES: dict[str, Sample] = {
    **{f"torch.nn.{kind}Pool{n}d": windows for kind in ("Max", "Avg") for n in (1, 2, 3)},
    **{f"torch.nn.Adaptive{kind}Pool{n}d": adaptive for kind in ("Avg", "Max") for n in (1, 2, 3)},
    **{f"torch.nn.functional.{kind}_pool{n}d": max_pool_functional for kind in ("max", "avg") for n in (1, 2)},
    **{f"torch.nn.functional.adaptive_{kind}_pool{n}d": adaptive for kind in ("avg", "max") for n in (1, 2)},
}
