"""Convolutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.dim import ONE, ZERO, Dim
from shapedoc.core.shape import Axis, Run
from shapedoc.core.sizes import Kind, Sizes
from shapedoc.core.value import Int, Layer, Seq, Str, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.measuring.window import Window, slid, windows
from shapedoc.ops.meeting.settings import each, expect, flag, overlaps, size, weight
from shapedoc.ops.registry import layer, op

__all__ = ["channels_place", "check_bias", "learned_tensors", "windows_of"]

_ONE, _ZERO = Int(ONE), Int(ZERO)
_CONV = (
    "in_channels: Dim, out_channels: Dim, kernel_size: Value, stride: Value = 1, padding: Value = 0,"
    "dilation: Value = 1, groups: Dim = 1, bias: bool = True, padding_mode: str = 'zeros',"
    "device: Value = None, dtype: Value = None"
)


def learned_tensors(layer: Layer, sizes: Sizes) -> Mapping[str, Tensor]:
    at = OpContext(sizes, {})
    into, out, groups = (size(at, layer, n) for n in ("in_channels", "out_channels", "groups"))
    kernel = each(at, layer.config["kernel_size"], int(layer.kind[-2]), "kernel_size")
    if "Transpose" in layer.kind:
        learned = weight(into, at.sizes.floordiv(out, groups), *kernel)
    else:
        learned = weight(out, at.sizes.floordiv(into, groups), *kernel)
    found = {"weight": learned}
    if flag(layer, "bias") is not False:
        found["bias"] = weight(out)
    return found


@layer("torch.nn.Conv1d", _CONV, learned_tensors)
def conv1d_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Convolve a sequence.

    input (N, C_in, L) or (C_in, L) -> (N, C_out, L_out) or (C_out, L_out)
    Conflict: another rank; C_in is not in_channels; the kernel is longer than the padded sequence.
    Source: PyTorch documentation, torch.nn.Conv1d.
    """
    return _module(at, layer, input, 1)


@layer("torch.nn.Conv2d", _CONV, learned_tensors)
def conv2d_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Convolve an image.

    input (N, C_in, H, W) or (C_in, H, W) -> (N, C_out, H_out, W_out) or (C_out, H_out, W_out)
    Conflict: another rank; C_in is not in_channels; the kernel is larger than the padded image.
    Source: PyTorch documentation, torch.nn.Conv2d.
    """
    return _module(at, layer, input, 2)


@layer("torch.nn.Conv3d", _CONV, learned_tensors)
def conv3d_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Convolve a volume.

    input (N, C_in, D, H, W) or (C_in, D, H, W) -> (N, C_out, D_out, H_out, W_out) or the same without N
    Conflict: another rank; C_in is not in_channels; the kernel is larger than the padded volume.
    Source: PyTorch documentation, torch.nn.Conv3d.
    """
    return _module(at, layer, input, 3)


_LAZY = _CONV.removeprefix("in_channels: Dim, ")


@layer("torch.nn.LazyConv1d", _LAZY)
@layer("torch.nn.LazyConv2d", _LAZY)
@layer("torch.nn.LazyConv3d", _LAZY)
def lazy_convolution(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Convolve, whatever the number of channels.

    input (N, C_in, *) or (C_in, *) -> (N, C_out, *) or (C_out, *)
    Conflict: another rank; the kernel is longer than a padded axis.
    Source: PyTorch documentation, torch.nn.LazyConv1d.
    """
    return _module(at, layer, input, int(layer.kind[-2]))


def _module(at: OpContext, layer: Layer, input: Tensor, count: int) -> Tensor:
    c = layer.config
    found = windows_of(at, c["kernel_size"], c["stride"], c["padding"], c["dilation"], count)
    into = size(at, layer, "in_channels") if "in_channels" in c else at.fresh().dim
    return _convolved(at, input, (into, "in_channels"), size(at, layer, "out_channels"), found)


def windows_of(
    at: OpContext, kernel: Value, stride: Value, padding: Value, dilation: Value, count: int
) -> Sequence[Window | None]:
    """One window an axis; None for an axis that keeps its length ("same")."""
    if isinstance(padding, Str):
        if padding.value == "same":
            return (None,) * count
        padding = _ZERO
    return windows(at, count, kernel, stride, padding, dilation)


def channels_place(at: OpContext, input: Tensor, count: int) -> int | None:
    """Require ``(C, *)`` or ``(N, C, *)`` with `count` axes after the channels; gives the place of the channels.

    None where it cannot be told from the first axes that are known.
    """
    shape = at.shape(input)
    if shape.run is None or len(shape.axes) > count + 1:
        at.need_rank(input, count + 1, count + 2)
    else:
        run = shape.items[shape.run]
        if isinstance(run, Run) and run.most is None:
            at.sizes.bind_run(run, (Run(run.name, most=count + 2 - len(shape.axes)),))
    if overlaps(at, input, count + 1):
        return None
    at.suffix(input, count + 1)
    return len(at.shape(input).items) - count - 1


def _convolved(at: OpContext, input: Tensor, into: tuple[Dim, str], out: Dim, found: Sequence[Window | None]) -> Tensor:
    if _is_batch_of_one(at, input, into[0]):
        at.need_rank(input, len(found) + 2)
    place = channels_place(at, input, len(found))
    if place is None:
        return _of_few_axes(at, input, len(found) + 2)
    channels = expect(at, input, place, *into)
    new = at.axis(out)
    at.sizes.mark(channels, "feature", at.line)
    at.sizes.mark(new, "feature", at.line)
    items = at.shape(input).items
    if place == 1 and isinstance(items[0], Axis):
        at.sizes.mark(items[0], "batch", at.line)
    spatial: list[Axis] = []
    for i, window in enumerate(found, place + 1):
        axis = items[i]
        assert isinstance(axis, Axis)
        if window is None or _keeps(window):
            spatial.append(axis)
        else:
            spatial.append(at.axis(slid(at, input, i, axis.dim, window)))
    return at.tensor((*items[:place], new, *spatial), input, kind="float")


def _of_few_axes(at: OpContext, input: Tensor, most: int) -> Tensor:
    """A new tensor with as many axes as the input has, and no more than `most`."""
    result = at.unknown(input, kind="float", more=0)
    run = result.shape.items[0]
    if isinstance(run, Run):
        run.most = most
    return result


def _is_batch_of_one(at: OpContext, input: Tensor, channels: Dim) -> bool:
    """Whether a tensor of unknown rank begins with a 1 that is not the number of channels."""
    shape = at.shape(input)
    first = shape.prefix[0].dim if shape.run is not None and shape.prefix else None
    return first is not None and first.const == 1 and (channels.named or channels.const not in (None, 1))


def _keeps(window: Window) -> bool:
    """Whether the axis keeps its length, and every position its place."""
    return window.known and window.stride == 1 and 2 * window.padding - window.span + 1 == ZERO


@op("torch.nn.functional.conv1d", "torch.conv1d")
def conv1d(
    at: OpContext,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Value = _ONE,
    padding: Value = _ZERO,
    dilation: Value = _ONE,
    groups: Dim = ONE,
) -> Value:
    """Convolve a sequence.

    input (N, C, L) or (C, L), weight (D, C/groups, k), bias (D,) -> (N, D, L_out) or (D, L_out)
    Conflict: another rank; channels or bias of another size; a kernel that is too long.
    Source: PyTorch documentation, torch.nn.functional.conv1d.
    """
    return _functional(at, input, weight, bias, (stride, padding, dilation), groups, 1)


@op("torch.nn.functional.conv2d", "torch.conv2d")
def conv2d(
    at: OpContext,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Value = _ONE,
    padding: Value = _ZERO,
    dilation: Value = _ONE,
    groups: Dim = ONE,
) -> Value:
    """Convolve an image.

    input (N, C, H, W) or (C, H, W), weight (D, C/groups, kh, kw), bias (D,) -> (N, D, H_out, W_out)
    Conflict: another rank; channels or bias of another size; a kernel that is too large.
    Source: PyTorch documentation, torch.nn.functional.conv2d.
    """
    return _functional(at, input, weight, bias, (stride, padding, dilation), groups, 2)


@op("torch.nn.functional.conv3d", "torch.conv3d")
def conv3d(
    at: OpContext,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Value = _ONE,
    padding: Value = _ZERO,
    dilation: Value = _ONE,
    groups: Dim = ONE,
) -> Value:
    """Convolve a volume.

    input (N, C, D, H, W) or (C, D, H, W), weight (E, C/groups, kd, kh, kw), bias (E,) -> (N, E, D_out, H_out, W_out)
    Conflict: another rank; channels or bias of another size; a kernel that is too large.
    Source: PyTorch documentation, torch.nn.functional.conv3d.
    """
    return _functional(at, input, weight, bias, (stride, padding, dilation), groups, 3)


def _functional(
    at: OpContext,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    settings: tuple[Value, Value, Value],
    groups: Dim,
    count: int,
) -> Tensor:
    out, into, *kernel = at.need_rank(weight, count + 2)
    check_bias(at, bias, out)
    found = windows_of(at, Seq(tuple(Int(k.dim) for k in kernel)), *settings, count)
    return _convolved(at, input, (into.dim * groups, "weight"), out.dim, found)


def check_bias(at: OpContext, bias: Tensor | None, out: Axis) -> None:
    if bias is None:
        return
    (length,) = at.need_rank(bias, 1)
    sameness = at.meet(length, out)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            "elementwise",
            [bias, "weight"],
            axes=(0, 0),
            dims=(length.dim, out.dim),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
        )
