"""New tensors: of given sizes, like another, counted, random, or from data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, isfinite

from shapedoc.core.dim import ONE, ZERO, Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.value import Bool, Float, Int, Kind, Library, NoneValue, Opaque, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.kinds import kind_of_dtype
from shapedoc.ops.measuring.extents import extents, may_be_several, whole
from shapedoc.ops.measuring.slicing import strided
from shapedoc.ops.registry import named, op

__all__ = ["arange", "asked", "dtype_of", "eye", "made", "number_kind", "zeros"]


def made(
    at: OpContext, items: Shape | Sequence[Axis | Run], kind: Kind, dtype: Value | None = None, *, numpy: bool = False
) -> Tensor:
    """A new tensor that is like no other."""
    result = at.tensor(items, kind=(kind_of_dtype(dtype) if dtype is not None else None) or kind)
    result.library = "numpy" if numpy else "torch"
    return result


def dtype_of(settings: Mapping[str, Value]) -> Value | None:
    return settings.get("dtype")


@op(*named("zeros ones empty rand randn", "torch"))
def zeros(at: OpContext, *size: Value, **settings: Value) -> Value:
    """A tensor of these sizes.

    size (n, m) -> (n, m)
    Source: PyTorch documentation, torch.zeros, torch.rand.
    """
    return made(at, asked(at, size[0], settings), "float", dtype_of(settings))


def asked(at: OpContext, given: Value, settings: Mapping[str, Value]) -> tuple[Axis | Run, ...]:
    """Sizes; a -1 stands for one that the author puts in later."""
    if isinstance(given, Seq) and not given.items and "shape" in settings:
        given = settings["shape"]
    if isinstance(given, Opaque) and may_be_several(given):
        return (Run(),)
    return tuple(at.fresh() if isinstance(i, Axis) and i.dim.const == -1 else i for i in extents(at, given))


@op(*named("zeros ones empty", "numpy"))
def numpy_zeros(at: OpContext, shape: Value, dtype: Value = NONE, *options: Value, **settings: Value) -> Value:
    """An array of this shape.

    shape (n, m) -> (n, m)
    Source: NumPy reference, numpy.zeros.
    """
    return made(at, asked(at, shape, settings), "float", dtype, numpy=True)


@op("torch.full")
def full(at: OpContext, size: Value, fill_value: Value, **settings: Value) -> Value:
    """A tensor of these sizes, with one number in it.

    size (n, m) -> (n, m)
    Source: PyTorch documentation, torch.full.
    """
    return made(at, asked(at, size, settings), number_kind(fill_value), dtype_of(settings))


@op("numpy.full")
def numpy_full(at: OpContext, shape: Value, fill_value: Value, dtype: Value = NONE) -> Value:
    """An array of this shape, with one number in it.

    shape (n, m) -> (n, m)
    Source: NumPy reference, numpy.full.
    """
    return made(at, asked(at, shape, {}), number_kind(fill_value), dtype, numpy=True)


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
    return at.tensor(asked(at, size[0], settings), input, kind=kind)


@op("torch.Tensor.new_full")
def new_full(at: OpContext, input: Tensor, size: Value, fill_value: Value, **settings: Value) -> Value:
    """A tensor of these sizes, of another's dtype, with one number in it.

    size (n, m) -> (n, m)
    Source: PyTorch documentation, torch.Tensor.new_full.
    """
    kind = kind_of_dtype(settings.get("dtype", NoneValue()))
    return at.tensor(asked(at, size, settings), input, kind=kind)


@op("torch.range")
def range_(at: OpContext, start: Value, end: Value, step: Value | None = None, **settings: Value) -> Value:
    """The numbers from a start to an end, both included, in steps.

    start a, end b -> (b - a + 1,)
    Source: PyTorch documentation, torch.range.
    """
    first, last, each = (_as_whole(at, v) for v in (start, end, step or Int(ONE)))
    if first is None or last is None or each is None or each.const is None or each.const < 1:
        return made(at, (at.fresh(),), "float", dtype_of(settings))
    count = at.sizes.floordiv(last - first, each, line=at.line) + 1
    return made(at, (at.axis(count),), "float", dtype_of(settings))


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
        return made(at, (at.fresh(),), "int", dtype_of(settings))
    kind: Kind = "float" if any(isinstance(v, Float) for v in (start, end, step)) else "int"
    size = _counted(at, start, end, step)
    return made(at, (at.fresh() if size is None else at.axis(size),), kind, dtype_of(settings))


def _counted(at: OpContext, start: Value, end: Value, step: Value) -> Dim | None:
    """How many steps there are, None where it is not known."""
    numbers = [_as_number(at, v) for v in (start, end, step)]
    if any(n is not None and not isfinite(n) for n in numbers):
        return None
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
    return strided(at, length, each)


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
def linspace(at: OpContext, start: Value, end: Value, steps: Dim, base: Value = NONE, **settings: Value) -> Value:
    """Numbers evenly spaced.

    steps n -> (n,)
    Source: PyTorch documentation, torch.linspace.
    """
    return made(at, (at.axis(steps),), "float", dtype_of(settings))


@op("numpy.linspace", "numpy.logspace", "numpy.geomspace")
def numpy_linspace(at: OpContext, start: Value, stop: Value, num: Dim | None = None, *options: Value,
                   **settings: Value) -> Value:  # fmt: skip
    """Numbers evenly spaced, 50 by default.

    num n -> (n,)
    Source: NumPy reference, numpy.linspace.
    """
    return made(at, (at.axis(50 if num is None else num),), "float", dtype_of(settings), numpy=True)


@op("torch.eye")
def eye(at: OpContext, n: Dim, m: Dim | None = None, **settings: Value) -> Value:
    """The identity matrix.

    n -> (n, n); n, m -> (n, m)
    Source: PyTorch documentation, torch.eye.
    """
    return made(at, (at.axis(n), at.axis(n if m is None else m)), "float", dtype_of(settings))


@op("numpy.eye", "numpy.identity")
def numpy_eye(at: OpContext, n: Dim, M: Dim | None = None, k: Value = NONE, dtype: Value = NONE) -> Value:
    """The identity matrix.

    n -> (n, n); n, m -> (n, m)
    Source: NumPy reference, numpy.eye.
    """
    return made(at, (at.axis(n), at.axis(n if M is None else M)), "float", dtype, numpy=True)


@op("numpy.tri")
def tri(at: OpContext, N: Dim, M: Dim | None = None, k: Value = NONE, dtype: Value = NONE) -> Value:
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
    return made(at, (at.axis(2), at.fresh()), "int", dtype_of(settings))


@op("torch.nn.functional.one_hot")
def one_hot(at: OpContext, tensor: Tensor, num_classes: Value = NONE) -> Value:
    """Whole numbers as rows with a single one.

    tensor (*), num_classes n -> (*, n); without, data decide n
    Source: PyTorch documentation, torch.nn.functional.one_hot.
    """
    count = whole(at, num_classes)
    last = at.fresh() if count is None or count.const == -1 else at.axis(count)
    return at.tensor((*at.shape(tensor).items, last), tensor, kind="int")
