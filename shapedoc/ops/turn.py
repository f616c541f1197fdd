"""Elements reversed, shifted and turned, and axes put before."""

from __future__ import annotations

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.value import NoneValue, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.measuring.axes import position, positions
from shapedoc.ops.measuring.extents import axes_of
from shapedoc.ops.registry import named, op

__all__ = ["flip", "roll"]


@op(*named("flip", "torch", "torch.Tensor"))
def flip(at: OpContext, input: Tensor, *dims: Value) -> Value:
    """Reverse the elements along axes.

    input (*) -> (*)
    Conflict: an axis does not exist or is named twice.
    Source: PyTorch documentation, torch.flip.
    """
    positions(at, input, dims[0])
    return at.tensor(at.shape(input), input)


@op("numpy.flip")
def numpy_flip(at: OpContext, a: Tensor, dim: Value = NONE) -> Value:
    """Reverse the elements along axes, along all by default.

    a (*) -> (*)
    Conflict: an axis does not exist or is named twice.
    Source: NumPy reference, numpy.flip.
    """
    positions(at, a, dim)
    return at.tensor(at.shape(a), a)


@op(*named("fliplr flipud", "torch", "torch.Tensor", "numpy"))
def flipped(at: OpContext, input: Tensor) -> Value:
    """Reverse the elements along one of the first two axes.

    input (n, m, *) -> (n, m, *)
    Source: PyTorch documentation, torch.fliplr.
    """
    return at.tensor(at.shape(input), input)


@op("torch.roll", "torch.Tensor.roll", "numpy.roll")
def roll(at: OpContext, input: Tensor, shifts: Value, dims: Value = NONE) -> Value:
    """Shift the elements along axes, around the end.

    input (*) -> (*)
    Conflict: an axis does not exist.
    Source: PyTorch documentation, torch.roll.
    """
    dim = at.bound.get("dims", NoneValue())
    if not isinstance(dim, NoneValue):
        for number in axes_of(at, dim) or ():
            position(at, input, number)
    return at.tensor(at.shape(input), input)


@op("torch.rot90", "torch.Tensor.rot90", "numpy.rot90")
def rot90(at: OpContext, input: Tensor, k: int = 1, dims: Value = NONE) -> Value:
    """Turn by right angles in the plane of two axes.

    input (n, m) -> (m, n) for odd k
    Conflict: an axis does not exist or is named twice.
    Source: PyTorch documentation, torch.rot90.
    """
    if isinstance(dims, NoneValue):
        at.prefix(input, 2)
        one, other = 0, 1
    else:
        places = positions(at, input, dims)
        if places is None or len(places) != 2:
            at.lost("`dims` is no pair")
        one, other = places
    items = list(at.shape(input).items)
    if k % 2:
        items[one], items[other] = items[other], items[one]
    return at.tensor(items, input)


@op("numpy.atleast_1d", "torch.atleast_1d", "numpy.ascontiguousarray", "numpy.asfortranarray")
def atleast_1d(at: OpContext, input: Tensor) -> Value:
    """A number becomes an array of one axis.

    input () -> (1,)
    Source: NumPy reference, numpy.atleast_1d.
    """
    shape = at.shape(input)
    return at.tensor(shape if shape.items else Shape((Axis.one(),)), input)


@op("numpy.atleast_2d", "torch.atleast_2d")
def atleast_2d(at: OpContext, input: Tensor) -> Value:
    """Axes of size 1 are put before, until there are two.

    input (n,) -> (1, n)
    Source: NumPy reference, numpy.atleast_2d.
    """
    shape = at.shape(input)
    if shape.run is not None and len(shape.axes) < 2:
        at.lost("rank unknown")
    return at.tensor((*(Axis.one() for _ in range(2 - len(shape.items))), *shape.items), input)
