"""Calls of normalisation modules and functions."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def layer_norm(draw: Draw) -> Call:
    last = draw.shape(1, 2)
    shape = [*draw.shape(0, 2), *last]
    if draw.wrong():
        shape = draw.spoilt(shape)
    given = last[0] if len(last) == 1 and draw.maybe() else draw.sampled([last, tuple(last)])
    return Call([T(shape)], init=(given,))


def functional(draw: Draw) -> Call:
    last = draw.shape(1, 2)
    shape, weight = [*draw.shape(0, 2), *last], list(last)
    if draw.wrong():
        if draw.maybe():
            shape = draw.spoilt(shape)
        else:
            weight = draw.spoilt(weight)
    more = {"bias": T(last)} if draw.name.endswith("layer_norm") and draw.maybe() else {}
    return Call((T(shape), tuple(last)), {"weight": T(weight), **more})


def batch_norm(draw: Draw) -> Call:
    spatial = {"1d": draw.number(0, 1), "2d": 2, "3d": 3}[draw.name[-2:]]
    channels = draw.size()
    # One value alone has no variance: the batch has at least two.
    shape = [draw.size(least=2), channels, *draw.sizes(spatial)]
    if draw.wrong():
        shape = draw.sampled([[shape[0], draw.other(channels), *shape[2:]], [*shape, 2, 2], shape[:1]])
    return Call([T(shape)], init=(channels,))


def lazy_batch_norm(draw: Draw) -> Call:
    call = batch_norm(draw)
    return Call(call.args)


def group_norm(draw: Draw) -> Call:
    groups = draw.named(draw.sampled([1, 2]))
    channels = groups * draw.size()
    shape = [draw.size(), channels, *draw.shape(1, 2)]
    # A group of one element has no variance either.
    shape[-1] = draw.size(least=2)
    functional = draw.name != "torch.nn.GroupNorm"
    if draw.wrong():
        shape = [shape[:1], [shape[0], channels + (1 if functional else 3), *shape[2:]]][draw.number(0, 1)]
    if not functional:
        return Call([T(shape)], init=(groups, channels))
    return Call((T(shape), groups), {"weight": T([channels])} if draw.maybe() else {})


def instance_norm(draw: Draw) -> Call:
    spatial = {"1d": 1, "2d": 2, "3d": 3}[draw.name[-2:]]
    channels = draw.size()
    shape = [*draw.shape(0, 1), channels, *(draw.size(least=2) for _ in range(spatial))]
    if draw.wrong():
        place = len(shape) - spatial - 1
        shape = draw.sampled([[*shape[:place], draw.other(channels), *shape[place + 1 :]], [2, 2, *shape], shape[-1:]])
    return Call([T(shape)], init=(channels,), options={"affine": draw.maybe()})


def per_channel(draw: Draw) -> Call:
    channels = draw.size()
    shape, statistics = [draw.size(least=2), channels, draw.size(least=2)], [channels]
    if draw.wrong():
        statistics = [draw.other(channels)]
    mean = draw.sampled([None, T([channels])])
    return Call(
        (T(shape), mean, mean and T([channels], fill=1)),
        {"weight": T(statistics), "bias": T([channels])}
        | ({"training": True} if draw.name.endswith("batch_norm") else {}),
    )


SAMPLES: dict[str, Sample] = {
    "torch.nn.LayerNorm": layer_norm,
    "torch.nn.RMSNorm": layer_norm,
    "torch.nn.functional.layer_norm": functional,
    "torch.nn.functional.rms_norm": functional,
    "torch.nn.BatchNorm1d": batch_norm,
    "torch.nn.BatchNorm2d": batch_norm,
    "torch.nn.BatchNorm3d": batch_norm,
    **{f"torch.nn.LazyBatchNorm{n}d": lazy_batch_norm for n in (1, 2, 3)},
    "torch.nn.GroupNorm": group_norm,
    "torch.nn.functional.group_norm": group_norm,
    "torch.nn.InstanceNorm1d": instance_norm,
    "torch.nn.InstanceNorm2d": instance_norm,
    "torch.nn.InstanceNorm3d": instance_norm,
    "torch.nn.functional.batch_norm": per_channel,
    "torch.nn.functional.instance_norm": per_channel,
}
