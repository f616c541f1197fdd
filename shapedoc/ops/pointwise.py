"""Elementwise operations: every axis is kept, several operands are broadcast."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.value import (
    ANY_ORDER,
    Bool,
    DictValue,
    Dtype,
    Kind,
    Layer,
    Library,
    NoneValue,
    Seq,
    SizeOf,
    Str,
    Tensor,
    Value,
)
from shapedoc.ops.calling.bind import as_compared, as_tensor
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.kinds import promote
from shapedoc.ops.measuring.axes import positions
from shapedoc.ops.meeting.broadcast import broadcast
from shapedoc.ops.registry import named, op

__all__ = ["binary", "places", "same", "unary"]


def same(at: OpContext, input: Tensor, kind: Kind | None = None) -> Tensor:
    return at.tensor(at.shape(input), input, kind=kind, order=input.order)


@op(
    *named(
        "abs absolute neg negative positive sign square relu ceil floor round trunc fix "
        "bitwise_not nan_to_num conj conj_physical resolve_conj",
        "torch",
        "torch.Tensor",
    ),
    *named(
        "abs absolute fabs negative positive sign square ceil floor round rint trunc fix nan_to_num conj conjugate "
        "invert bitwise_not",
        "numpy",
    ),
    *named("round conj conjugate", "numpy.ndarray"),
    "torch.relu_",
    "torch.nn.functional.relu_",
    *named("neg pos invert abs", "operator"),
    *named("relu relu6 hardtanh threshold rrelu", "torch.nn.functional"),
)
def unary(at: OpContext, input: Tensor, *options: Value, **settings: Value) -> Value:
    """Map every element to one of the same kind.

    input (*) -> (*)
    Source: PyTorch documentation, torch, pointwise ops.
    """
    return same(at, input)


@op(
    *named(
        "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sigmoid logit erf erfc erfinv sin cos tan asin acos "
        "atan arcsin arccos arctan sinh cosh tanh asinh acosh atanh sinc lgamma digamma deg2rad rad2deg",
        "torch",
        "torch.Tensor",
    ),
    *named("exp expm1 log log2 log10 log1p sqrt cbrt sin cos tan arcsin arccos arctan sinh cosh tanh sinc", "numpy"),
    *named("deg2rad rad2deg degrees radians", "numpy"),
    *named("expit erf log1p exp2 entr", "torch.special"),
    *named(
        "sigmoid tanh gelu silu mish elu selu celu leaky_relu softplus logsigmoid softsign tanhshrink hardswish "
        "hardsigmoid hardshrink softshrink",
        "torch.nn.functional",
    ),
    *named("dropout selu celu", "torch"),
    *named("exp_ sigmoid_ tanh_ sqrt_ log_ sin_ cos_", "torch"),
    *named("elu_ leaky_relu_", "torch.nn.functional"),
    "torch.nn.functional.dropout",
)
def unary_float(at: OpContext, input: Tensor, *options: Value, **settings: Value) -> Value:
    """Map every element to a real number.

    input (*) -> (*)
    Source: PyTorch documentation, torch, pointwise ops; torch.nn.functional, non-linear activations, dropout.
    """
    return same(at, input, "complex" if input.kind == "complex" else "float")


@op(
    *named("isnan isinf isfinite isneginf isposinf logical_not signbit", "torch", "torch.Tensor", "numpy"),
    *named("isreal", "torch", "torch.Tensor"),
    "numpy.iscomplex",
)
def unary_bool(at: OpContext, input: Tensor) -> Value:
    """Test every element.

    input (*) -> (*), of truth values
    Source: PyTorch documentation, torch, comparison ops.
    """
    return same(at, input, "bool")


@op(
    *named("add sub subtract mul multiply remainder fmod bitwise_and bitwise_or bitwise_xor", "torch", "torch.Tensor"),
    *named("bitwise_left_shift bitwise_right_shift floor_divide pow", "torch", "torch.Tensor"),
    *named("maximum minimum fmax fmin", "torch", "torch.Tensor", "numpy"),
    *named("gcd lcm", "torch", "torch.Tensor", "numpy"),
    *named("add subtract multiply remainder mod fmod power float_power floor_divide", "numpy"),
    *named("bitwise_and bitwise_or bitwise_xor left_shift right_shift", "numpy"),
    *named("add sub mul floordiv mod pow and_ or_ xor lshift rshift", "operator"),
    *named("rsub", "torch"),
)
def binary(at: OpContext, input: Tensor, other: Tensor, **settings: Value) -> Value:
    """Combine elements, after broadcasting.

    input (*), other (*) -> their broadcast
    Conflict: two sizes meet that differ, and neither is 1.
    Source: PyTorch documentation, torch, pointwise ops; broadcasting semantics.
    """
    kind, like = promote((input, other))
    return at.tensor(broadcast(at, input, other), like, kind=kind, order=_order(at, input, other))


def _order(at: OpContext, input: Tensor, other: Tensor) -> tuple[int, ...] | None:
    """The memory order of elementwise arithmetic: that of the only operand with axes; torch chooses among several."""
    if not at.shape(other).items:
        return input.order
    if not at.shape(input).items:
        return other.order
    return None if input.order is None and other.order is None else ANY_ORDER


@op(
    *named("div divide true_divide", "torch", "torch.Tensor"),
    *named("divide true_divide", "numpy"),
    "operator.truediv",
)
def divide(
    at: OpContext, input: Tensor, other: Tensor, *, rounding_mode: str | None = None, **settings: Value
) -> Value:
    """Divide elements, after broadcasting; the result is real unless it is rounded.

    input (*), other (*) -> their broadcast
    Conflict: two sizes meet that differ, and neither is 1.
    Source: PyTorch documentation, torch.div.
    """
    kind, like = promote((input, other))
    if rounding_mode is None and kind != "complex":
        kind = "float"
    return at.tensor(broadcast(at, input, other), like, kind=kind, order=_order(at, input, other))


@op(
    *named("atan2 arctan2 hypot logaddexp logaddexp2 copysign nextafter xlogy heaviside", "torch", "torch.Tensor"),
    *named("arctan2 hypot logaddexp logaddexp2 copysign nextafter heaviside", "numpy"),
    *named("float_power ldexp", "torch", "torch.Tensor"),
)
def binary_float(at: OpContext, input: Tensor, other: Tensor) -> Value:
    """Combine elements to real numbers, after broadcasting.

    input (*), other (*) -> their broadcast
    Conflict: two sizes meet that differ, and neither is 1.
    Source: PyTorch documentation, torch, pointwise ops.
    """
    _, like = promote((input, other))
    return at.tensor(broadcast(at, input, other), like, kind="float")


_NO_TENSORS = (NoneValue, Str, Dtype, Seq, DictValue, SizeOf, Library, Layer)


@op(
    *named("eq ne lt le gt ge not_equal less less_equal greater greater_equal", "torch", "torch.Tensor"),
    *named("logical_and logical_or logical_xor isclose", "torch", "torch.Tensor", "numpy"),
    *named("equal not_equal less less_equal greater greater_equal", "numpy"),
    *named("eq ne lt le gt ge", "operator"),
)
def compare(at: OpContext, input: Value, other: Value, **settings: Value) -> Value:
    """Compare elements, after broadcasting; what is no tensor is compared as Python does.

    input (*), other (*) -> their broadcast, of truth values
    Conflict: two sizes meet that differ, and neither is 1.
    Source: PyTorch documentation, torch, comparison ops.
    """
    for one, against in ((input, other), (other, input)):
        if isinstance(one, _NO_TENSORS) and not (isinstance(one, Seq) and isinstance(against, Tensor)):
            return Bool()
    left, right = as_tensor(input), as_compared(other)
    _, like = promote((left, right))
    return at.tensor(broadcast(at, left, right), like, kind="bool")


@op(*named("equal allclose", "torch", "torch.Tensor"), *named("allclose array_equal array_equiv", "numpy"))
def same_elements(at: OpContext, input: Tensor, other: Tensor, *options: Value, **settings: Value) -> Value:
    """Whether all elements agree: a truth value of Python.

    Source: PyTorch documentation, torch.equal.
    """
    return Bool()


@op(*named("clamp clip", "torch", "torch.Tensor"), "torch.clamp_min", "torch.clamp_max", "torch.Tensor.clamp_min",
    "torch.Tensor.clamp_max", "numpy.clip", "numpy.ndarray.clip")  # fmt: skip
def clamp(at: OpContext, input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Value:
    """Bound every element by numbers or by tensors, which are broadcast.

    input (*), min (*), max (*) -> their broadcast
    Conflict: two sizes meet that differ, and neither is 1.
    Source: PyTorch documentation, torch.clamp.
    """
    tensors = [input, *(t for t in (min, max) if t is not None)]
    kind, _ = promote(tensors)
    plain = all(not at.shape(t).items for t in tensors[1:])
    return at.tensor(broadcast(at, *tensors), input, kind=kind, order=input.order if plain else None)


@op(*named("masked_fill", "torch", "torch.Tensor"))
def masked_fill(at: OpContext, input: Tensor, mask: Tensor, value: Tensor) -> Value:
    """Put a number where the mask is true; both are broadcast.

    input (*), mask (*), value () -> the broadcast of input and mask
    Conflict: two sizes meet that differ, and neither is 1; the value has axes.
    Source: PyTorch documentation, torch.Tensor.masked_fill.
    """
    rank = at.shape(value).rank
    if rank is not None and rank > 0:
        at.conflict("wrong-rank", [value], wanted="0", got=str(rank))
    shape = broadcast(at, input, mask)
    own = at.shape(input)
    if own.rank is not None:
        shape = _masked(own.axes, shape)
    keeps = len(shape.items) == len(own.items)
    return at.tensor(shape, input, order=input.order if keeps else None)


def _masked(own: Sequence[Axis], made: Shape) -> Shape:
    """The shape of what is masked: a mask of which little is known is taken to be no wider, nor of higher rank."""
    if made.run is not None:
        return Shape(tuple(own))
    axes = made.suffix[len(made.suffix) - len(own) :] if own else ()
    kept = [one.merged(other) if one.dim.const != 1 else other for one, other in zip(own, axes, strict=True)]
    before = made.items[: len(made.items) - len(own)] if made.run is None else ()
    return Shape((*before, *kept))


@op("torch.where", "torch.Tensor.where", "numpy.where")
def where(at: OpContext, condition: Tensor, input: Tensor | None = None, other: Tensor | None = None) -> Value:
    """Choose elements of one tensor or another; all three are broadcast.

    condition (*), input (*), other (*) -> their broadcast; the condition alone, of rank r -> r times (k,)
    Conflict: two sizes meet that differ, and neither is 1.
    Source: PyTorch documentation, torch.where.
    """
    if input is None or other is None:
        return places(at, condition)
    kind, like = promote((input, other))
    if not like.shape.items:
        like = condition
    return at.tensor(broadcast(at, condition, input, other), like, kind=kind)


def places(at: OpContext, input: Tensor) -> Seq:
    """Where elements are not zero: one vector for each axis, all of one length that the data decide."""
    rank, count = at.shape(input).rank, at.fresh()
    if rank is None:
        return Seq((), rest=at.tensor((count,), input, kind="int"))
    return Seq(tuple(at.tensor((count,), input, kind="int") for _ in range(max(rank, 1))))


@op("torch.lerp", "torch.Tensor.lerp")
def lerp(at: OpContext, input: Tensor, end: Tensor, weight: Tensor) -> Value:
    """Go from one tensor to another, part of the way.

    input (*), end (*), weight (*) -> their broadcast
    Source: PyTorch documentation, torch.lerp.
    """
    return at.tensor(broadcast(at, input, end, weight), input)


@op(*named("addcmul addcdiv", "torch", "torch.Tensor"))
def addcmul(at: OpContext, input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Value = NONE) -> Value:
    """Add a product or a quotient.

    input (*), tensor1 (*), tensor2 (*) -> their broadcast
    Source: PyTorch documentation, torch.addcmul, torch.addcdiv.
    """
    return at.tensor(broadcast(at, input, tensor1, tensor2), input, kind=promote((input, tensor1, tensor2))[0])


@op("torch.nn.functional.normalize")
def normalize(at: OpContext, input: Tensor, p: Value = NONE, dim: Value = NONE, eps: Value = NONE) -> Value:
    """Divide by the norm along an axis (1 by default).

    input (*) -> (*)
    Conflict: no such axis.
    Source: PyTorch documentation, torch.nn.functional.normalize.
    """
    positions(at, input, dim, default=1)
    return same(at, input)
