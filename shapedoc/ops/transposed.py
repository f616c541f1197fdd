"""Transposed convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ONE, ZERO, Dim
from shapedoc.core.shape import Axis
from shapedoc.core.value import Int, Layer, NoneValue, Seq, Tensor, Value
from shapedoc.core.verdict import Lost
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.convolution import channels_place, check_bias, learned_tensors, windows_of
from shapedoc.ops.measuring.window import Window, grown
from shapedoc.ops.meeting.settings import each, expect, size, sizes_of
from shapedoc.ops.registry import layer, op

__all__: list[str] = []

_ONE, _ZERO = Int(ONE), Int(ZERO)
_TRANSPOSED = (
    "in_channels: Dim, out_channels: Dim, kernel_size: Value, stride: Value = 1, padding: Value = 0,"
    "output_padding: Value = 0, groups: Dim = 1, bias: bool = True, dilation: Value = 1,"
    "padding_mode: str = 'zeros', device: Value = None, dtype: Value = None"
)


@layer("torch.nn.ConvTranspose1d", _TRANSPOSED, learned_tensors)
def conv_transpose1d_module(at: OpContext, layer: Layer, input: Tensor, output_size: Value | None = None) -> Value:
    """Convolve a sequence the other way round.

    input (N, C_in, L) or (C_in, L) -> (N, C_out, L_out) or (C_out, L_out)
    Conflict: another rank; C_in is not in_channels.
    Source: PyTorch documentation, torch.nn.ConvTranspose1d.
    """
    return _transposed_module(at, layer, input, output_size, 1)


@layer("torch.nn.ConvTranspose2d", _TRANSPOSED, learned_tensors)
def conv_transpose2d_module(at: OpContext, layer: Layer, input: Tensor, output_size: Value | None = None) -> Value:
    """Convolve an image the other way round.

    input (N, C_in, H, W) or (C_in, H, W) -> (N, C_out, H_out, W_out) or the same without N
    Conflict: another rank; C_in is not in_channels.
    Source: PyTorch documentation, torch.nn.ConvTranspose2d.
    """
    return _transposed_module(at, layer, input, output_size, 2)


@layer("torch.nn.ConvTranspose3d", _TRANSPOSED, learned_tensors)
def conv_transpose3d_module(at: OpContext, layer: Layer, input: Tensor, output_size: Value | None = None) -> Value:
    """Convolve a volume the other way round.

    input (N, C_in, D, H, W) or (C_in, D, H, W) -> (N, C_out, D_out, H_out, W_out) or the same without N
    Conflict: another rank; C_in is not in_channels.
    Source: PyTorch documentation, torch.nn.ConvTranspose3d.
    """
    return _transposed_module(at, layer, input, output_size, 3)


def _transposed_module(at: OpContext, layer: Layer, input: Tensor, output_size: Value | None, count: int) -> Tensor:
    c = layer.config
    found = windows_of(at, c["kernel_size"], c["stride"], c["padding"], c["dilation"], count)
    extra = _extra(at, c["output_padding"], count)
    into = size(at, layer, "in_channels"), "in_channels"
    result = _grown(at, input, into, size(at, layer, "out_channels"), found, extra)
    if output_size is None or isinstance(output_size, NoneValue) or at.shape(result).is_unknown:
        return result
    wanted = sizes_of(at, output_size)
    if wanted is None or len(wanted) < count:
        at.lost("`output_size` is not known")
    kept = at.shape(result).items[:-count]
    return at.tensor((*kept, *(at.axis(d) for d in wanted[-count:])), result)


def _extra(at: OpContext, value: Value, count: int) -> Sequence[Dim | None]:
    try:
        return each(at, value, count, "output_padding")
    except Lost:
        return (None,) * count


def _grown(
    at: OpContext,
    input: Tensor,
    into: tuple[Dim, str],
    out: Dim,
    found: Sequence[Window | None],
    extra: Sequence[Dim | None],
) -> Tensor:
    place = channels_place(at, input, len(found))
    if place is None:
        return at.unknown(input, kind="float", more=0)
    channels = expect(at, input, place, *into)
    new = at.axis(out)
    at.sizes.mark(channels, "feature", at.line)
    at.sizes.mark(new, "feature", at.line)
    items = at.shape(input).items
    spatial = []
    for item, window, more in zip(items[place + 1 :], found, extra, strict=True):
        assert isinstance(item, Axis)
        assert window is not None
        spatial.append(at.axis(grown(at, item.dim, window, more)))
    return at.tensor((*items[:place], new, *spatial), input, kind="float")


@op("torch.nn.functional.conv_transpose1d", "torch.conv_transpose1d")
def conv_transpose1d(
    at: OpContext,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Value = _ONE,
    padding: Value = _ZERO,
    output_padding: Value = _ZERO,
    groups: Dim = ONE,
    dilation: Value = _ONE,
) -> Value:
    """Convolve a sequence the other way round.

    input (N, C, L) or (C, L), weight (C, D/groups, k), bias (D,) -> (N, D, L_out) or (D, L_out)
    Conflict: another rank; channels or bias of another size.
    Source: PyTorch documentation, torch.nn.functional.conv_transpose1d.
    """
    return _functional_transposed(at, input, weight, bias, (stride, padding, dilation), output_padding, groups, 1)


@op("torch.nn.functional.conv_transpose2d", "torch.conv_transpose2d")
def conv_transpose2d(
    at: OpContext,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Value = _ONE,
    padding: Value = _ZERO,
    output_padding: Value = _ZERO,
    groups: Dim = ONE,
    dilation: Value = _ONE,
) -> Value:
    """Convolve an image the other way round.

    input (N, C, H, W) or (C, H, W), weight (C, D/groups, kh, kw), bias (D,) -> (N, D, H_out, W_out)
    Conflict: another rank; channels or bias of another size.
    Source: PyTorch documentation, torch.nn.functional.conv_transpose2d.
    """
    return _functional_transposed(at, input, weight, bias, (stride, padding, dilation), output_padding, groups, 2)


def _functional_transposed(
    at: OpContext,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    settings: tuple[Value, Value, Value],
    output_padding: Value,
    groups: Dim,
    count: int,
) -> Tensor:
    into, out, *kernel = at.need_rank(weight, count + 2)
    new = at.axis(out.dim * groups)
    check_bias(at, bias, new)
    found = windows_of(at, Seq(tuple(Int(k.dim) for k in kernel)), *settings, count)
    extra = _extra(at, output_padding, count)
    return _grown(at, input, (into.dim, "weight"), new.dim, found, extra)
