"""How long an axis is after a window has slid along it: convolutions, their transposes, and pooling."""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.core.dim import ONE, ZERO, Dim, Sym
from shapedoc.core.value import Tensor, Value
from shapedoc.core.verdict import Lost
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.settings import each

__all__ = ["Window", "grown", "slid", "windows"]


@dataclass(frozen=True, slots=True)
class Window:
    """A window along one axis. ceil: a last, partial step counts. known: whether its sizes are."""

    kernel: Dim
    stride: Dim = ONE
    padding: Dim = ZERO
    dilation: Dim = ONE
    ceil: bool = False
    known: bool = True

    @property
    def span(self) -> Dim:
        """How many positions the window covers."""
        return self.dilation * (self.kernel - 1) + 1


def windows(
    at: OpContext,
    count: int,
    kernel: Value,
    stride: Value,
    padding: Value,
    dilation: Value,
    ceil: bool | None = False,
) -> tuple[Window, ...]:
    """One window for each of `count` axes; one of which nothing is known where a setting is not."""
    try:
        settings = zip(
            each(at, kernel, count, "kernel_size"),
            each(at, stride, count, "stride"),
            each(at, padding, count, "padding"),
            each(at, dilation, count, "dilation"),
            strict=True,
        )
    except Lost:
        return (Window(ONE, known=False),) * count
    return tuple(Window(*sizes, bool(ceil), ceil is not None) for sizes in settings)


def slid(at: OpContext, input: Tensor, position: int, length: Dim, window: Window) -> Dim:
    """The number of steps: ``(length + 2*padding - span) // stride + 1``.

    Conflict "mismatched-module-input": the window is longer than the padded axis.
    """
    if not window.known:
        return at.sizes.fresh(line=at.line)
    length = at.sizes.resolve(length)
    room = length + 2 * window.padding - window.span
    if room.value is not None and room.value < 0 and _steps(room.value, window, length.value or 0) < 1:
        at.fail("mismatched-module-input", [input], axes=(position,), dims=(length, window.span), setting="kernel_size")
    patches = window.kernel == window.stride and window.padding == 0 and window.dilation == 1
    if window.span.const is None and room.const is None and not patches and (room.value is None or window.stride == 1):
        # Whether a padding is half of it, or the window covers the axis, is not said by the names.
        if room.value is None:
            return at.sizes.fresh(line=at.line)
        return Dim.of(Sym(value=room.value + 1, origin="steps"))
    if window.stride == 1:
        return room + 1
    whole = room.divide(window.stride)
    if whole is not None and not window.ceil:
        return whole + 1
    if room.value is not None and window.stride.value:
        steps = _steps(room.value, window, length.value or 0)
        constant = room.const is not None and window.stride.const is not None
        return Dim.of(steps if constant else Sym(value=steps, origin=f"{at.sizes.show(length)} in steps"))
    if patches and length.named and not any(s.flexible for s in length.syms):
        return at.sizes.floordiv(length, window.stride, line=at.line)
    if window.stride.const is not None and window.span.const is not None and not window.ceil:
        return at.sizes.rounded_down(room + window.stride, window.stride, line=at.line)
    return at.sizes.fresh(line=at.line)


def _steps(room: int, window: Window, length: int) -> int:
    stride, padding = window.stride.value or 1, window.padding.value or 0
    if not window.ceil:
        return room // stride + 1
    steps = -(-room // stride) + 1
    # The last window has to start inside the axis or its left padding.
    return steps - 1 if (steps - 1) * stride >= length + padding else steps


def grown(at: OpContext, length: Dim, window: Window, extra: Dim | None = ZERO) -> Dim:
    """The length that a transposed convolution gives: ``(length - 1)*stride - 2*padding + span + extra``."""
    if not window.known or extra is None:
        return at.sizes.fresh(line=at.line)
    return (length - 1) * window.stride - 2 * window.padding + window.span + extra
