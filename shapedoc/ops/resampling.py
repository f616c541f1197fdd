"""Modules that change layout or length: flatten, pad, upsample, shuffle pixels."""

from __future__ import annotations

from math import floor

from shapedoc.core.dim import ZERO, Dim
from shapedoc.core.shape import Axis
from shapedoc.core.value import Float, Int, Layer, NoneValue, Seq, Tensor, Value
from shapedoc.core.verdict import Lost
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.settings import each, number, size, sizes_of
from shapedoc.ops.registry import layer, op
from shapedoc.ops.view import flatten, unflatten

__all__ = ["batched", "divided", "interpolate", "pixel_shuffle"]


@layer("torch.nn.Flatten", "start_dim: int = 1, end_dim: int = -1")
def flatten_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Join neighbouring axes into one.

    input (N, n, m) -> (N, n*m)
    Conflict: an axis does not exist.
    Source: PyTorch documentation, torch.nn.Flatten.
    """
    start, end = number(layer, "start_dim"), number(layer, "end_dim")
    if start is None or end is None:
        at.lost("`start_dim` is not known")
    return flatten(at, input, start, end)


@layer("torch.nn.Unflatten", "dim: int, unflattened_size: Value")
def unflatten_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Split one axis into several.

    input (*, n*m, *) -> (*, n, m, *)
    Conflict: the axis does not exist; the numbers of elements cannot agree.
    Source: PyTorch documentation, torch.nn.Unflatten.
    """
    dim = number(layer, "dim")
    if dim is None:
        at.lost("`dim` is not known")
    return unflatten(at, input, dim, layer.config["unflattened_size"])


@layer("torch.nn.ZeroPad1d", "padding: Value")
@layer("torch.nn.ZeroPad2d", "padding: Value")
@layer("torch.nn.ZeroPad3d", "padding: Value")
@layer("torch.nn.ConstantPad1d", "padding: Value, value: float")
@layer("torch.nn.ConstantPad2d", "padding: Value, value: float")
@layer("torch.nn.ConstantPad3d", "padding: Value, value: float")
@layer("torch.nn.ReflectionPad1d", "padding: Value")
@layer("torch.nn.ReflectionPad2d", "padding: Value")
@layer("torch.nn.ReplicationPad1d", "padding: Value")
@layer("torch.nn.ReplicationPad2d", "padding: Value")
@layer("torch.nn.CircularPad1d", "padding: Value")
@layer("torch.nn.CircularPad2d", "padding: Value")
def pad_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Lengthen the last axes at both ends.

    input (*, L), padding (left, right) -> (*, L + left + right); pairs go from the last axis to the first
    Conflict: fewer axes than pairs; a rank that the module does not take (reflection, replication, circular).
    Source: PyTorch documentation, torch.nn.ZeroPad2d and its kin.
    """
    count = int(layer.kind[-2])
    amounts = _amounts(at, layer.config["padding"], 2 * count)
    if not layer.kind.startswith(("torch.nn.Zero", "torch.nn.Constant")):
        batched(at, input, count)
    at.suffix(input, count)
    items = list(at.shape(input).items)
    for k in range(count):
        axis = items[-1 - k]
        assert isinstance(axis, Axis)
        if amounts is None:
            items[-1 - k] = at.fresh()
            continue
        more = amounts[2 * k] + amounts[2 * k + 1]
        if more != ZERO:
            items[-1 - k] = at.axis(axis.dim + more)
    return at.tensor(items, input)


def _amounts(at: OpContext, padding: Value, count: int) -> tuple[Dim, ...] | None:
    try:
        return each(at, padding, count, "padding")
    except Lost:
        return None


def batched(at: OpContext, input: Tensor, spatial: int) -> int:
    """Require ``(C, *)`` or ``(N, C, *)`` with `spatial` axes after the channels; gives the first of those."""
    shape = at.shape(input)
    if shape.run is None or len(shape.axes) > spatial + 1:
        at.need_rank(input, spatial + 1, spatial + 2)
    at.suffix(input, spatial + 1)
    return len(at.shape(input).items) - spatial


@layer(
    "torch.nn.Upsample",
    "size: Value = None, scale_factor: Value = None, mode: str = 'nearest', align_corners: Value = None,"
    "recompute_scale_factor: Value = None",
)
def upsample(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Resize all axes after the channels.

    input (N, C, *) -> (N, C, *size), or each length times scale_factor, rounded down
    Conflict: a rank that is not 3, 4 or 5.
    Source: PyTorch documentation, torch.nn.Upsample.
    """
    return _resized(at, input, layer.config["size"], layer.config["scale_factor"])


@layer("torch.nn.UpsamplingNearest2d", "size: Value = None, scale_factor: Value = None")
@layer("torch.nn.UpsamplingBilinear2d", "size: Value = None, scale_factor: Value = None")
def upsample2d(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Resize an image.

    input (N, C, H, W) -> (N, C, *size), or each length times scale_factor, rounded down
    Conflict: a rank that is not 4.
    Source: PyTorch documentation, torch.nn.UpsamplingNearest2d.
    """
    return _resized(at, input, layer.config["size"], layer.config["scale_factor"])


@op("torch.nn.functional.interpolate")
def interpolate(
    at: OpContext,
    input: Tensor,
    size: Value | None = None,
    scale_factor: Value | None = None,
    mode: Value | None = None,
    align_corners: Value | None = None,
    recompute_scale_factor: Value | None = None,
    antialias: Value | None = None,
) -> Value:
    """Resize all axes after the channels.

    input (N, C, *) -> (N, C, *size), or each length times scale_factor, rounded down
    Conflict: a rank that is not 3, 4 or 5; another number of sizes.
    Source: PyTorch documentation, torch.nn.functional.interpolate.
    """
    return _resized(at, input, size or NoneValue(), scale_factor or NoneValue())


def _resized(at: OpContext, input: Tensor, size: Value, scale: Value) -> Tensor:
    axes = at.need_rank(input, 3, 4, 5)
    count = len(axes) - 2
    if not isinstance(size, NoneValue):
        wanted = sizes_of(at, size)
        if wanted is not None and isinstance(size, Seq) and len(wanted) != count:
            at.fail("wrong-rank", [input], wanted=str(len(wanted) + 2), got=str(len(axes)))
        new = [at.fresh()] * count if wanted is None else [at.axis(d) for d in (wanted * count)[:count]]
    else:
        scales = scale.items if isinstance(scale, Seq) else (scale,) * count
        if len(scales) != count:
            at.fail("wrong-rank", [input], wanted=str(len(scales) + 2), got=str(len(axes)))
        new = [_scaled(at, axis, factor) for axis, factor in zip(axes[2:], scales, strict=True)]
    return at.tensor((*axes[:2], *new), input)


def _scaled(at: OpContext, axis: Axis, factor: Value) -> Axis:
    match factor:
        case Int(dim=dim):
            return at.axis(axis.dim * dim)
        case Float(value=float(value), powers=(), known=True):
            if value.is_integer():
                return at.axis(axis.dim * int(value))
            length = axis.dim.const
            return at.fresh() if length is None else at.axis(floor(length * value))
        case _:
            return at.fresh()


@layer("torch.nn.PixelShuffle", "upscale_factor: Dim")
def pixel_shuffle_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Move channels into the image.

    input (*, C*r*r, H, W) -> (*, C, H*r, W*r)
    Conflict: fewer than three axes; channels that r*r does not divide.
    Source: PyTorch documentation, torch.nn.PixelShuffle.
    """
    return pixel_shuffle(at, input, size(at, layer, "upscale_factor"))


@op("torch.nn.functional.pixel_shuffle", "torch.pixel_shuffle")
def pixel_shuffle(at: OpContext, input: Tensor, upscale_factor: Dim) -> Value:
    """Move channels into the image.

    input (*, C*r*r, H, W) -> (*, C, H*r, W*r)
    Conflict: fewer than three axes; channels that r*r does not divide.
    Source: PyTorch documentation, torch.nn.functional.pixel_shuffle.
    """
    channels, height, width = at.suffix(input, 3)
    r = upscale_factor
    left = divided(at, input, -3, channels, r * r)
    lead = at.shape(input).items[:-3]
    return at.tensor((*lead, left, at.axis(height.dim * r), at.axis(width.dim * r)), input)


@layer("torch.nn.PixelUnshuffle", "downscale_factor: Dim")
def pixel_unshuffle_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Move the image into channels.

    input (*, C, H*r, W*r) -> (*, C*r*r, H, W)
    Conflict: fewer than three axes; an image that r does not divide.
    Source: PyTorch documentation, torch.nn.PixelUnshuffle.
    """
    return pixel_unshuffle(at, input, size(at, layer, "downscale_factor"))


@op("torch.nn.functional.pixel_unshuffle", "torch.pixel_unshuffle")
def pixel_unshuffle(at: OpContext, input: Tensor, downscale_factor: Dim) -> Value:
    """Move the image into channels.

    input (*, C, H*r, W*r) -> (*, C*r*r, H, W)
    Conflict: fewer than three axes; an image that r does not divide.
    Source: PyTorch documentation, torch.nn.functional.pixel_unshuffle.
    """
    channels, height, width = at.suffix(input, 3)
    r = downscale_factor
    rows, columns = divided(at, input, -2, height, r), divided(at, input, -1, width, r)
    return at.tensor((*at.shape(input).items[:-3], at.axis(channels.dim * r * r), rows, columns), input)


def divided(at: OpContext, input: Tensor, back: int, axis: Axis, parts: Dim) -> Axis:
    """An axis in `parts` equal parts: the length of one."""
    length, count = axis.dim.value, parts.value
    if length is not None and count and length % count:
        place = back + (len(at.shape(input).items) if at.shape(input).rank is not None else 0)
        at.fail("impossible-view", [input], axes=(place,), dims=(axis.dim, parts), why="divide")
    exact = axis.dim.divide(parts)
    if exact is not None:
        return at.axis(exact)
    return at.axis(at.sizes.floordiv(axis.dim, parts, line=at.line)) if axis.dim.named else at.fresh()


@layer("torch.nn.ChannelShuffle", "groups: Dim")
def channel_shuffle(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Deal the channels of several groups out among each other.

    input (N, C, *) -> the same
    Conflict: fewer than three axes; channels that the groups do not divide.
    Source: PyTorch documentation, torch.nn.ChannelShuffle.
    """
    _, channels, _ = at.prefix(input, 3)
    divided(at, input, 1 - len(at.shape(input).items), channels, size(at, layer, "groups"))
    return at.tensor(at.shape(input), input)
