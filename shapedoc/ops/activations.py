"""Activations: modules and functions that map every element, or every vector along one axis."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.value import Layer, NoneValue, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.measuring.axes import weigh
from shapedoc.ops.meeting.settings import expect, first_axes, number, same_tensor, weight
from shapedoc.ops.registry import layer, op

__all__ = ["activation", "glu", "implicit_axis", "softmax_module"]


@layer("torch.nn.CELU", "alpha: float = 1.0, inplace: bool = False")
@layer("torch.nn.ELU", "alpha: float = 1.0, inplace: bool = False")
@layer("torch.nn.GELU", "approximate: str = 'none'")
@layer("torch.nn.Hardshrink", "lambd: float = 0.5")
@layer("torch.nn.Hardsigmoid", "inplace: bool = False")
@layer("torch.nn.Hardswish", "inplace: bool = False")
@layer("torch.nn.Hardtanh", "min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False")
@layer("torch.nn.LeakyReLU", "negative_slope: float = 0.01, inplace: bool = False")
@layer("torch.nn.LogSigmoid", "")
@layer("torch.nn.Mish", "inplace: bool = False")
@layer("torch.nn.ReLU", "inplace: bool = False")
@layer("torch.nn.ReLU6", "inplace: bool = False")
@layer("torch.nn.RReLU", "lower: float = 0.125, upper: float = 0.333, inplace: bool = False")
@layer("torch.nn.SELU", "inplace: bool = False")
@layer("torch.nn.SiLU", "inplace: bool = False")
@layer("torch.nn.Sigmoid", "")
@layer("torch.nn.Softplus", "beta: float = 1.0, threshold: float = 20.0")
@layer("torch.nn.Softshrink", "lambd: float = 0.5")
@layer("torch.nn.Softsign", "")
@layer("torch.nn.Tanh", "")
@layer("torch.nn.Tanhshrink", "")
@layer("torch.nn.Threshold", "threshold: float, value: float, inplace: bool = False")
def activation(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Map every element.

    input (*) -> (*)
    Source: PyTorch documentation, torch.nn, non-linear activations.
    """
    return same_tensor(at, input)


@layer(
    "torch.nn.PReLU",
    "num_parameters: Dim = 1, init: float = 0.25, device: Value = None, dtype: Value = None",
    lambda layer, sizes: {"weight": weight(number(layer, "num_parameters") or sizes.fresh())},
)
def prelu(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Map every element, with a learned slope for all or for each channel of axis 1.

    input (*) or (N, C, *) -> the same
    Conflict: axis 1 is neither num_parameters nor is that 1.
    Source: PyTorch documentation, torch.nn.PReLU.
    """
    count = number(layer, "num_parameters")
    rank = at.shape(input).rank
    if count not in (None, 1) and rank is not None:
        if rank < 2:
            at.fail("wrong-rank", [input], wanted="at least 2", got=str(rank))
        expect(at, input, 1, Dim.of(count or 1), "num_parameters")
    return same_tensor(at, input)


@op("torch.nn.functional.prelu", "torch.prelu", "torch.Tensor.prelu")
def functional_prelu(at: OpContext, input: Tensor, weight: Tensor) -> Value:
    """Map every element, with a slope for all or for each channel of axis 1.

    input (*) or (N, C, *), weight (1,), () or (C,) -> as input
    Conflict: more slopes than one, and not one for each channel.
    Source: PyTorch documentation, torch.nn.functional.prelu.
    """
    slopes = at.shape(weight)
    if slopes.rank == 1 and slopes.axes[0].dim.value not in (None, 1):
        leading = first_axes(at, input, 2)
        if leading is not None:
            expect(at, weight, 0, leading[1].dim, "channels")
    return same_tensor(at, input)


@layer("torch.nn.Softmax", "dim: int = None")
@layer("torch.nn.Softmin", "dim: int = None")
@layer("torch.nn.LogSoftmax", "dim: int = None")
def softmax_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Normalise along one axis.

    input (*) -> (*)
    Conflict: no such axis; no axis was given ("implicit-softmax-axis": torch then takes axis 0 of a tensor with 0,
    1 or 3 axes, axis 1 of others).
    Source: PyTorch documentation, torch.nn.Softmax; torch.nn.functional, the deprecated default of `dim`.
    """
    if isinstance(layer.config["dim"], NoneValue):
        implicit_axis(at, input)
    else:
        dim = number(layer, "dim")
        if dim is not None:
            weigh(at, input, at.locate(input, dim))
    return at.tensor(at.shape(input), input, kind="float")


def implicit_axis(at: OpContext, input: Tensor) -> int | None:
    """Report the axis that torch's softmax takes where none is given; None where the rank is not known."""
    rank = at.shape(input).rank
    if rank is None:
        return None
    axis = 0 if rank in (0, 1, 3) else 1
    at.conflict("implicit-softmax-axis", [input], axes=(axis,), loud=False, rank=str(rank), axis=str(axis))
    return axis


@layer("torch.nn.Softmax2d", "")
def softmax2d(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Normalise along the channels.

    input (N, C, H, W) or (C, H, W) -> the same
    Conflict: another rank.
    Source: PyTorch documentation, torch.nn.Softmax2d.
    """
    if at.shape(input).run is None:
        at.need_rank(input, 3, 4)
    return at.tensor(at.shape(input), input, kind="float")


@layer("torch.nn.GLU", "dim: int = -1")
def glu_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Gate one half of an axis with the other.

    input (*, 2*n, *) -> (*, n, *)
    Conflict: no such axis; its size is odd.
    Source: PyTorch documentation, torch.nn.GLU.
    """
    dim = number(layer, "dim")
    if dim is None:
        at.lost("`dim` is not known")
    return glu(at, input, dim)


@op("torch.nn.functional.glu")
def glu(at: OpContext, input: Tensor, dim: int = -1) -> Value:
    """Gate one half of an axis with the other.

    input (*, 2*n, *) -> (*, n, *)
    Conflict: no axis; no such axis; its size is odd.
    Source: PyTorch documentation, torch.nn.functional.glu.
    """
    if at.shape(input).rank == 0:
        at.fail("wrong-rank", [input], wanted="at least 1", got="0")
    position = at.locate(input, dim)
    items = at.shape(input).items
    axis = items[position]
    if not isinstance(axis, Axis):
        at.lost("rank unknown")
    whole = axis.dim
    if whole.value is not None and whole.value % 2:
        at.fail("impossible-view", [input], axes=(position,), dims=(whole,), why="odd")
    half = Axis(at.sizes.floordiv(whole, Dim.of(2), line=at.line), axis.ids)
    return at.tensor(Shape((*items[:position], half, *items[position + 1 :])), input)
