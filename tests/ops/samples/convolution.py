"""Calls of convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]

LENGTHS = (4, 5, 7, 8, 9)


def per_axis(draw: Draw, choices: Sequence[int], count: int) -> int | tuple[int, ...]:
    """One number for all axes, or one for each."""
    return draw.sampled(choices) if draw.maybe() else tuple(draw.sampled(choices) for _ in range(count))


def settings(draw: Draw, count: int) -> dict[str, object]:
    found: dict[str, object] = {"stride": per_axis(draw, (1, 1, 2, 3), count)}
    found["padding"] = per_axis(draw, (0, 0, 1, 2), count)
    if draw.maybe():
        found["dilation"] = per_axis(draw, (1, 2), count)
    if draw.number(0, 4) == 0:
        found = {"padding": draw.sampled(["same", "valid"])}
    return found


def image(draw: Draw, channels: int, count: int) -> list[int]:
    lengths = [draw.named(draw.sampled(LENGTHS)) for _ in range(count)]
    shape = [*draw.shape(0, 1), channels, *lengths]
    if draw.wrong():
        return draw.sampled([draw.spoilt(shape), [*shape[:-1], 1], [2, 2, *shape]])
    return shape


def module(draw: Draw) -> Call:
    count = int(draw.name[-2])
    groups = draw.sampled([1, 1, 2])
    into, out = groups * draw.size(), groups * draw.size()
    kernel = per_axis(draw, (1, 2, 3), count)
    options = settings(draw, count) | ({"groups": groups} if groups > 1 else {})
    return Call([T(image(draw, into, count))], init=(into, out, kernel), options=options)


def lazy(draw: Draw) -> Call:
    call = module(draw)
    return Call(call.args, init=call.init[1:], options={k: v for k, v in call.options.items() if k != "groups"})


def functional(draw: Draw) -> Call:
    count = int(draw.name[-2])
    groups = draw.sampled([1, 1, 2])
    into, out = draw.size(), groups * draw.size()
    weight = [out, into, *(draw.sampled((1, 2, 3)) for _ in range(count))]
    shape = image(draw, groups * into, count)
    bias = [[out], draw.spoilt([out])][draw.wrong()]
    more = {"bias": T(bias)} if draw.maybe() else {}
    return Call((T(shape), T(weight)), {**more, **settings(draw, count), "groups": groups})


SAMPLES: dict[str, Sample] = {
    **{f"torch.nn.Conv{n}d": module for n in (1, 2, 3)},
    **{f"torch.nn.LazyConv{n}d": lazy for n in (1, 2, 3)},
    **{f"torch.nn.functional.conv{n}d": functional for n in (1, 2, 3)},
}
