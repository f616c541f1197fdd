"""Normalisation: layer, root-mean-square, batch, group and instance norm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Layer, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.settings import expect, first_axes, flag, overlaps, same_tensor, size, sizes_of, weight
from shapedoc.ops.registry import layer, op

__all__ = ["layer_norm"]

_LAYER_NORM = "normalized_shape: Value, eps: float = 1e-05, elementwise_affine: bool = True"
_DEVICE = "device: Value = None, dtype: Value = None"


def _layer_norm_parameters(layer: Layer, sizes: Sizes) -> Mapping[str, Tensor]:
    if flag(layer, "elementwise_affine") is False:
        return {}
    dims = sizes_of(OpContext(sizes, {}), layer.config["normalized_shape"])
    if dims is None:
        return {}
    several = _may_be_several(dims)
    found = {"weight": several or weight(*dims)}
    if layer.kind.endswith("LayerNorm") and flag(layer, "bias") is not False:
        found["bias"] = several or weight(*dims)
    return found


def _may_be_several(dims: Sequence[Dim]) -> Tensor | None:
    """What is learned where the sizes are a parameter that may be one or a list of them: the last axis is sure."""
    sym = dims[0].sym if len(dims) == 1 else None
    if sym is None or not sym.origin.startswith("parameter"):
        return None
    return Tensor(Shape((Run(), Axis(dims[0]))), kind="float", learned=True)


@layer("torch.nn.LayerNorm", f"{_LAYER_NORM}, bias: bool = True, {_DEVICE}", _layer_norm_parameters)
@layer("torch.nn.RMSNorm", f"{_LAYER_NORM.replace('1e-05', 'None')}, {_DEVICE}", _layer_norm_parameters)
def layer_norm_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Normalise over the last axes.

    input (*, *normalized_shape) -> the same
    Conflict: the last axes are not normalized_shape.
    Source: PyTorch documentation, torch.nn.LayerNorm, torch.nn.RMSNorm.
    """
    dims = sizes_of(at, layer.config["normalized_shape"])
    if dims is None:
        return at.tensor(at.shape(input), input)
    return _normalised(at, input, dims)


@op("torch.nn.functional.layer_norm", "torch.layer_norm")
def layer_norm(
    at: OpContext,
    input: Tensor,
    normalized_shape: Value,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Value | None = None,
) -> Value:
    """Normalise over the last axes.

    input (*, *normalized_shape), weight and bias normalized_shape -> as input
    Conflict: the last axes, those of weight or those of bias are not normalized_shape.
    Source: PyTorch documentation, torch.nn.functional.layer_norm.
    """
    return _functional(at, input, normalized_shape, [weight, bias])


@op("torch.nn.functional.rms_norm", "torch.rms_norm")
def rms_norm(
    at: OpContext, input: Tensor, normalized_shape: Value, weight: Tensor | None = None, eps: Value | None = None
) -> Value:
    """Divide by the root mean square over the last axes.

    input (*, *normalized_shape), weight normalized_shape -> as input
    Conflict: the last axes or those of weight are not normalized_shape.
    Source: PyTorch documentation, torch.nn.functional.rms_norm.
    """
    return _functional(at, input, normalized_shape, [weight])


def _functional(at: OpContext, input: Tensor, shape: Value, learned: Sequence[Tensor | None]) -> Tensor:
    dims = sizes_of(at, shape)
    if dims is None:
        return at.tensor(at.shape(input), input)
    for parameter in learned:
        if parameter is not None:
            at.need_rank(parameter, len(dims))
            for i, dim in enumerate(dims):
                expect(at, parameter, i, dim, "normalized_shape")
    return _normalised(at, input, dims)


def _normalised(at: OpContext, input: Tensor, dims: Sequence[Dim]) -> Tensor:
    if overlaps(at, input, len(dims)):
        return at.tensor(at.shape(input), input, kind="float")
    at.suffix(input, len(dims))
    items = at.shape(input).items
    kept = len(items) - len(dims)
    last = [expect(at, input, kept + i, dim, "normalized_shape") for i, dim in enumerate(dims)]
    for axis in last:
        at.sizes.mark(axis, "feature", at.line)
    return at.tensor((*items[:kept], *last), input, kind="float")


def _batch_norm_parameters(layer: Layer, sizes: Sizes) -> Mapping[str, Tensor]:
    channels = size(OpContext(sizes, {}), layer, "num_features")
    found = {} if flag(layer, "affine") is False else {"weight": weight(channels), "bias": weight(channels)}
    if flag(layer, "track_running_stats") is not False:
        found["running_mean"], found["running_var"] = weight(channels), weight(channels)
    return found


_BATCH_NORM = (
    "num_features: Dim, eps: float = 1e-05, momentum: float = 0.1, affine: bool = True,"
    f"track_running_stats: bool = True, {_DEVICE}"
)


@layer("torch.nn.BatchNorm1d", _BATCH_NORM, _batch_norm_parameters)
def batch_norm1d(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Normalise every channel over the batch.

    input (N, C) or (N, C, L) -> the same
    Conflict: another rank; C is not num_features.
    Source: PyTorch documentation, torch.nn.BatchNorm1d.
    """
    return _batch_norm(at, layer, input, 2, 3)


@layer("torch.nn.BatchNorm2d", _BATCH_NORM, _batch_norm_parameters)
def batch_norm2d(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Normalise every channel over the batch and the image.

    input (N, C, H, W) -> the same
    Conflict: another rank; C is not num_features.
    Source: PyTorch documentation, torch.nn.BatchNorm2d.
    """
    return _batch_norm(at, layer, input, 4)


@layer("torch.nn.BatchNorm3d", _BATCH_NORM, _batch_norm_parameters)
def batch_norm3d(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Normalise every channel over the batch and the volume.

    input (N, C, D, H, W) -> the same
    Conflict: another rank; C is not num_features.
    Source: PyTorch documentation, torch.nn.BatchNorm3d.
    """
    return _batch_norm(at, layer, input, 5)


_LAZY = _BATCH_NORM.removeprefix("num_features: Dim, ")


@layer("torch.nn.LazyBatchNorm1d", _LAZY)
@layer("torch.nn.LazyBatchNorm2d", _LAZY)
@layer("torch.nn.LazyBatchNorm3d", _LAZY)
def lazy_batch_norm(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Normalise every channel, whatever their number.

    input (N, C, *) -> the same
    Conflict: another rank.
    Source: PyTorch documentation, torch.nn.LazyBatchNorm1d.
    """
    return _batch_norm(at, layer, input, *{"1": (2, 3), "2": (4,), "3": (5,)}[layer.kind[-2]])


def _batch_norm(at: OpContext, layer: Layer, input: Tensor, *ranks: int) -> Tensor:
    shape = at.shape(input)
    if shape.run is None or len(ranks) == 1 or len(shape.axes) >= max(ranks):
        at.need_rank(input, *ranks)
    channels = size(at, layer, "num_features") if "num_features" in layer.config else at.fresh().dim
    return _channelled(at, input, 1, channels, "num_features")


def _channelled(
    at: OpContext, input: Tensor, position: int, channels: Dim, setting: str, *, loud: bool = True
) -> Tensor:
    """The input, its axis at `position` being the channels."""
    if first_axes(at, input, position + 1) is None:
        return at.tensor(at.shape(input), input, kind="float", order=input.order)
    axis = expect(at, input, position, channels, setting, loud=loud)
    at.sizes.mark(axis, "feature", at.line)
    items = list(at.shape(input).items)
    items[position] = axis
    return at.tensor(items, input, kind="float", order=input.order)


def _group_norm_parameters(layer: Layer, sizes: Sizes) -> Mapping[str, Tensor]:
    if flag(layer, "affine") is False:
        return {}
    channels = size(OpContext(sizes, {}), layer, "num_channels")
    return {"weight": weight(channels), "bias": weight(channels)}


@layer(
    "torch.nn.GroupNorm",
    f"num_groups: Dim, num_channels: Dim, eps: float = 1e-05, affine: bool = True, {_DEVICE}",
    _group_norm_parameters,
)
def group_norm_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Normalise every group of channels.

    input (N, C, *) -> the same
    Conflict: fewer than two axes; C is not num_channels.
    Source: PyTorch documentation, torch.nn.GroupNorm.
    """
    return _channelled(at, input, 1, size(at, layer, "num_channels"), "num_channels")


@op("torch.nn.functional.group_norm", "torch.group_norm")
def group_norm(
    at: OpContext,
    input: Tensor,
    num_groups: Dim,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Value | None = None,
) -> Value:
    """Normalise every group of channels.

    input (N, C, *), weight (C,), bias (C,) -> as input
    Conflict: fewer than two axes; groups that do not divide C; weight or bias of another size.
    Source: PyTorch documentation, torch.nn.functional.group_norm.
    """
    leading = first_axes(at, input, 2)
    if leading is None:
        return at.tensor(at.shape(input), input, kind="float", order=input.order)
    channels = leading[1]
    count, groups = channels.dim.const, num_groups.const
    if count is not None and groups and count % groups:
        at.fail("impossible-view", [input], axes=(1,), dims=(channels.dim, num_groups), why="groups")
    _per_channel(at, channels, [weight, bias])
    at.sizes.mark(channels, "feature", at.line)
    return at.tensor(at.shape(input), input, kind="float", order=input.order)


def _per_channel(at: OpContext, channels: Axis, learned: Sequence[Tensor | None]) -> None:
    for parameter in learned:
        if parameter is not None:
            at.need_rank(parameter, 1)
            expect(at, parameter, 0, channels.dim, "channels")


_INSTANCE_NORM = _BATCH_NORM.replace("affine: bool = True", "affine: bool = False").replace(
    "track_running_stats: bool = True", "track_running_stats: bool = False"
)


@layer("torch.nn.InstanceNorm1d", _INSTANCE_NORM, _batch_norm_parameters)
def instance_norm1d(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Normalise every channel of every sequence.

    input (C, L) or (N, C, L) -> the same
    Conflict: another rank; C is not num_features (torch only warns where the module is not affine).
    Source: PyTorch documentation, torch.nn.InstanceNorm1d.
    """
    return _instance_norm(at, layer, input, 1)


@layer("torch.nn.InstanceNorm2d", _INSTANCE_NORM, _batch_norm_parameters)
def instance_norm2d(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Normalise every channel of every image.

    input (C, H, W) or (N, C, H, W) -> the same
    Conflict: another rank; C is not num_features (torch only warns where the module is not affine).
    Source: PyTorch documentation, torch.nn.InstanceNorm2d.
    """
    return _instance_norm(at, layer, input, 2)


@layer("torch.nn.InstanceNorm3d", _INSTANCE_NORM, _batch_norm_parameters)
def instance_norm3d(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Normalise every channel of every volume.

    input (C, D, H, W) or (N, C, D, H, W) -> the same
    Conflict: another rank; C is not num_features (torch only warns where the module is not affine).
    Source: PyTorch documentation, torch.nn.InstanceNorm3d.
    """
    return _instance_norm(at, layer, input, 3)


def _instance_norm(at: OpContext, layer: Layer, input: Tensor, spatial: int) -> Tensor:
    shape = at.shape(input)
    if shape.run is None or len(shape.axes) > spatial + 1:
        at.need_rank(input, spatial + 1, spatial + 2)
    if overlaps(at, input, spatial + 1):
        return at.tensor(at.shape(input), input, kind="float", order=input.order)
    at.suffix(input, spatial + 1)
    position = len(at.shape(input).items) - spatial - 1
    channels = size(at, layer, "num_features")
    axis = at.shape(input).items[position]
    if flag(layer, "affine"):
        axis = expect(at, input, position, channels, "num_features")
    elif isinstance(axis, Axis) and not at.sizes.compare(axis.dim, channels).ok:
        # Nothing is learnt where nothing raises.
        expect(at, input, position, channels, "num_features", loud=False)
    if isinstance(axis, Axis):
        at.sizes.mark(axis, "feature", at.line)
    return at.tensor(at.shape(input), input, kind="float", order=input.order)


@op("torch.nn.functional.batch_norm")
def batch_norm(
    at: OpContext,
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: Value | None = None,
    momentum: Value | None = None,
    eps: Value | None = None,
) -> Value:
    """Normalise every channel over all other axes.

    input (N, C, *), the others (C,) -> as input
    Conflict: fewer than two axes; a statistic or a parameter of another size.
    Source: PyTorch documentation, torch.nn.functional.batch_norm.
    """
    leading = first_axes(at, input, 2)
    if leading is not None:
        _per_channel(at, leading[1], [running_mean, running_var, weight, bias])
    return at.tensor(at.shape(input), input, kind="float", order=input.order)


@op("torch.nn.functional.instance_norm")
def instance_norm(
    at: OpContext,
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: Value | None = None,
    momentum: Value | None = None,
    eps: Value | None = None,
) -> Value:
    """Normalise every channel of every sample.

    input (N, C, *), the others (C,) -> as input
    Conflict: fewer than two axes; a statistic or a parameter of another size.
    Source: PyTorch documentation, torch.nn.functional.instance_norm.
    """
    leading = first_axes(at, input, 2)
    if leading is not None:
        _per_channel(at, leading[1], [running_mean, running_var, weight, bias])
    return same_tensor(at, input)
