"""Sequence modules whose input has a rank that nothing says: it is taken to have a batch.

Without one hardly anybody writes ``nn.GRU``, and for years nobody could. It is supposed last: a walk over the function
that supposes nothing comes first, and whatever that learns of the rank holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.shape import Axis, Run
from shapedoc.core.value import Layer, Tensor
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.values import Symbolic
from shapedoc.ops.packed import is_packed

__all__ = ["is_open", "suppose_batch"]

_SEQUENCE = frozenset(("torch.nn.RNN", "torch.nn.GRU", "torch.nn.LSTM"))
_RANK = 3


def suppose_batch(m: Machine, layer: Layer, args: Sequence[Arg]) -> None:
    """Note the input of a sequence module whose rank is not known, or, in the walk that supposes, let it have three."""
    if layer.kind not in _SEQUENCE or not args:
        return
    value = args[0].value
    tensor = value.as_tensor() if isinstance(value, Symbolic) else value
    if not isinstance(tensor, Tensor) or is_packed(tensor) or not is_open(m, tensor):
        return
    if not m.supposing:
        m.batchless.append(tensor)
        return
    shape = m.sizes.shape(tensor.shape)
    run = shape.items[shape.run] if shape.run is not None else None
    if isinstance(run, Run):
        m.sizes.bind_run(run, tuple(Axis(m.sizes.fresh()) for _ in range(_RANK - len(shape.axes))))


def is_open(m: Machine, tensor: Tensor) -> bool:
    """Whether a tensor may have three axes, or fewer."""
    shape = m.sizes.shape(tensor.shape)
    return shape.run is not None and len(shape.axes) < _RANK
