"""Windows of an image laid out as columns, and back."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import ONE, ZERO, Dim
from shapedoc.core.shape import Axis, Run
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Int, Layer, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.measuring.window import slid, windows
from shapedoc.ops.meeting.settings import each
from shapedoc.ops.registry import layer, op
from shapedoc.ops.resampling import batched, divided

__all__ = ["fold", "unfold"]

_ONE, _ZERO = Int(ONE), Int(ZERO)
_WINDOWS = "kernel_size: Value, dilation: Value = 1, padding: Value = 0, stride: Value = 1"


@layer("torch.nn.Unfold", _WINDOWS)
def unfold_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Lay out every window of an image as a column.

    input (N, C, H, W) or (C, H, W) -> (N, C*kh*kw, steps) or (C*kh*kw, steps)
    Conflict: another rank; a window that is larger than the padded image.
    Source: PyTorch documentation, torch.nn.Unfold.
    """
    c = layer.config
    return unfold(at, input, c["kernel_size"], c["dilation"], c["padding"], c["stride"])


@op("torch.nn.functional.unfold")
def unfold(
    at: OpContext,
    input: Tensor,
    kernel_size: Value,
    dilation: Value = _ONE,
    padding: Value = _ZERO,
    stride: Value = _ONE,
) -> Value:
    """Lay out every window of an image as a column.

    input (N, C, H, W) or (C, H, W) -> (N, C*kh*kw, steps) or (C*kh*kw, steps)
    Conflict: another rank; a window that is larger than the padded image.
    Source: PyTorch documentation, torch.nn.functional.unfold.
    """
    steps_of = windows(at, 2, kernel_size, stride, padding, dilation)
    first = batched(at, input, 2)
    items = at.shape(input).items
    channels, *lengths = items[first - 1 :]
    steps, area = ONE, ONE
    for i, (axis, window) in enumerate(zip(lengths, steps_of, strict=True), first):
        assert isinstance(axis, Axis)
        steps = steps * slid(at, input, i, axis.dim, window)
        area = area * (window.kernel if window.known else at.sizes.fresh(line=at.line))
    assert isinstance(channels, Axis)
    return at.tensor((*items[: first - 1], at.axis(channels.dim * area), at.axis(steps)), input)


@layer("torch.nn.Fold", f"output_size: Value, {_WINDOWS}")
def fold_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Add up columns to the image whose windows they are.

    input (N, C*kh*kw, steps) or (C*kh*kw, steps) -> (N, C, *output_size) or (C, *output_size)
    Conflict: another rank; channels that the window does not divide; another number of steps.
    Source: PyTorch documentation, torch.nn.Fold.
    """
    c = layer.config
    return fold(at, input, c["output_size"], c["kernel_size"], c["dilation"], c["padding"], c["stride"])


@op("torch.nn.functional.fold")
def fold(
    at: OpContext,
    input: Tensor,
    output_size: Value,
    kernel_size: Value,
    dilation: Value = _ONE,
    padding: Value = _ZERO,
    stride: Value = _ONE,
) -> Value:
    """Add up columns to the image whose windows they are.

    input (N, C*kh*kw, steps) or (C*kh*kw, steps) -> (N, C, *output_size) or (C, *output_size)
    Conflict: another rank; channels that the window does not divide; another number of steps.
    Source: PyTorch documentation, torch.nn.functional.fold.
    """
    steps_of = windows(at, 2, kernel_size, stride, padding, dilation)
    wanted = each(at, output_size, 2, "output_size")
    if at.shape(input).rank is not None:
        at.need_rank(input, 2, 3)
    columns, steps = at.suffix(input, 2)
    place = len(at.shape(input).items) - 2
    count, area = ONE, ONE
    for length, window in zip(wanted, steps_of, strict=True):
        count = count * slid(at, input, place + 1, length, window)
        area = area * (window.kernel if window.known else at.sizes.fresh(line=at.line))
    _same_steps(at, input, place + 1, steps, count)
    lead: Sequence[Axis | Run] = at.shape(input).items[:-2]
    return at.tensor((*lead, divided(at, input, -2, columns, area), *(at.axis(d) for d in wanted)), input)


def _same_steps(at: OpContext, input: Tensor, place: int, steps: Axis, count: Dim) -> None:
    sameness = at.meet(steps, count)
    if not sameness.ok:
        at.conflict(
            "mismatched-module-input",
            [input],
            axes=(place,),
            dims=(steps.dim, count),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
            setting="output_size",
        )
