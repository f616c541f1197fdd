"""The same elements elsewhere, in other types, or overwritten."""

from __future__ import annotations

from shapedoc.core.value import Kind, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.kinds import kind_of_dtype
from shapedoc.ops.pointwise import same
from shapedoc.ops.registry import named, op

__all__ = ["identity", "to"]


@op(*named("fill_ copy_ zero_ normal_ uniform_ exponential_ random_", "torch.Tensor"))
def overwrite(at: OpContext, input: Tensor, *options: Value, **settings: Value) -> Value:
    """Put other elements in place.

    input (*) -> (*)
    Source: PyTorch documentation, torch.Tensor.fill_, torch.Tensor.normal_.
    """
    return _identity(at, input)


def _identity(at: OpContext, input: Tensor, kind: Kind | None = None) -> Tensor:
    result = same(at, input, kind)
    result.learned = input.learned
    return result


@op(
    *named(
        "detach clone cpu cuda requires_grad_ data real pin_memory share_memory_",
        "torch.Tensor",
    ),
    *named("detach clone real", "torch"),
    *named("copy real", "numpy"),
    *named("copy real", "numpy.ndarray"),
    "copy.copy",
    "copy.deepcopy",
)
def identity(at: OpContext, input: Tensor, *options: Value, **settings: Value) -> Value:
    """The same elements, perhaps elsewhere.

    input (*) -> (*)
    Source: PyTorch documentation, torch.Tensor.
    """
    return _identity(at, input)


@op("torch.Tensor.grad")
def gradient(at: OpContext, input: Tensor) -> Value:
    """The gradient that a backward pass has left: of the shape of what it belongs to.

    input (*) -> (*)
    Source: PyTorch documentation, torch.Tensor.grad.
    """
    return same(at, input)


@op(*named("imag angle", "torch"), "torch.Tensor.imag", "torch.Tensor.angle", *named("imag angle", "numpy"),
    "numpy.ndarray.imag")  # fmt: skip
def part(at: OpContext, input: Tensor, *options: Value, **settings: Value) -> Value:
    """The imaginary part of complex numbers, or their angle.

    input (*) -> (*), of real numbers
    Source: PyTorch documentation, torch.imag, torch.angle.
    """
    return same(at, input, "float")


@op(*named("float double half bfloat16", "torch.Tensor"))
def to_float(at: OpContext, input: Tensor, **settings: Value) -> Value:
    """The elements as real numbers.

    input (*) -> (*)
    Source: PyTorch documentation, torch.Tensor.float.
    """
    return _identity(at, input, "float")


@op("torch.Tensor.byte")
def to_byte(at: OpContext, input: Tensor, **settings: Value) -> Value:
    """The elements as bytes, which as an index choose by position or, in old code, as truth values.

    input (*) -> (*)
    Source: PyTorch documentation, torch.Tensor.byte.
    """
    return _identity(at, input, "")


@op(*named("int long short char", "torch.Tensor"))
def to_int(at: OpContext, input: Tensor, **settings: Value) -> Value:
    """The elements as whole numbers.

    input (*) -> (*)
    Source: PyTorch documentation, torch.Tensor.long.
    """
    return _identity(at, input, "int")


@op("torch.Tensor.bool")
def to_bool(at: OpContext, input: Tensor, **settings: Value) -> Value:
    """The elements as truth values.

    input (*) -> (*)
    Source: PyTorch documentation, torch.Tensor.bool.
    """
    return _identity(at, input, "bool")


@op(*named("to type type_as", "torch.Tensor"), "numpy.ndarray.astype", "numpy.astype")
def to(at: OpContext, input: Tensor, *target: Value, **settings: Value) -> Value:
    """The elements as another dtype, on another device, or both as those of another tensor.

    input (*) -> (*)
    Source: PyTorch documentation, torch.Tensor.to.
    """
    value = at.bound.get("target")
    given = [*target, *settings.values()]
    kind: Kind | None = None
    for item in _flat(value, given):
        found = kind_of_dtype(item)
        kind = found if found is not None else kind
    return _identity(at, input, kind)


def _flat(value: Value | None, given: list[Value]) -> list[Value]:
    items = getattr(value, "items", None)
    return [*(items if isinstance(items, tuple) else ()), *given]
