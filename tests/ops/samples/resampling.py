"""Calls that flatten, pad and resize."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def flatten(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    options = {} if draw.maybe() else {"start_dim": draw.any_axis(len(shape)), "end_dim": draw.any_axis(len(shape))}
    return Call([T(shape)], options=options)


def unflatten(draw: Draw) -> Call:
    n, m = draw.sizes(2)
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    shape[axis] = n * m
    wanted: tuple[int, ...] = draw.sampled([(n, m), (n, -1), (-1, m)])
    if draw.wrong():
        wanted = (n, m, draw.size(least=2))
    return Call([T(shape)], init=(axis, wanted))


def pad(draw: Draw) -> Call:
    count = int(draw.name[-2])
    # Reflection and wrapping need more elements than they add.
    lengths = [draw.size(least=3) for _ in range(count)]
    shape = [*draw.shape(0, 1), draw.size(), *lengths]
    padding = draw.sampled([1, 2, tuple(draw.number(0, 2) for _ in range(2 * count))])
    if draw.wrong():
        shape = draw.sampled([shape[-1:], [2, 2, *shape]])
    init = (padding, 0.5) if "Constant" in draw.name else (padding,)
    return Call([T(shape)], init=init)


def resize(draw: Draw) -> Call:
    only_images = "2d" in draw.name
    count = 2 if only_images else draw.number(1, 3)
    shape = draw.sizes(2 + count)
    if draw.wrong():
        shape = draw.sampled([shape[:2], [*shape, 2]])
    given: dict[str, object] = draw.sampled(
        [{"scale_factor": 2}, {"scale_factor": 2.0}, {"scale_factor": 1.5}, {"size": draw.size(least=2)}]
    )
    if draw.number(0, 2) == 0:
        given = {"size": tuple(draw.sizes(count))}
    if draw.name == "torch.nn.functional.interpolate":
        return Call([T(shape)], given)
    return Call([T(shape)], options=given)


def shuffle(draw: Draw) -> Call:
    r, c = draw.named(draw.sampled([1, 2, 3])), draw.size()
    shape = [*draw.shape(0, 2), r * r * c, draw.size(), draw.size()]
    if draw.wrong():
        shape = draw.sampled([shape[-2:], [r * r * c + 1, 2, 2]])
    return placed(draw, shape, r)


def unshuffle(draw: Draw) -> Call:
    r = draw.named(draw.sampled([1, 2, 3]))
    shape = [*draw.shape(0, 2), draw.size(), r * draw.size(), r * draw.size()]
    if draw.wrong():
        shape = draw.sampled([shape[-2:], [*shape[:-1], shape[-1] + 1]])
    return placed(draw, shape, r)


def placed(draw: Draw, shape: list[int], factor: int) -> Call:
    if draw.name.startswith("torch.nn.Pixel"):
        return Call([T(shape)], init=(factor,))
    return Call((T(shape), factor))


def channels(draw: Draw) -> Call:
    groups = draw.named(draw.sampled([1, 2, 3]))
    shape = [draw.size(), groups * draw.size(), *draw.shape(1, 2)]
    if draw.wrong():
        shape = [shape[0], shape[1] + 1, *shape[2:]]
    return Call([T(shape)], init=(groups,))


PADDED = "ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d"
SAMPLES: dict[str, Sample] = {
    "torch.nn.Flatten": flatten,
    "torch.nn.Unflatten": unflatten,
    **{f"torch.nn.{name}": pad for name in PADDED.split()},
    **{f"torch.nn.{name}Pad{n}d": pad for name in ("Replication", "Circular") for n in (1, 2)},
    "torch.nn.Upsample": resize,
    "torch.nn.UpsamplingNearest2d": resize,
    "torch.nn.UpsamplingBilinear2d": resize,
    "torch.nn.functional.interpolate": resize,
    "torch.nn.PixelShuffle": shuffle,
    "torch.nn.functional.pixel_shuffle": shuffle,
    "torch.nn.PixelUnshuffle": unshuffle,
    "torch.nn.functional.pixel_unshuffle": unshuffle,
    "torch.nn.ChannelShuffle": channels,
}
