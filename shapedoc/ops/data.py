"""Tensors of data: nested lists, arrays, parameters, complex numbers."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Shape
from shapedoc.core.value import Bool, Float, Int, Kind, NoneValue, Opaque, Seq, SizeOf, Tensor, Unknown, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.create import dtype_of, made, number_kind
from shapedoc.ops.kinds import kind_of_dtype
from shapedoc.ops.measuring.extents import extents, whole
from shapedoc.ops.meeting.broadcast import broadcast
from shapedoc.ops.registry import named, op

__all__ = ["array", "data_shape", "parameter", "tensor"]


@op("torch.Tensor.new_tensor")
def new_tensor(at: OpContext, input: Tensor, data: Value, **settings: Value) -> Value:
    """A tensor of data, of another's dtype.

    data ((1, 2), (3, 4)) -> (2, 2)
    Source: PyTorch documentation, torch.Tensor.new_tensor.
    """
    kind = kind_of_dtype(settings.get("dtype", NoneValue()))
    return at.tensor(data_shape(at, data, numbers=True), input, kind=kind)


@op("torch.Tensor.new")
def new(at: OpContext, input: Tensor, *data: Value, **settings: Value) -> Value:
    """A tensor of data, or of these sizes, of another's dtype.

    n, m -> (n, m); ((1, 2), (3, 4)) -> (2, 2)
    Nothing is known of one of nothing, which is filled later.
    Source: PyTorch 0.3 documentation, torch.Tensor.new.
    """
    if not data or (isinstance(data[0], Seq) and data[0].kind == "tuple" and not data[0].items):
        return at.unknown(input)  # room for what comes: it is resized, or given as `out`
    return _constructed(at, data[0], input.kind)


@op(*named("tensor as_tensor asarray from_numpy", "torch"))
def tensor(at: OpContext, data: Value, **settings: Value) -> Value:
    """A tensor of nested lists of numbers, or of an array.

    data ((1, 2), (3, 4)) -> (2, 2)
    Source: PyTorch documentation, torch.tensor.
    """
    return made(at, data_shape(at, data, numbers=True), data_kind(data), dtype_of(settings))


@op("numpy.array", "numpy.asarray", "numpy.asanyarray")
def array(at: OpContext, object: Value, dtype: Value = NONE, **settings: Value) -> Value:
    """An array of nested lists of numbers or of arrays.

    object ((1, 2), (3, 4)) -> (2, 2)
    Source: NumPy reference, numpy.array.
    """
    return made(at, data_shape(at, object), data_kind(object), dtype, numpy=True)


@op("torch.Tensor.numpy", "torch.Tensor.__array__")
def to_numpy(at: OpContext, input: Tensor, **settings: Value) -> Value:
    """The tensor as an array.

    input (*) -> (*)
    Source: PyTorch documentation, torch.Tensor.numpy.
    """
    return made(at, at.shape(input), input.kind, numpy=True)


def data_shape(at: OpContext, data: Value, *, numbers: bool = False) -> Shape:
    """The shape of nested data; an element that is not known may be a number or have axes of its own.

    numbers: torch tensors in a list are read as numbers, so that one of unknown rank has no axes.
    """
    match data:
        case Tensor():
            return at.shape(data)
        case Int() | Float() | Bool():
            return Shape(())
        case SizeOf(tensor=other):
            rank = at.shape(other).rank
            return Shape((at.fresh() if rank is None else at.axis(rank),))
        case Seq(items=items, rest=rest, length=length):
            inner = [_element(at, v, numbers) for v in (*items, *([rest] if rest is not None else []))]
            known_length = length if rest is not None else Dim.of(len(items))
            count = at.fresh() if known_length is None else at.axis(known_length)
            if not inner:
                return Shape((count,))
            known = next((s for s in inner if s.run is None), inner[0])
            ragged = any(s.rank is not None and known.rank is not None and s.rank != known.rank for s in inner)
            if ragged:
                at.fail("mismatched-join", why="rank")
            return Shape((count, *known.items))
        case Unknown():
            return Shape.unknown()
        case _:
            at.lost("the data are not known")


def _element(at: OpContext, value: Value, numbers: bool) -> Shape:
    if numbers and isinstance(value, Tensor) and value.library == "torch" and at.shape(value).run is not None:
        return Shape(())
    return data_shape(at, value, numbers=numbers)


def data_kind(data: Value) -> Kind:
    match data:
        case Seq(items=items, rest=rest):
            kinds = [data_kind(v) for v in (*items, *([rest] if rest is not None else []))]
            if not kinds:
                return "float"
            for kind in ("float", "int", "bool"):
                if kind in kinds and "" not in kinds:
                    return "float" if kind == "float" else ("int" if kind == "int" else "bool")
            return ""
        case SizeOf():
            return "int"
        case _:
            return number_kind(data)


@op(*named("Tensor FloatTensor DoubleTensor HalfTensor", "torch"), *named("FloatTensor", "torch.cuda"))
def float_tensor(at: OpContext, *data: Value, **settings: Value) -> Value:
    """A tensor of data, or of these sizes.

    n, m -> (n, m); ((1, 2), (3, 4)) -> (2, 2)
    Source: PyTorch documentation, torch.Tensor.
    """
    return _constructed(at, data[0], "float")


@op(*named("LongTensor IntTensor ByteTensor", "torch"), *named("LongTensor", "torch.cuda"))
def long_tensor(at: OpContext, *data: Value, **settings: Value) -> Value:
    """A tensor of whole numbers of data, or of these sizes.

    n, m -> (n, m); ((1, 2), (3, 4)) -> (2, 2)
    Source: PyTorch documentation, torch.Tensor.
    """
    return _constructed(at, data[0], "int")


@op("torch.BoolTensor", "torch.cuda.BoolTensor")
def bool_tensor(at: OpContext, *data: Value, **settings: Value) -> Value:
    """A tensor of truth values of data, or of these sizes.

    n, m -> (n, m); ((True, False),) -> (1, 2)
    Source: PyTorch documentation, torch.Tensor.
    """
    return _constructed(at, data[0], "bool")


def _constructed(at: OpContext, data: Value, kind: Kind) -> Tensor:
    # A single list is data; numbers side by side are sizes, and arrive as a tuple.
    if isinstance(data, SizeOf):
        return made(at, extents(at, data), kind)
    if isinstance(data, Seq) and data.kind == "tuple":
        if len(data.items) == 1 and isinstance(data.items[0], Tensor):
            return made(at, at.shape(data.items[0]), kind)
        if len(data.items) == 1 and _may_be_data(data.items[0]):
            at.lost("a size, or data")
        if data.items and (len(data.items) > 1 or whole(at, data.items[0]) is not None):
            return made(at, extents(at, _sizes(data)), kind)
        if any(isinstance(v, Unknown) for v in data.items):
            at.lost("sizes, or data")
    return made(at, data_shape(at, data, numbers=True), kind)


def _may_be_data(value: Value) -> bool:
    """Whether a parameter that nothing has used as a size so far may as well be an array."""
    return isinstance(value, Opaque) and getattr(value, "_int", None) is None


def _sizes(data: Seq) -> Seq:
    """Sizes side by side; one that is an element of a tensor is not known."""
    return Seq(tuple(Unknown("a size") if isinstance(v, Tensor) else v for v in data.items), data.kind)


@op("torch.nn.Parameter", "torch.nn.parameter.Parameter")
def parameter(at: OpContext, data: Tensor | None = None, requires_grad: Value = NONE) -> Value:
    """A tensor that is learned.

    data (*) -> (*)
    Source: PyTorch documentation, torch.nn.parameter.Parameter.
    """
    if data is None:
        return made(at, (at.axis(0),), "float")
    result = at.tensor(at.shape(data), data)
    result.learned = True
    return result


@op("torch.complex", "torch.polar")
def complex_(at: OpContext, real: Tensor, imag: Tensor) -> Value:
    """Complex numbers of two parts, which are broadcast.

    real (*), imag (*) -> (*)
    Conflict: two sizes meet that differ, and neither is 1.
    Source: PyTorch documentation, torch.complex, torch.polar.
    """
    return at.tensor(broadcast(at, real, imag), real, kind="complex")


@op("torch.view_as_complex")
def view_as_complex(at: OpContext, input: Tensor) -> Value:
    """Pairs of the last axis as complex numbers.

    input (*, 2) -> (*)
    Conflict: the last size is not 2.
    Source: PyTorch documentation, torch.view_as_complex.
    """
    (last,) = at.suffix(input, 1)
    if last.dim.const is not None and last.dim.const != 2:
        place = len(at.shape(input).items) - 1
        at.conflict("impossible-view", [input], axes=(place,), dims=(last.dim, Dim.of(2)))
    return at.tensor(at.shape(input).items[:-1], input, kind="complex")


@op("torch.view_as_real")
def view_as_real(at: OpContext, input: Tensor) -> Value:
    """Complex numbers as pairs in a last axis.

    input (*) -> (*, 2)
    Source: PyTorch documentation, torch.view_as_real.
    """
    return at.tensor((*at.shape(input).items, at.axis(2)), input, kind="float")
