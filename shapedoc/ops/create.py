"""New tensors: of given sizes, like another, counted, random, or from data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil

from shapedoc.core.dim import ONE, ZERO, Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.value import Bool, Float, Int, Kind, Library, NoneValue, Seq, SizeOf, Tensor, Unknown, Value
from shapedoc.ops.broadcast import broadcast
from shapedoc.ops.context import OpContext
from shapedoc.ops.extents import extents, whole
from shapedoc.ops.pointwise import kind_of_dtype, named
from shapedoc.ops.registry import op

__all__ = ["arange", "data_shape", "eye", "made", "zeros"]


def made(
    at: OpContext, items: Shape | Sequence[Axis | Run], kind: Kind, dtype: Value | None = None, *, numpy: bool = False
) -> Tensor:
    """A new tensor that is like no other."""
    result = at.tensor(items, kind=(kind_of_dtype(dtype) if dtype is not None else None) or kind)
    result.library = "numpy" if numpy else "torch"
    return result


def _dtype(settings: Mapping[str, Value]) -> Value | None:
    return settings.get("dtype")


@op(*named("zeros ones empty rand randn", "torch"))
def zeros(at: OpContext, *size: Value, **settings: Value) -> Value:
    """A tensor of these sizes.

    size (n, m) -> (n, m)
    Source: PyTorch documentation, torch.zeros, torch.rand.
    """
    return made(at, _sizes(at, size[0], settings), "float", _dtype(settings))


def _sizes(at: OpContext, given: Value, settings: Mapping[str, Value]) -> tuple[Axis | Run, ...]:
    """Sizes, which must not be negative."""
    if isinstance(given, Seq) and not given.items and "shape" in settings:
        given = settings["shape"]
    found = extents(at, given)
    for axis in found:
        if isinstance(axis, Axis) and axis.dim.const is not None and axis.dim.const < 0:
            at.fail("impossible-view", dims=(axis.dim,), why="negative size")
    return found


@op(*named("zeros ones empty", "numpy"))
def numpy_zeros(at: OpContext, shape: Value, dtype: Value = NoneValue(), *options: Value, **settings: Value) -> Value:
    """An array of this shape.

    shape (n, m) -> (n, m)
    Source: NumPy reference, numpy.zeros.
    """
    return made(at, _sizes(at, shape, settings), "float", dtype, numpy=True)


@op("torch.full")
def full(at: OpContext, size: Value, fill_value: Value, **settings: Value) -> Value:
    """A tensor of these sizes, with one number in it.

    size (n, m) -> (n, m)
    Source: PyTorch documentation, torch.full.
    """
    return made(at, _sizes(at, size, settings), number_kind(fill_value), _dtype(settings))


@op("numpy.full")
def numpy_full(at: OpContext, shape: Value, fill_value: Value, dtype: Value = NoneValue()) -> Value:
    """An array of this shape, with one number in it.

    shape (n, m) -> (n, m)
    Source: NumPy reference, numpy.full.
    """
    return made(at, _sizes(at, shape, {}), number_kind(fill_value), dtype, numpy=True)


def number_kind(value: Value) -> Kind:
    """The kind of elements that a number makes."""
    match value:
        case Bool():
            return "bool"
        case Int():
            return "int"
        case Float():
            return "float"
        case Tensor(kind=kind):
            return kind
        case Library(qualified=name):
            return "float" if name.rsplit(".", 1)[-1] in ("inf", "pi", "e", "nan") else ""
        case _:
            return ""


@op(*named("zeros_like ones_like empty_like", "torch", "numpy"))
def zeros_like(at: OpContext, input: Tensor, *options: Value, **settings: Value) -> Value:
    """A tensor of another's sizes and dtype.

    input (*) -> (*)
    Source: PyTorch documentation, torch.zeros_like.
    """
    dtype = settings.get("dtype", _first(at.bound.get("options")))
    return at.tensor(at.shape(input), input, kind=kind_of_dtype(dtype) if dtype is not None else None)


def _first(value: Value | None) -> Value | None:
    return value.items[0] if isinstance(value, Seq) and value.items else None


@op(*named("rand_like randn_like", "torch"))
def rand_like(at: OpContext, input: Tensor, **settings: Value) -> Value:
    """Random numbers in a tensor of another's sizes.

    input (*) -> (*)
    Source: PyTorch documentation, torch.rand_like.
    """
    return at.tensor(at.shape(input), input, kind=kind_of_dtype(settings.get("dtype", NoneValue())))


@op("torch.randint_like")
def randint_like(at: OpContext, input: Tensor, low: Value, high: Value = NoneValue(), **settings: Value) -> Value:
    """Random whole numbers in a tensor of another's sizes and dtype.

    input (*) -> (*)
    Source: PyTorch documentation, torch.randint_like.
    """
    return at.tensor(at.shape(input), input, kind=kind_of_dtype(settings.get("dtype", NoneValue())))


@op("torch.full_like", "numpy.full_like")
def full_like(at: OpContext, input: Tensor, fill_value: Value, **settings: Value) -> Value:
    """One number in a tensor of another's sizes and dtype.

    input (*) -> (*)
    Source: PyTorch documentation, torch.full_like.
    """
    return at.tensor(at.shape(input), input, kind=kind_of_dtype(settings.get("dtype", NoneValue())))


@op(*named("new_zeros new_ones new_empty", "torch.Tensor"))
def new_zeros(at: OpContext, input: Tensor, *size: Value, **settings: Value) -> Value:
    """A tensor of these sizes, of another's dtype.

    size (n, m) -> (n, m)
    Source: PyTorch documentation, torch.Tensor.new_zeros.
    """
    kind = kind_of_dtype(settings.get("dtype", NoneValue()))
    return at.tensor(_sizes(at, size[0], settings), input, kind=kind)


@op("torch.Tensor.new_full")
def new_full(at: OpContext, input: Tensor, size: Value, fill_value: Value, **settings: Value) -> Value:
    """A tensor of these sizes, of another's dtype, with one number in it.

    size (n, m) -> (n, m)
    Source: PyTorch documentation, torch.Tensor.new_full.
    """
    kind = kind_of_dtype(settings.get("dtype", NoneValue()))
    return at.tensor(_sizes(at, size, settings), input, kind=kind)


@op("torch.Tensor.new_tensor")
def new_tensor(at: OpContext, input: Tensor, data: Value, **settings: Value) -> Value:
    """A tensor of data, of another's dtype.

    data ((1, 2), (3, 4)) -> (2, 2)
    Source: PyTorch documentation, torch.Tensor.new_tensor.
    """
    kind = kind_of_dtype(settings.get("dtype", NoneValue()))
    return at.tensor(data_shape(at, data), input, kind=kind)


@op("torch.randint")
def randint(at: OpContext, *limits: Value, **settings: Value) -> Value:
    """Random whole numbers below a limit, in a tensor of these sizes.

    high, size (n, m) -> (n, m); low, high, size (n, m) -> (n, m)
    Source: PyTorch documentation, torch.randint.
    """
    given = limits[0]
    size = settings.get("size", settings.get("shape"))
    if size is None and isinstance(given, Seq) and given.items:
        size = given.items[-1]
    if size is None:
        at.lost("the sizes are not known")
    return made(at, _sizes(at, size, settings), "int", _dtype(settings))


@op("torch.normal")
def normal(at: OpContext, mean: Value, std: Value = NoneValue(), *size: Value, **settings: Value) -> Value:
    """Random numbers around means, in a tensor of their sizes or of given ones.

    mean (*) -> (*); numbers and size (n, m) -> (n, m)
    Source: PyTorch documentation, torch.normal.
    """
    for value in (mean, std):
        if isinstance(value, Tensor):
            return at.tensor(at.shape(value), value)
    return made(at, _sizes(at, settings.get("size", size[0]), {}), "float", _dtype(settings))


@op("torch.randperm")
def randperm(at: OpContext, n: Dim, **settings: Value) -> Value:
    """The numbers below n in random order.

    n -> (n,)
    Source: PyTorch documentation, torch.randperm.
    """
    return made(at, (at.axis(n),), "int", _dtype(settings))


@op("torch.range")
def range_(at: OpContext, start: Value, end: Value, step: Value = Int(ONE), **settings: Value) -> Value:
    """The numbers from a start to an end, both included, in steps.

    start a, end b -> (b - a + 1,)
    Source: PyTorch documentation, torch.range.
    """
    first, last, each = (_as_whole(at, v) for v in (start, end, step))
    if first is None or last is None or each is None or each.const is None or each.const < 1:
        return made(at, (at.fresh(),), "float", _dtype(settings))
    count = at.sizes.floordiv(last - first, each, line=at.line) + 1
    return made(at, (at.axis(count),), "float", _dtype(settings))


@op("torch.arange", "numpy.arange")
def arange(at: OpContext, *limits: Value, **settings: Value) -> Value:
    """The numbers from a start to an end, in steps.

    end n -> (n,); start a, end b -> (b - a,); step s -> (ceil((b - a) / s),)
    Source: PyTorch documentation, torch.arange.
    """
    given = limits[0].items if isinstance(limits[0], Seq) else ()
    names = ("start", "end", "step") if len(given) > 1 or (given and "end" in settings) else ("end",)
    values: dict[str, Value] = dict(zip(names, given, strict=False))
    values.update((k if k != "stop" else "end", v) for k, v in settings.items())
    start, end, step = values.get("start", Int(ZERO)), values.get("end"), values.get("step", Int(ONE))
    if end is None or isinstance(end, NoneValue):
        at.lost("the end is not known")
    kind: Kind = "float" if any(isinstance(v, Float) for v in (start, end, step)) else "int"
    size = _counted(at, start, end, step)
    return made(at, (at.fresh() if size is None else at.axis(size),), kind, _dtype(settings))


def _counted(at: OpContext, start: Value, end: Value, step: Value) -> Dim | None:
    """How many steps there are, None where it is not known."""
    numbers = [_as_number(at, v) for v in (start, end, step)]
    if None not in numbers and numbers[2]:
        begin, stop, stride = (Fraction(str(n)) for n in numbers)
        return Dim.of(max(ceil((stop - begin) / stride), 0))
    first, last, each = _as_whole(at, start), _as_whole(at, end), _as_whole(at, step)
    if first is None or last is None or each is None or each.const == 0:
        return None
    length = last - first
    if each == ONE:
        return length
    if each.const == -1:
        return -length
    if each.const is not None and each.const < 0:
        return None
    return at.sizes.floordiv(length, each, line=at.line)


def _as_number(at: OpContext, value: Value) -> float | int | None:
    if isinstance(value, Float):
        return value.value if value.known and not value.powers else None
    dim = whole(at, value)
    return dim.const if dim is not None else None


def _as_whole(at: OpContext, value: Value) -> Dim | None:
    if isinstance(value, Float) and value.known and not value.powers and value.value is not None:
        return Dim.of(int(value.value)) if value.value == int(value.value) else None
    return whole(at, value)


@op("torch.linspace", "torch.logspace")
def linspace(at: OpContext, start: Value, end: Value, steps: Dim, base: Value = NoneValue(), **settings: Value) -> Value:
    """Numbers evenly spaced.

    steps n -> (n,)
    Source: PyTorch documentation, torch.linspace.
    """
    return made(at, (at.axis(steps),), "float", _dtype(settings))


@op("numpy.linspace", "numpy.logspace", "numpy.geomspace")
def numpy_linspace(at: OpContext, start: Value, stop: Value, num: Dim | None = None, *options: Value,
                   **settings: Value) -> Value:  # fmt: skip
    """Numbers evenly spaced, 50 by default.

    num n -> (n,)
    Source: NumPy reference, numpy.linspace.
    """
    return made(at, (at.axis(50 if num is None else num),), "float", _dtype(settings), numpy=True)


@op("torch.eye")
def eye(at: OpContext, n: Dim, m: Dim | None = None, **settings: Value) -> Value:
    """The identity matrix.

    n -> (n, n); n, m -> (n, m)
    Source: PyTorch documentation, torch.eye.
    """
    return made(at, (at.axis(n), at.axis(n if m is None else m)), "float", _dtype(settings))


@op("numpy.eye", "numpy.identity")
def numpy_eye(at: OpContext, n: Dim, M: Dim | None = None, k: Value = NoneValue(), dtype: Value = NoneValue()) -> Value:
    """The identity matrix.

    n -> (n, n); n, m -> (n, m)
    Source: NumPy reference, numpy.eye.
    """
    return made(at, (at.axis(n), at.axis(n if M is None else M)), "float", dtype, numpy=True)


@op("numpy.tri")
def tri(at: OpContext, N: Dim, M: Dim | None = None, k: Value = NoneValue(), dtype: Value = NoneValue()) -> Value:
    """Ones at and below the diagonal.

    N -> (N, N); N, M -> (N, M)
    Source: NumPy reference, numpy.tri.
    """
    return made(at, (at.axis(N), at.axis(N if M is None else M)), "float", dtype, numpy=True)


@op("torch.tril_indices", "torch.triu_indices")
def tril_indices(at: OpContext, row: Dim, col: Dim, offset: int = 0, **settings: Value) -> Value:
    """The places on one side of a diagonal.

    row n, col m -> (2, k)
    Source: PyTorch documentation, torch.tril_indices.
    """
    return made(at, (at.axis(2), at.fresh()), "int", _dtype(settings))


@op("torch.nn.functional.one_hot")
def one_hot(at: OpContext, tensor: Tensor, num_classes: Value = NoneValue()) -> Value:
    """Whole numbers as rows with a single one.

    tensor (*), num_classes n -> (*, n); without, data decide n
    Source: PyTorch documentation, torch.nn.functional.one_hot.
    """
    count = whole(at, num_classes)
    last = at.fresh() if count is None or count.const == -1 else at.axis(count)
    return at.tensor((*at.shape(tensor).items, last), tensor, kind="int")


@op("torch.multinomial", "torch.Tensor.multinomial")
def multinomial(at: OpContext, input: Tensor, num_samples: Dim, replacement: Value = NoneValue(),
                **settings: Value) -> Value:  # fmt: skip
    """Draw places along the last axis.

    input (*, n), num_samples k -> (*, k)
    Conflict: the rank is neither 1 nor 2.
    Source: PyTorch documentation, torch.multinomial.
    """
    at.suffix(input, 1)
    shape = at.shape(input)
    if shape.run is None:
        at.need_rank(input, 1, 2)
    return at.tensor((*shape.items[:-1], at.axis(num_samples)), input, kind="int")


@op("torch.bernoulli", "torch.Tensor.bernoulli", "torch.poisson")
def bernoulli(at: OpContext, input: Tensor, *options: Value, **settings: Value) -> Value:
    """Random numbers with a parameter for each.

    input (*) -> (*)
    Source: PyTorch documentation, torch.bernoulli.
    """
    return at.tensor(at.shape(input), input)


@op(*named("tensor as_tensor asarray from_numpy", "torch"))
def tensor(at: OpContext, data: Value, **settings: Value) -> Value:
    """A tensor of nested lists of numbers, or of an array.

    data ((1, 2), (3, 4)) -> (2, 2)
    Source: PyTorch documentation, torch.tensor.
    """
    return made(at, data_shape(at, data), _data_kind(data), _dtype(settings))


@op("numpy.array")
def array(at: OpContext, object: Value, dtype: Value = NoneValue(), **settings: Value) -> Value:
    """An array of nested lists of numbers or of arrays.

    object ((1, 2), (3, 4)) -> (2, 2)
    Source: NumPy reference, numpy.array.
    """
    return made(at, data_shape(at, object), _data_kind(object), dtype, numpy=True)


@op("torch.Tensor.numpy", "torch.Tensor.__array__")
def to_numpy(at: OpContext, input: Tensor, **settings: Value) -> Value:
    """The tensor as an array.

    input (*) -> (*)
    Source: PyTorch documentation, torch.Tensor.numpy.
    """
    return made(at, at.shape(input), input.kind, numpy=True)


def data_shape(at: OpContext, data: Value) -> Shape:
    """The shape of nested data; an element that is not known may be a number or have axes of its own."""
    match data:
        case Tensor():
            return at.shape(data)
        case Int() | Float() | Bool():
            return Shape(())
        case SizeOf(tensor=other):
            rank = at.shape(other).rank
            return Shape((at.fresh() if rank is None else at.axis(rank),))
        case Seq(items=items, rest=rest, length=length):
            inner = [data_shape(at, v) for v in (*items, *([rest] if rest is not None else []))]
            if rest is None:
                count = at.axis(len(items))
            else:
                count = at.fresh() if length is None else at.axis(length)
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


def _data_kind(data: Value) -> Kind:
    match data:
        case Seq(items=items, rest=rest):
            kinds = [_data_kind(v) for v in (*items, *([rest] if rest is not None else []))]
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
        if data.items and all(whole(at, v) is not None for v in data.items):
            return made(at, extents(at, data), kind)
    return made(at, data_shape(at, data), kind)


@op("torch.nn.Parameter", "torch.nn.parameter.Parameter")
def parameter(at: OpContext, data: Tensor | None = None, requires_grad: Value = NoneValue()) -> Value:
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
