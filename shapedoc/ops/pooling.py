"""Pooling: the mean or the maximum of windows."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ONE, ZERO
from shapedoc.core.shape import Axis
from shapedoc.core.value import Bool, Int, Layer, NoneValue, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.measuring.window import Window, slid, windows
from shapedoc.ops.meeting.settings import flag, overlaps
from shapedoc.ops.registry import layer, op

__all__: list[str] = []

_ONE, _ZERO, _FALSE = Int(ONE), Int(ZERO), Bool(False)
_MAX = (
    "kernel_size: Value, stride: Value = None, padding: Value = 0, dilation: Value = 1,"
    "return_indices: bool = False, ceil_mode: bool = False"
)
_AVERAGE = (
    "kernel_size: Value, stride: Value = None, padding: Value = 0, ceil_mode: bool = False,"
    "count_include_pad: bool = True, divisor_override: Value = None"
)


@layer("torch.nn.MaxPool1d", _MAX)
@layer("torch.nn.MaxPool2d", _MAX)
@layer("torch.nn.MaxPool3d", _MAX)
def max_pool_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Take the maximum of every window.

    input (N, C, *) or (C, *) -> the same with fewer steps; with return_indices, twice
    Conflict: another rank; a window that is longer than the padded axis.
    Source: PyTorch documentation, torch.nn.MaxPool1d.
    """
    c = layer.config
    found = _windows(at, c["kernel_size"], c["stride"], c["padding"], c["dilation"], c["ceil_mode"], layer.kind)
    return _with_indices(at, _pooled(at, input, found), flag(layer, "return_indices"))


@layer("torch.nn.AvgPool1d", _AVERAGE.rpartition(",")[0])
@layer("torch.nn.AvgPool2d", _AVERAGE)
@layer("torch.nn.AvgPool3d", _AVERAGE)
def average_pool_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Take the mean of every window.

    input (N, C, *) or (C, *) -> the same with fewer steps
    Conflict: another rank; a window that is longer than the padded axis.
    Source: PyTorch documentation, torch.nn.AvgPool1d.
    """
    c = layer.config
    found = _windows(at, c["kernel_size"], c["stride"], c["padding"], _ONE, c["ceil_mode"], layer.kind)
    return _pooled(at, input, found)


@layer("torch.nn.AdaptiveAvgPool1d", "output_size: Value")
@layer("torch.nn.AdaptiveAvgPool2d", "output_size: Value")
@layer("torch.nn.AdaptiveAvgPool3d", "output_size: Value")
def adaptive_average_pool_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Take means so that a given number of steps comes out.

    input (N, C, *) or (C, *) -> (N, C, *output_size) or (C, *output_size)
    Conflict: another rank.
    Source: PyTorch documentation, torch.nn.AdaptiveAvgPool1d.
    """
    return _adapted(at, input, layer.config["output_size"], int(layer.kind[-2]))


@layer("torch.nn.AdaptiveMaxPool1d", "output_size: Value, return_indices: bool = False")
@layer("torch.nn.AdaptiveMaxPool2d", "output_size: Value, return_indices: bool = False")
@layer("torch.nn.AdaptiveMaxPool3d", "output_size: Value, return_indices: bool = False")
def adaptive_max_pool_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Take maxima so that a given number of steps comes out.

    input (N, C, *) or (C, *) -> (N, C, *output_size) or (C, *output_size); with return_indices, twice
    Conflict: another rank.
    Source: PyTorch documentation, torch.nn.AdaptiveMaxPool1d.
    """
    result = _adapted(at, input, layer.config["output_size"], int(layer.kind[-2]))
    return _with_indices(at, result, flag(layer, "return_indices"))


def _windows(
    at: OpContext, kernel: Value, stride: Value, padding: Value, dilation: Value, ceil: Value, kind: str
) -> tuple[Window, ...]:
    steps = kernel if isinstance(stride, NoneValue) else stride
    partial = ceil.value if isinstance(ceil, Bool) else None
    return windows(at, int(kind[-2]), kernel, steps, padding, dilation, partial)


def _place(at: OpContext, input: Tensor, count: int) -> int | None:
    """Where the axes that are pooled begin; None where they cannot be told from the first ones that are known."""
    shape = at.shape(input)
    if shape.run is None or len(shape.axes) > count + 1:
        at.need_rank(input, count + 1, count + 2)
    if overlaps(at, input, count + 1):
        return None
    at.suffix(input, count + 1)
    return len(at.shape(input).items) - count


def _pooled(at: OpContext, input: Tensor, found: Sequence[Window]) -> Tensor:
    place = _place(at, input, len(found))
    if place is None:
        return at.unknown(input, more=0)
    items = at.shape(input).items
    spatial: list[Axis] = []
    for i, window in enumerate(found, place):
        axis = items[i]
        assert isinstance(axis, Axis)
        kernel, padding = window.kernel.value, window.padding.value
        if window.known and kernel is not None and padding is not None and padding * 2 > kernel:
            at.fail(
                "mismatched-module-input",
                [input],
                axes=(i,),
                dims=(window.padding, window.kernel),
                setting="padding",
            )
        spatial.append(at.axis(slid(at, input, i, axis.dim, window)))
    return at.tensor((*items[:place], *spatial), input)


def _adapted(at: OpContext, input: Tensor, output_size: Value, count: int) -> Tensor:
    place = _place(at, input, count)
    if place is None:
        return at.unknown(input, more=0)
    items = at.shape(input).items
    if isinstance(output_size, Seq) and output_size.rest is None and len(output_size.items) == count:
        wanted = output_size.items
    else:
        wanted = (output_size,) * count
    spatial: list[Axis] = []
    for item, given in zip(items[place:], wanted, strict=True):
        assert isinstance(item, Axis)
        match given:
            case NoneValue():
                spatial.append(item)
            case Int(dim=dim):
                spatial.append(at.axis(dim))
            case _:
                spatial.append(at.fresh())
    return at.tensor((*items[:place], *spatial), input)


def _with_indices(at: OpContext, result: Tensor, indices: bool | None) -> Value:
    if indices is None:
        at.lost("`return_indices` is not known")
    if not indices:
        return result
    return Seq((result, at.tensor(at.shape(result), result, kind="int")))


def _max_pool(
    at: OpContext, input: Tensor, settings: tuple[Value, Value | None, Value, Value, Value], indices: bool, kind: str
) -> Value:
    kernel, stride, padding, dilation, ceil = settings
    found = _windows(at, kernel, stride or NoneValue(), padding, dilation, ceil, kind)
    return _with_indices(at, _pooled(at, input, found), indices)


@op("torch.nn.functional.max_pool1d", "torch.max_pool1d")
def max_pool1d(
    at: OpContext,
    input: Tensor,
    kernel_size: Value,
    stride: Value | None = None,
    padding: Value = _ZERO,
    dilation: Value = _ONE,
    ceil_mode: Value = _FALSE,
    return_indices: bool = False,
) -> Value:
    """Take the maximum of every window of a sequence.

    input (N, C, L) or (C, L) -> (N, C, L_out) or (C, L_out)
    Conflict: another rank; a window that is longer than the padded axis.
    Source: PyTorch documentation, torch.nn.functional.max_pool1d.
    """
    return _max_pool(at, input, (kernel_size, stride, padding, dilation, ceil_mode), return_indices, "1d")


@op("torch.nn.functional.max_pool2d", "torch.max_pool2d")
def max_pool2d(
    at: OpContext,
    input: Tensor,
    kernel_size: Value,
    stride: Value | None = None,
    padding: Value = _ZERO,
    dilation: Value = _ONE,
    ceil_mode: Value = _FALSE,
    return_indices: bool = False,
) -> Value:
    """Take the maximum of every window of an image.

    input (N, C, H, W) or (C, H, W) -> (N, C, H_out, W_out) or (C, H_out, W_out)
    Conflict: another rank; a window that is larger than the padded image.
    Source: PyTorch documentation, torch.nn.functional.max_pool2d.
    """
    return _max_pool(at, input, (kernel_size, stride, padding, dilation, ceil_mode), return_indices, "2d")


@op("torch.nn.functional.avg_pool1d", "torch.avg_pool1d")
def avg_pool1d(
    at: OpContext,
    input: Tensor,
    kernel_size: Value,
    stride: Value | None = None,
    padding: Value = _ZERO,
    ceil_mode: Value = _FALSE,
    count_include_pad: Value | None = None,
) -> Value:
    """Take the mean of every window of a sequence.

    input (N, C, L) or (C, L) -> (N, C, L_out) or (C, L_out)
    Conflict: another rank; a window that is longer than the padded axis.
    Source: PyTorch documentation, torch.nn.functional.avg_pool1d.
    """
    return _pooled(at, input, _windows(at, kernel_size, stride or NoneValue(), padding, _ONE, ceil_mode, "1d"))


@op("torch.nn.functional.avg_pool2d")
def avg_pool2d(
    at: OpContext,
    input: Tensor,
    kernel_size: Value,
    stride: Value | None = None,
    padding: Value = _ZERO,
    ceil_mode: Value = _FALSE,
    count_include_pad: Value | None = None,
    divisor_override: Value | None = None,
) -> Value:
    """Take the mean of every window of an image.

    input (N, C, H, W) or (C, H, W) -> (N, C, H_out, W_out) or (C, H_out, W_out)
    Conflict: another rank; a window that is larger than the padded image.
    Source: PyTorch documentation, torch.nn.functional.avg_pool2d.
    """
    return _pooled(at, input, _windows(at, kernel_size, stride or NoneValue(), padding, _ONE, ceil_mode, "2d"))


@op("torch.nn.functional.adaptive_avg_pool1d", "torch.adaptive_avg_pool1d")
def adaptive_avg_pool1d(at: OpContext, input: Tensor, output_size: Value) -> Value:
    """Take means so that a given number of steps comes out.

    input (N, C, L) or (C, L) -> (N, C, output_size) or (C, output_size)
    Conflict: another rank.
    Source: PyTorch documentation, torch.nn.functional.adaptive_avg_pool1d.
    """
    return _adapted(at, input, output_size, 1)


@op("torch.nn.functional.adaptive_avg_pool2d")
def adaptive_avg_pool2d(at: OpContext, input: Tensor, output_size: Value) -> Value:
    """Take means so that an image of a given size comes out.

    input (N, C, H, W) or (C, H, W) -> (N, C, *output_size) or (C, *output_size)
    Conflict: another rank.
    Source: PyTorch documentation, torch.nn.functional.adaptive_avg_pool2d.
    """
    return _adapted(at, input, output_size, 2)


@op("torch.nn.functional.adaptive_max_pool1d")
def adaptive_max_pool1d(at: OpContext, input: Tensor, output_size: Value, return_indices: bool = False) -> Value:
    """Take maxima so that a given number of steps comes out.

    input (N, C, L) or (C, L) -> (N, C, output_size) or (C, output_size)
    Conflict: another rank.
    Source: PyTorch documentation, torch.nn.functional.adaptive_max_pool1d.
    """
    return _with_indices(at, _adapted(at, input, output_size, 1), return_indices)


@op("torch.nn.functional.adaptive_max_pool2d")
def adaptive_max_pool2d(at: OpContext, input: Tensor, output_size: Value, return_indices: bool = False) -> Value:
    """Take maxima so that an image of a given size comes out.

    input (N, C, H, W) or (C, H, W) -> (N, C, *output_size) or (C, *output_size)
    Conflict: another rank.
    Source: PyTorch documentation, torch.nn.functional.adaptive_max_pool2d.
    """
    return _with_indices(at, _adapted(at, input, output_size, 2), return_indices)
